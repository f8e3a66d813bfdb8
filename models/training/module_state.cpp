// SPDX-License-Identifier: Apache-2.0
#include "models/training/module_state.h"

namespace geosft {

std::map<std::string, at::Tensor> module_state(const torch::nn::Module& module) {
  std::map<std::string, at::Tensor> state;
  for (const auto& item : module.named_parameters()) state.emplace(item.key(), item.value().detach());
  for (const auto& item : module.named_buffers()) state.emplace(item.key(), item.value().detach());
  return state;
}

void load_module_state(torch::nn::Module& module, const std::map<std::string, at::Tensor>& state) {
  at::NoGradGuard guard;
  const std::map<std::string, at::Tensor> own = module_state(module);
  for (const auto& [name, tensor] : own) {
    const auto found = state.find(name);
    TORCH_CHECK(found != state.end(), "the checkpoint has no tensor ", name, ": it belongs to another configuration");
    TORCH_CHECK(found->second.sizes() == tensor.sizes(), "tensor ", name, " of the checkpoint has shape ",
                found->second.sizes(), ", the model needs ", tensor.sizes());
    at::Tensor target = tensor;
    target.copy_(found->second);
  }
  for (const auto& [name, tensor] : state) {
    TORCH_CHECK(own.count(name) > 0, "the checkpoint has a tensor ", name,
                " that the model does not: it belongs to another configuration");
  }
}

bool is_of_head(const std::string& name) {
  const std::string child = name.substr(0, name.find('.'));
  return child == "head" || child.ends_with("_head");
}

}  // namespace geosft
