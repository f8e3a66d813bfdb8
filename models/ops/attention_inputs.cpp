// SPDX-License-Identifier: Apache-2.0
#include "models/ops/attention_inputs.h"

namespace geosft {

AttentionInputs::AttentionInputs(const OptionalTensors& inputs, double eps_) : eps(eps_) {
  TORCH_CHECK(inputs.size() >= 6, "inputs must be at least 6 tensors, or None in place of some, got ", inputs.size());
  tensors.reserve(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) tensors.push_back(inputs.get(i).value_or(at::Tensor()));
}

AttentionInputs::AttentionInputs(const OptionalTensors& inputs, double eps_, size_t count)
    : AttentionInputs(inputs, eps_) {
  TORCH_CHECK(tensors.size() == count, "inputs must be ", count, " tensors, or None in place of some, got ",
              tensors.size());
}

OutputMask::OutputMask(const c10::List<bool>& output_mask, const AttentionInputs& in)
    : places_(in.tensors.size(), false) {
  for (size_t place = 0; place < places_.size(); ++place) {
    if (in.tensors[place].defined() && in.tensors[place].is_floating_point()) given_.push_back(place);
  }
  TORCH_CHECK(output_mask.size() == given_.size(), "wanted must have an element for each of the ", given_.size(),
              " floating inputs, got ", output_mask.size());
  for (size_t i = 0; i < given_.size(); ++i) places_[given_[i]] = given_[i] < 4 || output_mask.get(i);
}

void OutputMask::leave_out(std::vector<at::Tensor>& gradients) const {
  for (size_t i = 0; i < given_.size(); ++i) {
    if (!places_[given_[i]]) gradients[i] = at::empty({0}, gradients[i].options());
  }
}

}  // namespace geosft
