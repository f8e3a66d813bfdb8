// SPDX-License-Identifier: Apache-2.0
#include "geometry/cuda/launch.cuh"
#include "models/ops/cuda/dropout_launch.h"

namespace geosft::cuda {
namespace {

template <typename T>
const char* launch_any(const DropoutCall<T>& in, void* stream) {
  Launch launch(stream);
  dropout_grids(in, launch);
  return launch.error();
}

}  // namespace

const char* launch_dropout(const DropoutCall<float>& in, void* stream) {
  return launch_any(in, stream);
}
const char* launch_dropout(const DropoutCall<double>& in, void* stream) {
  return launch_any(in, stream);
}

}  // namespace geosft::cuda
