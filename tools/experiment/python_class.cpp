// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/python_class.h"

#include "models/training/module_state.h"

namespace geosft {

ServedState served_state(const torch::nn::Module& model, const std::map<std::string, std::string>& texts) {
  ServedState state;
  for (const auto& [name, tensor] : module_state(model)) std::get<0>(state).insert("model." + name, tensor.detach());
  for (const auto& [name, text] : texts) std::get<1>(state).insert(name, text);
  return state;
}

Checkpoint checkpoint_of(const ServedState& state) {
  Checkpoint checkpoint;
  for (const auto& entry : std::get<0>(state)) checkpoint.tensors.emplace(entry.key(), entry.value());
  for (const auto& entry : std::get<1>(state)) checkpoint.texts.emplace(entry.key(), entry.value());
  return checkpoint;
}

}  // namespace geosft
