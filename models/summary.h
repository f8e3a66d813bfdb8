// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <torch/nn/module.h>

#include <string>

namespace geosft {

// Parameters of a module and of everything below it.
int64_t parameter_count(const torch::nn::Module& module);

// Where the parameters of a module are; the CPU where it has none.
at::Device device_of(const torch::nn::Module& module);

// A table of the submodules with their parameters, one a line, and the total.
std::string summary(const torch::nn::Module& module);

}  // namespace geosft
