// SPDX-License-Identifier: Apache-2.0

#include "geometry/operators.h"
#include "models/ops/cuda/kernel_launcher.h"
#include "models/ops/cuda/sample_pairs_host.h"

namespace geosft::cuda {
namespace {

using Quadruple = std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor>;

Quadruple select_pairs(const at::Tensor& score, int64_t k, const std::optional<at::Tensor>& ptr, bool noise,
                       bool random_partner, const std::optional<at::Tensor>& seeds, int64_t bins) {
  return draw(score, ptr, seeds, {noise, random_partner, false, k, bins},
              KernelLauncher(score.device(), "sample_pairs"));
}

Quadruple select_pairs_with_replacement(const at::Tensor& score, int64_t k, const std::optional<at::Tensor>& ptr,
                                        const at::Tensor& seeds, int64_t bins) {
  return draw(score, ptr, seeds, {true, false, true, k, bins},
              KernelLauncher(score.device(), "sample_pairs with replacement"));
}

}  // namespace

GEOSFT_KERNELS(CUDA, m) {
  m.impl("_draw_pairs", select_pairs);
  m.impl("_draw_pairs_with_replacement", select_pairs_with_replacement);
  m.impl("_pair_weight", pair_weight_composite);
  m.impl("_pair_weight_backward", pair_weight_backward_composite);
}

}  // namespace geosft::cuda
