// SPDX-License-Identifier: Apache-2.0
#include "models/ops/attention_inputs.h"

namespace geosft {

AttentionInputs::AttentionInputs(const OptionalTensors& inputs, double eps_) : eps(eps_) {
  tensors.reserve(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) tensors.push_back(inputs.get(i).value_or(at::Tensor()));
}

}  // namespace geosft
