// SPDX-License-Identifier: Apache-2.0
#include "tests/support.h"
#include "tests/places.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/grad_mode.h>
#include <c10/util/StringUtil.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/functions/basic_ops.h>
#include <torch/csrc/jit/serialization/pickle.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <iterator>

namespace geosft::test {

Fixture::Fixture(const std::string& name) : name_(name) {
  const std::string path = fixture_path(name + ".pt");
  std::ifstream file(path, std::ios::binary);
  INFO("fixture " << path);
  REQUIRE(file.good());
  const std::vector<char> bytes((std::istreambuf_iterator<char>(file)), {});
  for (const auto& entry : torch::jit::pickle_load(bytes).toGenericDict()) {
    if (entry.value().isTensor()) tensors_.emplace(entry.key().toStringRef(), entry.value().toTensor());
  }
}

bool Fixture::has(const std::string& key) const {
  return tensors_.count(key) > 0;
}

at::Tensor Fixture::get(const std::string& key, at::ScalarType dtype) const {
  INFO("fixture " << name_ << " holds no tensor " << key);
  REQUIRE(has(key));
  const at::Tensor& tensor = tensors_.at(key);
  return tensor.is_floating_point() ? tensor.to(dtype) : tensor;
}

std::optional<at::Tensor> Fixture::optional(const std::string& key, at::ScalarType dtype) const {
  if (!has(key)) return std::nullopt;
  return get(key, dtype);
}

double Fixture::number(const std::string& key, double otherwise) const {
  return has(key) ? tensors_.at(key).item<double>() : otherwise;
}

std::vector<std::string> Fixture::keys(const std::string& prefix) const {
  std::vector<std::string> found;
  for (const auto& [key, tensor] : tensors_) {
    if (key.rfind(prefix, 0) == 0) found.push_back(key.substr(prefix.size()));
  }
  return found;
}

void require_close(const at::Tensor& actual, const at::Tensor& expected, double tolerance, const std::string& what,
                   double floor) {
  INFO(what);
  REQUIRE(actual.defined());
  REQUIRE(actual.sizes() == expected.sizes());
  if (expected.numel() == 0) return;
  const at::Tensor a = actual.detach().to(at::kDouble);
  const at::Tensor b = expected.detach().to(at::kDouble);
  const double difference = (a - b).abs().max().item<double>();
  const double scale = std::max(b.abs().max().item<double>(), floor);
  const double relative = difference / (scale == 0.0 ? 1.0 : scale);
  INFO("largest difference " << difference << ", largest expected magnitude " << scale);
  INFO("relative: " << relative << " where " << tolerance << " is allowed");
  REQUIRE(relative <= tolerance);
}

namespace {

// Returns both tensors as text, or, where they are large, the places and values of their first differences.
std::string difference_text(const at::Tensor& actual, const at::Tensor& expected) {
  constexpr int64_t max_numel = 1000, max_places = 10;
  if (actual.numel() <= max_numel) return c10::str("actual ", actual, "\nexpected ", expected);
  const at::Tensor differs = actual != expected;
  const auto first = [&](const at::Tensor& values) { return values.masked_select(differs).slice(0, 0, max_places); };
  return c10::str("differ in ", differs.sum().item<int64_t>(), " of ", actual.numel(), " elements, first at\n",
                  differs.nonzero().slice(0, 0, max_places), "\nactual ", first(actual), "\nexpected ",
                  first(expected));
}

}  // namespace

void require_equal(const at::Tensor& actual, const at::Tensor& expected, const std::string& what) {
  INFO(what);
  REQUIRE(actual.sizes() == expected.sizes());
  const bool equal = at::equal(actual, expected);
  // Written on failure alone: the text of a large tensor takes much longer than comparing it.
  INFO((equal ? "" : difference_text(actual, expected)));
  REQUIRE(equal);
}

namespace {

// What an operator after this one does that has no gradient for it: no error, and no gradient of the inputs but 0.
void require_no_gradient_of_undefined(const at::Tensor& output, const std::vector<at::Tensor>& inputs) {
  const at::Tensor undefined = torch::autograd::UndefinedGrad()({output})[0];
  for (const at::Tensor& gradient : torch::autograd::grad({undefined.sum()}, inputs, {}, true, false, true)) {
    if (gradient.defined()) REQUIRE(gradient.count_nonzero().item<int64_t>() == 0);
  }
}

}  // namespace

// Central differences of float64 with a step of 1e-6 are off by a rounding of the objective divided by the step, some
// 1e-10, and by the third derivative times 1e-12. Over 1,000 seeds of the tests of geometry 1.5e-9 at most was
// measured.
void require_gradcheck(const std::function<at::Tensor(const std::vector<at::Tensor>&)>& function,
                       std::vector<at::Tensor> inputs, double step, double tolerance) {
  for (at::Tensor& input : inputs) input = input.detach().to(at::kDouble).contiguous().clone().requires_grad_(true);
  const at::Tensor output = function(inputs);
  require_no_gradient_of_undefined(output, inputs);
  const at::Tensor grad_output = at::randn(output.sizes(), generator(17), at::TensorOptions().dtype(at::kDouble));
  (output * grad_output).sum().backward();
  const auto objective = [&]() {
    at::NoGradGuard guard;
    return (function(inputs) * grad_output).sum().item<double>();
  };
  for (size_t i = 0; i < inputs.size(); ++i) {
    INFO("input " << i);
    REQUIRE(inputs[i].grad().defined());
    at::Tensor numeric = at::zeros_like(inputs[i].detach());
    double* value = inputs[i].data_ptr<double>();
    for (int64_t e = 0; e < inputs[i].numel(); ++e) {
      const double original = value[e];
      value[e] = original + step;
      const double above = objective();
      value[e] = original - step;
      const double below = objective();
      value[e] = original;
      numeric.data_ptr<double>()[e] = (above - below) / (2 * step);
    }
    require_close(inputs[i].grad(), numeric, tolerance, "gradient of input " + std::to_string(i), 1.0);
  }
}

void require_no_double_backward(const std::function<at::Tensor(const std::vector<at::Tensor>&)>& function,
                                std::vector<at::Tensor> inputs, const std::string& op) {
  for (at::Tensor& input : inputs) input = input.detach().clone().requires_grad_(true);
  const at::Tensor output = function(inputs);
  std::vector<at::Tensor> again = inputs;
  again.push_back(at::randn(output.sizes(), generator(17), output.options()).requires_grad_(true));
  const auto first = torch::autograd::grad({output}, inputs, {again.back()}, true, /*create_graph=*/true);
  for (size_t i = 0; i < first.size(); ++i) {
    for (size_t j = 0; j < again.size(); ++j) {
      INFO("gradient of input " << i << " by input " << j);
      require_error([&] { torch::autograd::grad({first[i].sum()}, {again[j]}, {}, true); },
                    {"double backward of " + op});
    }
  }
}

void require_error(const std::function<void()>& call, const std::vector<std::string>& words) {
  std::string text;
  try {
    call();
  } catch (const std::exception& error) {
    text = error.what();
  }
  INFO("error text: " << text);
  REQUIRE_FALSE(text.empty());
  for (const std::string& word : words) {
    INFO("expected in the text: " << word);
    REQUIRE(text.find(word) != std::string::npos);
  }
}

uint64_t test_seed(uint64_t seed) {
  constexpr uint64_t odd = 0x9E3779B97F4A7C15;  // generators keep 32 bits of a seed, in which its multiples differ
  const char* number = std::getenv("GEOSFT_GENERATOR_SEED");
  return number == nullptr ? seed : seed + odd * std::strtoull(number, nullptr, 10);
}

at::Generator generator(uint64_t seed) {
  return at::make_generator<at::CPUGeneratorImpl>(test_seed(seed));
}

void manual_seed(uint64_t seed) {
  at::manual_seed(test_seed(seed));
}

}  // namespace geosft::test
