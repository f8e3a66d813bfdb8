// SPDX-License-Identifier: Apache-2.0
#include "models/training/module_state.h"

#include <ATen/CPUGeneratorImpl.h>
#include <c10/core/DefaultDtype.h>

#include <mutex>

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
  }
  for (const auto& [name, tensor] : state) {
    TORCH_CHECK(own.count(name) > 0, "the checkpoint has a tensor ", name,
                " that the model does not: it belongs to another configuration");
  }
  for (const auto& [name, tensor] : own) {
    at::Tensor target = tensor;
    target.copy_(state.at(name));
  }
}

KeptDefaultGenerator::KeptDefaultGenerator() {
  at::Generator generator = at::detail::getDefaultCPUGenerator();
  const std::lock_guard lock(generator.mutex());
  state_ = generator.get_state();
}
KeptDefaultGenerator::~KeptDefaultGenerator() {
  at::Generator generator = at::detail::getDefaultCPUGenerator();
  const std::lock_guard lock(generator.mutex());
  generator.set_state(state_);
}

void copy_module_state(torch::nn::Module& copy, const torch::nn::Module& module,
                       const std::optional<torch::Device>& device) {
  load_module_state(copy, module_state(module));  // which compares names and shapes
  const auto take = [&](at::Tensor& to, const at::Tensor& from) {
    const at::Tensor data = from.detach().clone();
    to.set_data(device ? data.to(*device) : data);
    to.set_requires_grad(from.requires_grad());
  };
  const auto parameters = module.named_parameters(), buffers = module.named_buffers();
  for (auto& item : copy.named_parameters()) take(item.value(), parameters[item.key()]);
  for (auto& item : copy.named_buffers()) take(item.value(), buffers[item.key()]);
  const auto to = copy.modules(), from = module.modules();  // each before its children
  for (size_t i = 0; i < to.size(); ++i) to[i]->train(from.at(i)->is_training());
}

DefaultDtypeGuard::DefaultDtypeGuard(at::ScalarType dtype) : before_(c10::get_default_dtype()) {
  c10::set_default_dtype(c10::scalarTypeToTypeMeta(dtype));
}
DefaultDtypeGuard::~DefaultDtypeGuard() {
  c10::set_default_dtype(before_);
}

bool is_of_head(const std::string& name) {
  const std::string child = name.substr(0, name.find('.'));
  return child == "head" || child.ends_with("_head");
}

}  // namespace geosft
