// SPDX-License-Identifier: Apache-2.0
// Applies linear maps, fast where no gradient is needed.
#pragma once

#include <torch/nn/modules/linear.h>

namespace geosft {

enum class Activation { none, gelu, relu };

// Returns activation(x W^T + b): x [..., in] -> [..., out], of the dtype of x, or of autocast's type where that is
// enabled. Without a gradient (at::NoGradGuard), on an x86 CPU with AVX2, float32, and under autocast bfloat16 where
// bfloat16_on_cpu(), are computed by oneDNN, in one pass over the rows: results differ from those of the training pass
// by rounding. Throws what torch::nn::Linear does.
at::Tensor apply_linear(torch::nn::Linear& linear, const at::Tensor& x, Activation activation = Activation::none);

// Returns whether this CPU multiplies bfloat16 matrices itself (AVX512-BF16), so that LibTorch's products gain from it.
bool bfloat16_on_cpu();

}  // namespace geosft
