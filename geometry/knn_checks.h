// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/ATen.h>

#include <optional>

namespace geosft {

// What every backend of knn can check without values.
void check_knn(const at::Tensor& points, const at::Tensor& queries, int64_t k);

// Of the gradient: index [Q, k] as knn gave it, grad [Q, k].
void check_knn_backward(const at::Tensor& grad, const at::Tensor& points, const at::Tensor& queries,
                        const at::Tensor& index);

}  // namespace geosft
