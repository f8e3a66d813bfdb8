// SPDX-License-Identifier: Apache-2.0
#include "geometry/cuda/knn_kernel.cuh"
#include "geometry/cuda/launch.cuh"

namespace geosft::cuda {
namespace {

template <typename T>
const char* launch_any(const KnnSearch<T>& in, void* stream) {
  Launch launch(stream);
  knn_grids(in, launch);
  return launch.error();
}

}  // namespace

const char* launch_knn(const KnnSearch<float>& in, void* stream) {
  return launch_any(in, stream);
}
const char* launch_knn(const KnnSearch<double>& in, void* stream) {
  return launch_any(in, stream);
}

}  // namespace geosft::cuda
