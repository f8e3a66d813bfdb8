// SPDX-License-Identifier: Apache-2.0
#include "geometry/cuda/augment_kernel.cuh"
#include "geometry/cuda/launch.cuh"

namespace geosft::cuda {
namespace {

template <typename T>
const char* launch_any(const CloudBatch<T>& in, void* stream) {
  Launch launch(stream);
  launch.grid<AugmentTile<T>>(in.all.items, 1, in);
  return launch.error();
}

}  // namespace

const char* launch_augmentation(const CloudBatch<float>& in, void* stream) {
  return launch_any(in, stream);
}
const char* launch_augmentation(const CloudBatch<double>& in, void* stream) {
  return launch_any(in, stream);
}

}  // namespace geosft::cuda
