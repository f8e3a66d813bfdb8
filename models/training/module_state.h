// SPDX-License-Identifier: Apache-2.0
// The weights of a module as tensors by name.
#pragma once

#include <torch/nn/module.h>

#include <map>
#include <string>

namespace geosft {

// Parameters and buffers, which share the module's memory.
std::map<std::string, at::Tensor> module_state(const torch::nn::Module& module);

// Copies them back. Throws c10::Error unless names and shapes agree exactly.
void load_module_state(torch::nn::Module& module, const std::map<std::string, at::Tensor>& state);

}  // namespace geosft
