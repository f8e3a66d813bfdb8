// SPDX-License-Identifier: Apache-2.0
#include "geometry/cuda/launch.cuh"
#include "models/ops/cuda/sample_pairs_launch.h"

namespace geosft::cuda {

template <typename T>
const char* launch_pairs(const PairDraw<T>& in, void* stream) {
  Launch launch(stream);
  pair_grids(in, launch);
  return launch.error();
}

template <typename T>
const char* launch_replacement(const PairDraw<T>& in, void* stream) {
  Launch launch(stream);
  replacement_grids(in, launch);
  return launch.error();
}

template const char* launch_pairs<float>(const PairDraw<float>&, void*);
template const char* launch_pairs<double>(const PairDraw<double>&, void*);
template const char* launch_replacement<float>(const PairDraw<float>&, void*);
template const char* launch_replacement<double>(const PairDraw<double>&, void*);

}  // namespace geosft::cuda
