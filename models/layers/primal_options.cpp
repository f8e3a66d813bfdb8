// SPDX-License-Identifier: Apache-2.0
#include "models/layers/primal_options.h"

#include <c10/util/Exception.h>

#include <numeric>

namespace geosft {
namespace {

constexpr double paper_beta = 0.5;  // in the middle of the range found in the paper

// The registry of the family: a kernel, and a variation of it, each with the options that it sets.
struct Choice {
  const char* name;
  void (*set)(PrimalOptions& options, int64_t heads);
};

constexpr Choice kernel_table[] = {
    {"softmax", [](PrimalOptions&, int64_t) {}},
    {"linear", [](PrimalOptions& options, int64_t) { options.linear = true; }},
    {"sparse", [](PrimalOptions& options, int64_t) { options.mask = MaskKind::strided, options.mask_size = 0; }},
};

constexpr Choice variation_table[] = {
    {"", [](PrimalOptions&, int64_t) {}},
    {"bn", [](PrimalOptions& options, int64_t) { options.beta = paper_beta; }},
    {"bn_variance", [](PrimalOptions& options, int64_t) { options.variance = true; }},
    {"sh", [](PrimalOptions& options, int64_t heads) { options.pool = default_pool(heads); }},
    {"bn_sh",
     [](PrimalOptions& options, int64_t heads) { options.beta = paper_beta, options.pool = default_pool(heads); }},
    {"conv1d", [](PrimalOptions& options, int64_t) { options.convolution = ConvolutionKind::sequence; }},
    {"conv2d", [](PrimalOptions& options,
                  int64_t) { options.convolution = ConvolutionKind::grid, options.convolution_size = 2; }},
};

// Returns the name of a variation of a kernel; softmax, the first one, is no prefix.
std::string member_name(const Choice& kernel, const Choice& variation) {
  const std::string name = variation.name;
  if (name.empty()) return kernel.name;
  return &kernel == kernel_table ? name : std::string(kernel.name) + "_" + name;
}

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

const std::vector<PrimalKernel>& primal_kernels() {
  static const std::vector<PrimalKernel> all = [] {
    std::vector<PrimalKernel> named;
    for (const Choice& kernel : kernel_table) {
      PrimalKernel& one = named.emplace_back(PrimalKernel{kernel.name, {}});
      for (const Choice& variation : variation_table) one.members.push_back(member_name(kernel, variation));
    }
    return named;
  }();
  return all;
}

const std::vector<std::string>& primal_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const PrimalKernel& kernel : primal_kernels()) {
      all.insert(all.end(), kernel.members.begin(), kernel.members.end());
    }
    return all;
  }();
  return names;
}

PrimalOptions primal_options(const std::string& name, int64_t heads) {
  for (const Choice& kernel : kernel_table) {
    for (const Choice& variation : variation_table) {
      if (member_name(kernel, variation) != name) continue;
      PrimalOptions options;
      kernel.set(options, heads);
      variation.set(options, heads);
      return options;
    }
  }
  TORCH_CHECK(false, "name of an attention must be one of ", joined(primal_names()), ", not ", name);
}

}  // namespace geosft
