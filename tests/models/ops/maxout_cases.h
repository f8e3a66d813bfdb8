// SPDX-License-Identifier: Apache-2.0
// maxout_attention as a function of its arguments by name, its reference, and random arguments.
#pragma once

#include <functional>
#include <limits>

#include "models/ops/maxout_attention.h"
#include "tests/models/ops/attention_cases.h"

namespace geosft::test::maxout_cases {

inline const std::vector<std::string> kArguments{"q", "k", "v", "leak", "r_mul", "r_add", "q_ptr", "k_ptr"};

inline at::Tensor fused(const Arguments& a) {
  return maxout_attention(a["q"], a["k"], a["v"], a["leak"], a.optional("r_mul"), a.optional("r_add"),
                          a.optional("q_ptr"), a.optional("k_ptr"), a.eps);
}

inline at::Tensor slow(const Arguments& a) {
  return reference_maxout(a["q"], a["k"], a["v"], a["leak"], a.optional("r_mul"), a.optional("r_add"),
                          a.optional("q_ptr"), a.optional("k_ptr"), a.eps, a.pass);
}

inline Arguments with_relative(const Sizes& sizes, uint64_t seed, bool mul = true, bool add = true) {
  Arguments a = random_attention(sizes, seed);
  int64_t pairs = 0;
  for (size_t b = 0; b < sizes.queries.size(); ++b) pairs += sizes.queries[b] * sizes.keys[b];
  const auto options = at::TensorOptions().dtype(at::kDouble);
  if (mul) a.tensors["r_mul"] = at::rand({pairs, sizes.heads}, generator(seed + 1), options) + 0.1;
  if (add) a.tensors["r_add"] = at::randn({pairs, sizes.heads}, generator(seed + 2), options);
  return a;
}

// One query and one key per denominator, which is relu(S) = max(q, k) alone: no leak, eps = 0. The smallest normal
// number of `type` is the smallest denominator that counts.
inline Arguments tiny_denominators(const std::vector<double>& denominators) {
  const auto items = static_cast<int64_t>(denominators.size());
  const at::Tensor q = at::tensor(denominators, at::kDouble).view({items, 1, 1});
  Arguments a;
  a.eps = 0;
  a.tensors = {{"q", q},
               {"k", q.clone()},
               {"v", at::ones({items, 1, 2}, at::kDouble)},
               {"leak", at::full({items, 1}, -std::numeric_limits<double>::infinity(), at::kDouble)},
               {"q_ptr", at::arange(items + 1, at::kLong)},
               {"k_ptr", at::arange(items + 1, at::kLong)}};
  return a;
}

// `run` gives output and gradients for arguments in `type` and a gradient g of the output. A denominator D that is at
// least the smallest normal number gives out = D v / D = v, dv = D g / D = g and, as a single key has the weight 1
// whatever its score, no gradient of q, k and leak. These powers of two are exact. A smaller denominator, 0 included,
// gives zeros everywhere.
inline void require_tiny_denominators(
    at::ScalarType type, const std::function<Outcome(const Arguments&, const at::Tensor&, at::ScalarType)>& run) {
  const bool wide = type == at::kDouble;
  const double tiny = wide ? std::numeric_limits<double>::min() : std::numeric_limits<float>::min();
  const double smallest = wide ? std::numeric_limits<double>::denorm_min() : std::numeric_limits<float>::denorm_min();
  const Arguments a = tiny_denominators({0.0, smallest, tiny / 4, tiny / 2, tiny - smallest, tiny, 2 * tiny, 4 * tiny});
  const at::Tensor grad_output = at::tensor({1.0, 2.0}, at::kDouble).expand({8, 1, 2}).contiguous();  // g / D is finite
  const at::Tensor counts = (a["q"] >= tiny).to(at::kDouble);
  const Outcome outcome = run(a, grad_output, type);
  require_equal(outcome.out, counts.expand({8, 1, 2}).to(type), "out");
  require_equal(outcome.gradients.at("v"), (grad_output * counts).to(type), "gradient of v");
  for (const char* name : {"q", "k", "leak"}) {
    const at::Tensor& gradient = outcome.gradients.at(name);
    require_equal(gradient, at::zeros_like(gradient), std::string("gradient of ") + name);
  }
}

}  // namespace geosft::test::maxout_cases
