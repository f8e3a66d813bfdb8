// SPDX-License-Identifier: Apache-2.0
// polynomial_attention of long items in linear time, with LibTorch's matrix products: blocks of tokens become their
// monomials, and those of the other side are summed up as they stream by. The functions work on any device.
#pragma once

#include <ATen/ATen.h>

#include <tuple>

#include "models/ops/polynomial_attention_checks.h"

namespace geosft::cuda {

// Whether that is less work than the pairs by far, and enough of it to be worth its many small launches. Only where the
// items are known without waiting for the device: there is one, or q_ptr and k_ptr are on the CPU.
bool worth_streaming(const PolynomialArguments& arguments);

// What the operators behind polynomial_attention return. Time O((Nq + Nk) m cv), memory O(Nq + Nk) and three blocks of
// 2^22 numbers, or of 32 tokens where these have more monomials.
std::tuple<at::Tensor, at::Tensor> streamed_forward(const PolynomialArguments& arguments);
std::tuple<at::Tensor, at::Tensor, at::Tensor> streamed_backward(const at::Tensor& grad, const at::Tensor& out,
                                                                 const at::Tensor& denominator,
                                                                 const PolynomialArguments& arguments);

}  // namespace geosft::cuda
