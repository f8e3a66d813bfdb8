// SPDX-License-Identifier: Apache-2.0
#include "geometry/cuda/launch.cuh"
#include "models/ops/cuda/polynomial_launch.h"
#include "models/ops/cuda/polynomial_tile.h"

namespace geosft::cuda {
namespace {

template <class Call>
const char* launch_any(const Call& in, void* stream) {
  Launch launch(stream);
  polynomial_grids(in, launch);
  return launch.error();
}

}  // namespace

template <typename T>
const char* launch_polynomial(const PolynomialForward<T>& in, void* stream) {
  return launch_any(in, stream);
}
template <typename T>
const char* launch_polynomial(const PolynomialBackward<T>& in, void* stream) {
  return launch_any(in, stream);
}

bool is_captured(void* stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  return cudaStreamIsCapturing(static_cast<cudaStream_t>(stream), &status) == cudaSuccess &&
         status != cudaStreamCaptureStatusNone;
}

template const char* launch_polynomial<float>(const PolynomialForward<float>&, void*);
template const char* launch_polynomial<double>(const PolynomialForward<double>&, void*);
template const char* launch_polynomial<float>(const PolynomialBackward<float>&, void*);
template const char* launch_polynomial<double>(const PolynomialBackward<double>&, void*);

}  // namespace geosft::cuda
