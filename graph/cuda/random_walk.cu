// SPDX-License-Identifier: Apache-2.0
#include "geometry/cuda/launch.cuh"
#include "graph/cuda/random_walk_kernel.cuh"

namespace geosft::cuda {
namespace {

template <typename T>
const char* launch_any(const RandomWalks<T>& in, void* stream) {
  Launch launch(stream);
  walk_grids(in, launch);
  return launch.error();
}

}  // namespace

const char* launch_walks(const RandomWalks<float>& in, void* stream) {
  return launch_any(in, stream);
}
const char* launch_walks(const RandomWalks<double>& in, void* stream) {
  return launch_any(in, stream);
}

}  // namespace geosft::cuda
