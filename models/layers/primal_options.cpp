// SPDX-License-Identifier: Apache-2.0
#include "models/layers/primal_options.h"

#include <c10/util/Exception.h>

#include <algorithm>
#include <numeric>

namespace geosft {
namespace {

constexpr double paper_beta = 0.5;  // in the middle of the range found in the paper

std::string joined(const std::vector<std::string>& names) {
  return std::accumulate(names.begin(), names.end(), std::string(),
                         [](const std::string& a, const std::string& b) { return a.empty() ? b : a + ", " + b; });
}

}  // namespace

std::vector<int64_t> default_pool(int64_t heads) {
  int64_t levels = 1;
  while (levels < 4 && (int64_t{2} << (levels - 1)) <= heads) ++levels;
  std::vector<int64_t> factors;
  factors.reserve(static_cast<size_t>(heads));
  for (int64_t s = 0; s < heads; ++s) factors.push_back(int64_t{1} << (s * levels / heads));
  return factors;
}

const std::vector<std::string>& primal_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const char* kernel : {"softmax", "linear", "sparse"}) {
      all.emplace_back(kernel);
      const std::string prefix = all.back() == "softmax" ? "" : all.back() + "_";
      for (const char* member : {"bn", "bn_variance", "sh", "bn_sh", "conv1d", "conv2d"})
        all.push_back(prefix + member);
    }
    return all;
  }();
  return names;
}

PrimalOptions primal_options(const std::string& name, int64_t heads) {
  const auto& names = primal_names();
  TORCH_CHECK(std::find(names.begin(), names.end(), name) != names.end(), "name of an attention must be one of ",
              joined(names), ", not ", name);
  const auto has = [&](const std::string& part) {
    return ("_" + name + "_").find("_" + part + "_") != std::string::npos;
  };
  PrimalOptions options;
  options.linear = has("linear");
  if (has("sparse")) {
    options.mask = MaskKind::strided;
    options.mask_size = 0;
  }
  options.variance = has("variance");
  if (has("bn") && !options.variance) options.beta = paper_beta;
  if (has("sh")) options.pool = default_pool(heads);
  if (has("conv1d")) options.convolution = ConvolutionKind::sequence;
  if (has("conv2d")) {
    options.convolution = ConvolutionKind::grid;
    options.convolution_size = 2;
  }
  return options;
}

}  // namespace geosft
