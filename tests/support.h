// SPDX-License-Identifier: Apache-2.0
// Helpers that tests of every folder share.
#pragma once

#include <ATen/ATen.h>

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace geosft::test {

// One golden case: tests/fixtures/<name>.pt, a dictionary from name to tensor (float64 or int64).
class Fixture {
 public:
  explicit Fixture(const std::string& name);
  bool has(const std::string& key) const;
  // The tensor under `key`, floating ones cast to `dtype`. Fails the test when it is absent.
  at::Tensor get(const std::string& key, at::ScalarType dtype = at::kDouble) const;
  std::optional<at::Tensor> optional(const std::string& key, at::ScalarType dtype = at::kDouble) const;
  double number(const std::string& key, double otherwise) const;
  // Names in the file that begin with `prefix`, without it.
  std::vector<std::string> keys(const std::string& prefix = "") const;

 private:
  std::string name_;
  std::map<std::string, at::Tensor> tensors_;
};

// max|actual - expected| <= tolerance * max(max|expected|, floor); an expected tensor of zeros: max|actual| <=
// tolerance.
void require_close(const at::Tensor& actual, const at::Tensor& expected, double tolerance, const std::string& what,
                   double floor = 0.0);
void require_equal(const at::Tensor& actual, const at::Tensor& expected, const std::string& what);

// Gradients of `function` (scalar output after weighting with fixed random numbers) against central differences in
// float64. `inputs` are the differentiable inputs; every one is checked, and so is an output without a gradient.
void require_gradcheck(const std::function<at::Tensor(const std::vector<at::Tensor>&)>& function,
                       std::vector<at::Tensor> inputs, double step = 1e-6, double tolerance = 1e-6);

// The gradient of every one of `inputs` (float64), differentiated once more by any of them or by grad_output,
// must be an error that says "double backward of <op>".
void require_no_double_backward(const std::function<at::Tensor(const std::vector<at::Tensor>&)>& function,
                                std::vector<at::Tensor> inputs, const std::string& op);

// Runs `call` and requires that it throws an error whose text holds every one of `words`.
void require_error(const std::function<void()>& call, const std::vector<std::string>& words);

// Returns `seed`, or, where GEOSFT_GENERATOR_SEED is a number other than 0, another seed for each such number.
uint64_t test_seed(uint64_t seed);
// A generator of the CPU with test_seed(seed), and LibTorch's default generator seeded with it.
at::Generator generator(uint64_t seed);
void manual_seed(uint64_t seed);

}  // namespace geosft::test
