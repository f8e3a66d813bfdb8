// SPDX-License-Identifier: Apache-2.0
#include "geometry/cuda/launch.cuh"
#include "models/ops/cuda/gather_pairs_launch.h"

namespace geosft::cuda {
namespace {

template <class Call>
const char* launch_any(const Call& in, void* stream) {
  Launch launch(stream);
  gather_grids(in, launch);
  return launch.error();
}

}  // namespace

template <typename T>
const char* launch_gather(const PairGather<T>& in, void* stream) {
  return launch_any(in, stream);
}
template <typename T>
const char* launch_gather(const PairScatter<T>& in, void* stream) {
  return launch_any(in, stream);
}
template <typename T>
const char* launch_gather(const PairWeights<T>& in, void* stream) {
  return launch_any(in, stream);
}

template const char* launch_gather<float>(const PairGather<float>&, void*);
template const char* launch_gather<double>(const PairGather<double>&, void*);
template const char* launch_gather<float>(const PairScatter<float>&, void*);
template const char* launch_gather<double>(const PairScatter<double>&, void*);
template const char* launch_gather<float>(const PairWeights<float>&, void*);
template const char* launch_gather<double>(const PairWeights<double>&, void*);

}  // namespace geosft::cuda
