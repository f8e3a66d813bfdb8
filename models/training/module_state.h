// SPDX-License-Identifier: Apache-2.0
// Saves and loads the weights of a module as tensors by name.
#pragma once

#include <torch/nn/module.h>

#include <map>
#include <string>

namespace geosft {

// Returns parameters and buffers by name, which share the memory of the module.
std::map<std::string, at::Tensor> module_state(const torch::nn::Module& module);

// Copies them into the module. Throws c10::Error unless names and shapes match exactly.
void load_module_state(torch::nn::Module& module, const std::map<std::string, at::Tensor>& state);

// Returns whether a parameter or buffer of a model belongs to its head: to a child named head, or ending with _head.
bool is_of_head(const std::string& name);

}  // namespace geosft
