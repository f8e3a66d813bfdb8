// SPDX-License-Identifier: Apache-2.0
#include "geometry/cuda/farthest_point_kernel.cuh"
#include "geometry/cuda/launch.cuh"

namespace geosft::cuda {
namespace {

template <typename T>
const char* launch_any(const FarthestPoints<T>& in, void* stream) {
  Launch launch(stream);
  launch.grid<FarthestPointTile<T>>(in.packed.items, 1, in);
  return launch.error();
}

}  // namespace

const char* launch_farthest_points(const FarthestPoints<float>& in, void* stream) {
  return launch_any(in, stream);
}
const char* launch_farthest_points(const FarthestPoints<double>& in, void* stream) {
  return launch_any(in, stream);
}

}  // namespace geosft::cuda
