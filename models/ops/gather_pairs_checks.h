// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/ATen.h>

namespace geosft {

// What every backend of gather_pairs can check without the values of top and partner.
void check_gather_pairs(const at::Tensor& x, const at::Tensor& top, const at::Tensor& partner,
                        const at::Tensor& weight);

}  // namespace geosft
