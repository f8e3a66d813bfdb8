// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <torch/nn/module.h>

#include <string>

namespace geosft {

// Number of parameters of a module and its submodules.
int64_t parameter_count(const torch::nn::Module& module);

// Device of the parameters of a module; the CPU if it has none.
at::Device device_of(const torch::nn::Module& module);

// A table of the submodules and their numbers of parameters, one per line, and the total.
std::string summary(const torch::nn::Module& module);

}  // namespace geosft
