// SPDX-License-Identifier: Apache-2.0
// Solves epsilon-insensitive support vector regression with LIBSVM, for a precomputed kernel matrix.
#pragma once

#include <ATen/ATen.h>

#include <memory>

namespace geosft {

struct RegressionOptions {
  double cost = 100.0;      // C, of what lies outside the tube
  double epsilon = 0.1;     // half the width of the tube
  double tolerance = 1e-8;  // of the optimality conditions
};

// Epsilon-insensitive support vector regression, its dual solved by LIBSVM for a kernel that is given as a matrix:
//   f(x) = sum_j dual[j] K(x, x_j) + bias, with |dual[j]| <= C and sum_j dual[j] = 0
// One regression for every column of the targets.
class SupportVectorRegression {
 public:
  // kernel [N, N], symmetric and positive semidefinite; targets [N, d]; N >= 1, float64. Errors name the argument.
  SupportVectorRegression(const at::Tensor& kernel, const at::Tensor& targets, const RegressionOptions& options = {});
  ~SupportVectorRegression();
  SupportVectorRegression(SupportVectorRegression&&) noexcept;
  SupportVectorRegression& operator=(SupportVectorRegression&&) noexcept;

  const at::Tensor& dual() const { return dual_; }  // alpha - alpha~, [N, d]
  const at::Tensor& bias() const { return bias_; }  // [d]
  int64_t support_vectors() const;                  // pairs whose dual is not 0 in some column

  // Returns what LIBSVM predicts for rows K(x, x_j), [n, N]: [n, d], bias included.
  at::Tensor predict(const at::Tensor& rows) const;

 private:
  struct Models;
  std::unique_ptr<Models> models_;
  at::Tensor dual_, bias_;
};

}  // namespace geosft
