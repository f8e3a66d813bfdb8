// SPDX-License-Identifier: Apache-2.0
// Summarises the modules and parameters of a model.
#pragma once

#include <torch/nn/module.h>

#include <string>

namespace geosft {

// Returns the number of parameters of a module and its submodules.
int64_t parameter_count(const torch::nn::Module& module);

// Returns the device of the parameters of a module; the CPU if it has none.
at::Device device_of(const torch::nn::Module& module);

// Returns a table of the submodules and their numbers of parameters, one per line, and the total.
std::string summary(const torch::nn::Module& module);

}  // namespace geosft
