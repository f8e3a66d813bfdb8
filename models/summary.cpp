// SPDX-License-Identifier: Apache-2.0
#include "models/summary.h"

#include <iomanip>
#include <sstream>

namespace geosft {

int64_t parameter_count(const torch::nn::Module& module) {
  int64_t count = 0;
  for (const at::Tensor& parameter : module.parameters()) count += parameter.numel();
  return count;
}

at::Device device_of(const torch::nn::Module& module) {
  const std::vector<at::Tensor> parameters = module.parameters();
  return parameters.empty() ? at::Device(at::kCPU) : parameters.front().device();
}

std::string summary(const torch::nn::Module& module) {
  std::ostringstream out;
  const auto line = [&](const std::string& name, int64_t count) {
    out << std::left << std::setw(48) << name << std::right << std::setw(12) << count << '\n';
  };
  out << std::left << std::setw(48) << "module" << std::right << std::setw(12) << "parameters" << '\n';
  for (const auto& item : module.named_modules("", /*include_self=*/false)) {
    const int64_t count = parameter_count(*item.value());
    if (count > 0) line(item.key(), count);
  }
  line("total", parameter_count(module));
  return out.str();
}

}  // namespace geosft
