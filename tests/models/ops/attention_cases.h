// SPDX-License-Identifier: Apache-2.0
// Checks that the tests of all attention operators make: golden cases, the slow reference, vector targets, threads.
#pragma once

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/autograd.h>

#include <catch2/catch.hpp>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "models/ops/cpu/simd.h"
#include "tests/models/ops/reference.h"
#include "tests/support.h"

namespace geosft::test {

// Arguments of an operator by name; eps apart. `pass` is for references alone.
struct Arguments {
  std::map<std::string, at::Tensor> tensors;
  double eps = 1e-6;
  ReferencePass pass = {};

  const at::Tensor& operator[](const std::string& name) const { return tensors.at(name); }
  std::optional<at::Tensor> optional(const std::string& name) const {
    const auto found = tensors.find(name);
    return found == tensors.end() ? std::nullopt : std::optional<at::Tensor>(found->second);
  }
};
using Attention = std::function<at::Tensor(const Arguments&)>;

struct Outcome {
  at::Tensor out;
  std::map<std::string, at::Tensor> gradients;    // of every floating argument
  std::map<std::string, double> magnitudes = {};  // of the terms of some gradients
};

// Output and gradients of `attention` for an output gradient; arguments are cast to `dtype`.
inline Outcome evaluate(const Attention& attention, const Arguments& arguments, const at::Tensor& grad_output,
                        at::ScalarType dtype) {
  Arguments leaves{{}, arguments.eps, arguments.pass};
  std::vector<std::string> names;
  torch::autograd::variable_list inputs;
  for (const auto& [name, tensor] : arguments.tensors) {
    if (!tensor.is_floating_point()) {
      leaves.tensors[name] = tensor;
      continue;
    }
    leaves.tensors[name] = tensor.detach().to(dtype).clone().requires_grad_(true);
    names.push_back(name);
    inputs.push_back(leaves.tensors[name]);
  }
  const at::Tensor out = attention(leaves);
  Outcome outcome{out.detach(), {}};
  const auto gradients = torch::autograd::grad({out}, inputs, {grad_output.to(dtype)}, std::nullopt, false, true);
  for (size_t i = 0; i < names.size(); ++i) {
    outcome.gradients[names[i]] = gradients[i].defined() ? gradients[i] : at::zeros_like(inputs[i]);
  }
  return outcome;
}

inline void require_outcome(const Outcome& actual, const Outcome& expected, double out_tolerance,
                            double gradient_tolerance, const std::string& what, double gradient_floor = 0.0) {
  require_close(actual.out, expected.out, out_tolerance, what + " out");
  for (const auto& [name, gradient] : expected.gradients) {
    const std::string which = std::string(what).append(" gradient of ").append(name);
    const auto scale = expected.magnitudes.find(name);
    const double floor = scale == expected.magnitudes.end() ? gradient_floor : std::max(gradient_floor, scale->second);
    require_close(actual.gradients.at(name), gradient, gradient_tolerance, which, floor);
  }
}

// Returns output and gradients of `reference`. A gradient of a weight of a bias is a sum over all pairs, one of a leak
// a sum over queries and channels. Such a sum may cancel to much less than its terms: its rounding is relative to the
// sum of their magnitudes, of which `magnitudes` has the largest. If roundings are independent with mean zero, a sum of
// n terms is off by at most 6 sqrt(n) 2^-24 of that, but with probability 2 exp(-18) (N. J. Higham and T. Mary, "A New
// Approach to Probabilistic Rounding Error Analysis", 2019): by 2.8e-5 with the 6,000 pairs of the largest case.
inline Outcome evaluate_reference(const Attention& reference, const Arguments& arguments,
                                  const at::Tensor& grad_output) {
  Outcome outcome = evaluate(reference, arguments, grad_output, at::kDouble);
  Arguments in_magnitude = arguments;
  in_magnitude.pass.magnitudes = true;
  const Outcome sums = evaluate(reference, in_magnitude, grad_output, at::kDouble);
  for (const char* name : {"leak", "w_mul", "b_mul", "w_add", "b_add"}) {
    const auto gradient = sums.gradients.find(name);
    if (gradient == sums.gradients.end() || gradient->second.numel() == 0) continue;
    outcome.magnitudes[name] = gradient->second.abs().max().item<double>();
  }
  return outcome;
}

// Runs `check` once for each vector target of this processor.
inline void for_each_target(const std::function<void(const std::string&)>& check) {
  struct Restore {
    ~Restore() { force_simd_target(""); }
  } restore;
  for (const std::string& target : simd_target_names()) {
    force_simd_target(target);
    REQUIRE(simd_target_name() == target);
    check(target);
  }
}

// The golden case `name` of an attention with these arguments; others are absent from its file.
struct GoldenAttention {
  GoldenAttention(const std::string& name, const std::vector<std::string>& argument_names)
      : fixture(name),
        arguments{{}, fixture.number("eps", 1e-6)},
        expected{fixture.get("out"), {}},
        grad_output(fixture.get("grad_out")) {
    for (const std::string& argument : argument_names) {
      if (fixture.has(argument)) arguments.tensors[argument] = fixture.get(argument);
      if (fixture.has("grad." + argument)) expected.gradients[argument] = fixture.get("grad." + argument);
    }
    REQUIRE(expected.gradients.size() >= 3);
  }

  Fixture fixture;
  Arguments arguments;
  Outcome expected;
  at::Tensor grad_output;
};

// The golden case `name` in both precisions, on every vector target.
inline void require_fixture(const Attention& attention, const std::string& name,
                            const std::vector<std::string>& argument_names) {
  const GoldenAttention golden(name, argument_names);
  for_each_target([&](const std::string& target) {
    require_outcome(evaluate(attention, golden.arguments, golden.grad_output, at::kDouble), golden.expected, 1e-10,
                    1e-10, name + " float64 " + target);
    require_outcome(evaluate(attention, golden.arguments, golden.grad_output, at::kFloat), golden.expected, 5e-6, 2e-5,
                    name + " float32 " + target);
  });
}

// Returns a check: `attention` of the good arguments, but for this value of one of them, is an error that names it, and
// `others` with it.
inline auto names_wrong_argument(const Attention& attention, const Arguments& good) {
  return [attention, good](const std::string& name, const at::Tensor& value, const std::string& others = "") {
    Arguments bad = good;
    bad.tensors[name] = value;
    require_error([&] { attention(bad); }, {name + others + " must"});
  };
}

// The arguments, rounded to `type`, in float64.
inline Arguments rounded_to(const Arguments& arguments, at::ScalarType type) {
  Arguments rounded{{}, arguments.eps};
  for (const auto& [name, tensor] : arguments.tensors) {
    rounded.tensors[name] = tensor.is_floating_point() ? tensor.to(type).to(at::kDouble) : tensor;
  }
  return rounded;
}

// The relu of a score has its kink at 0, where rounding decides whether a pair counts; and the terms of a small result
// may be so large that their rounding is all there is of it. Returns the arguments with q and k moved, which moves all
// scores, and where the result is too small v and the offset of the factors, so far that once they are rounded to
// `type`
//   * each score keeps a margin of 64 units of float32's rounding of its terms: it has about as many operations,
//   * the result has at least an eighth of the magnitude of its terms.
inline Arguments well_conditioned(const Attention& reference, Arguments arguments, at::ScalarType type) {
  constexpr double margin = 0x1p-18;
  at::NoGradGuard guard;
  for (int attempt = 0; attempt < 50; ++attempt) {
    double closest = std::numeric_limits<double>::infinity(), magnitude = 0;
    Arguments rounded = rounded_to(arguments, type);
    rounded.pass.closest_to_zero = &closest;
    rounded.pass.out_magnitude = &magnitude;
    const at::Tensor out = reference(rounded);
    const bool cancels = magnitude > 0 && out.abs().max().item<double>() < magnitude / 8;
    if (closest >= margin && !cancels) return arguments;
    const double step = 0x1p-3 * (attempt + 1);
    for (const char* name : {"q", "k"}) arguments.tensors[name] = arguments[name] + step;
    for (const char* name : {"v", "b_mul"}) {
      if (cancels && arguments.tensors.contains(name)) arguments.tensors[name] = arguments[name] + step;
    }
  }
  FAIL("no arguments whose scores and result keep a margin from 0");
  return arguments;
}

// `attention` against `reference` in both precisions, on every vector target. In float32 the reference has the rounded
// arguments too: rounding may swap a query and a key, of which maxout takes the larger one. Gradients that are smaller
// than the floor are held to it.
inline void require_reference(const Attention& attention, const Attention& reference, const Arguments& given,
                              const std::string& what, double gradient_floor = 0.0) {
  const Arguments arguments = well_conditioned(reference, given, at::kFloat);
  at::Tensor shape;
  {
    at::NoGradGuard guard;
    shape = reference(arguments);
  }
  const at::Tensor grad_output = at::randn(shape.sizes(), generator(5), at::TensorOptions().dtype(at::kDouble));
  const Outcome expected = evaluate_reference(reference, arguments, grad_output);
  const Outcome of_rounded = evaluate_reference(reference, rounded_to(arguments, at::kFloat), grad_output);
  for_each_target([&](const std::string& target) {
    require_outcome(evaluate(attention, arguments, grad_output, at::kDouble), expected, 1e-10, 1e-10,
                    what + " float64 " + target, gradient_floor);
    require_outcome(evaluate(attention, arguments, grad_output, at::kFloat), of_rounded, 2e-5, 1e-4,
                    what + " float32 " + target, gradient_floor);
  });
}

// Output and gradients of an attention, for an output gradient, in a type.
using TypedRun = std::function<Outcome(const Arguments&, const at::Tensor&, at::ScalarType)>;

// `run` on float16 and bfloat16 against `reference` on the same numbers in double precision. Sums are of float32,
// so that results and gradients are those of the reference but for their own rounding, of 2^-11 or 2^-8: a quarter or a
// fifth of what is allowed. The backward pass reads the result as it was rounded, and so does the reference's:
// gradients may cancel to much less than that rounding changes.
inline void require_half_outcome(const TypedRun& run, const Attention& reference, const Arguments& given) {
  for (const auto& [type, tolerance] : {std::pair(at::kHalf, 2e-3), std::pair(at::kBFloat16, 2e-2)}) {
    const Arguments rounded = rounded_to(well_conditioned(reference, given, type), type);
    at::Tensor grad_output;
    {
      at::NoGradGuard guard;
      grad_output = at::ones_like(reference(rounded));
    }
    const Outcome actual = run(rounded, grad_output, type);
    REQUIRE(actual.out.scalar_type() == type);
    Arguments saved = rounded;
    saved.pass.out = actual.out.to(at::kDouble);
    const Outcome expected = evaluate(reference, saved, grad_output, at::kDouble);
    for (const auto& [name, gradient] : actual.gradients) REQUIRE(gradient.scalar_type() == type);
    require_outcome(actual, expected, tolerance, tolerance, c10::toString(type));
  }
}

// The same of `attention` on every vector target.
inline void require_half(const Attention& attention, const Attention& reference, const Arguments& given) {
  for_each_target([&](const std::string& target) {
    INFO(target);
    const auto run = [&](const Arguments& arguments, const at::Tensor& grad_output, at::ScalarType type) {
      return evaluate(attention, arguments, grad_output, type);
    };
    require_half_outcome(run, reference, given);
  });
}

// `attention` of strided arguments is what it is of contiguous ones, bit for bit, gradients too, and leaves them alone.
inline void require_strided(const Attention& attention, const Arguments& arguments) {
  const auto spread = [](const at::Tensor& x) { return at::stack({x, x + 1}, -1).select(-1, 0); };
  const auto run = [&](Arguments& a) {
    std::vector<std::string> names;
    torch::autograd::variable_list leaves;
    for (auto& [name, tensor] : a.tensors) {
      if (!tensor.is_floating_point()) continue;
      leaves.push_back(tensor.requires_grad_(true));
      names.push_back(name);
    }
    const at::Tensor out = attention(a);
    torch::autograd::variable_list results = torch::autograd::grad({out}, leaves, {spread(at::ones_like(out))});
    results.push_back(out);
    names.emplace_back("out");
    return std::pair(names, results);
  };
  Arguments plain = arguments, strided = arguments;
  for (auto& [name, tensor] : plain.tensors) tensor = tensor.detach().clone();
  for (auto& [name, tensor] : strided.tensors) tensor = spread(tensor.detach());
  REQUIRE_FALSE(strided["q"].is_contiguous());
  const auto [names, expected] = run(plain);
  const auto [same_names, actual] = run(strided);
  for (size_t i = 0; i < names.size(); ++i) require_equal(actual[i], expected[i], names[i]);
  for (const auto& [name, tensor] : plain.tensors) require_equal(strided[name].detach(), tensor.detach(), name);
}

// The same bits on one thread and on two.
inline void require_same_bits(const Attention& attention, const Arguments& arguments, const at::Tensor& grad_output,
                              at::ScalarType type = at::kFloat) {
  const int before = at::get_num_threads();
  at::set_num_threads(1);
  const Outcome one = evaluate(attention, arguments, grad_output, type);
  at::set_num_threads(2);
  const Outcome two = evaluate(attention, arguments, grad_output, type);
  at::set_num_threads(before);
  require_equal(two.out, one.out, "out");
  for (const auto& [name, gradient] : one.gradients) require_equal(two.gradients.at(name), gradient, name);
}

// The gradient of each floating argument is the same where it is the only one that is asked for.
inline void require_single_gradients(const Attention& attention, const Arguments& arguments,
                                     const at::Tensor& grad_output) {
  const Outcome all = evaluate(attention, arguments, grad_output, at::kDouble);
  for (const auto& [name, expected] : all.gradients) {
    Arguments leaves = arguments;
    const at::Tensor leaf = arguments[name].detach().clone().requires_grad_(true);
    leaves.tensors[name] = leaf;
    const auto gradients = torch::autograd::grad({attention(leaves)}, {leaf}, {grad_output});
    require_close(gradients[0], expected, 1e-12, "gradient of " + name + " alone");
  }
}

// `attention` as a function of its floating arguments, which come in the order of their names; and they.
struct FloatingArguments {
  std::function<at::Tensor(const std::vector<at::Tensor>&)> function;
  std::vector<at::Tensor> inputs;
};
inline FloatingArguments floating_arguments(const Attention& attention, const Arguments& arguments) {
  std::vector<std::string> names;
  std::vector<at::Tensor> inputs;
  for (const auto& [name, tensor] : arguments.tensors) {
    if (!tensor.is_floating_point()) continue;
    names.push_back(name);
    inputs.push_back(tensor);
  }
  const auto function = [=](const std::vector<at::Tensor>& values) {
    Arguments now = arguments;
    for (size_t i = 0; i < names.size(); ++i) now.tensors[names[i]] = values[i];
    return attention(now);
  };
  return {function, inputs};
}

// Central differences of every floating argument.
inline void require_gradcheck(const Attention& attention, const Arguments& arguments) {
  const auto [function, inputs] = floating_arguments(attention, arguments);
  require_gradcheck(function, inputs);
}

// Double backward through every floating argument is refused.
inline void require_single_backward(const Attention& attention, const Arguments& arguments, const std::string& op) {
  const auto [function, inputs] = floating_arguments(attention, arguments);
  require_no_double_backward(function, inputs, op);
}

struct Sizes {
  std::vector<int64_t> queries, keys;  // of each item
  int64_t heads, c, cv;
};

inline at::Tensor offsets_of(const std::vector<int64_t>& counts) {
  std::vector<int64_t> offsets{0};
  for (const int64_t count : counts) offsets.push_back(offsets.back() + count);
  return at::tensor(offsets, at::kLong);
}

// Random q, k, v, leak, q_ptr and k_ptr, float64.
inline Arguments random_attention(const Sizes& sizes, uint64_t seed) {
  at::Generator random = generator(seed);
  const auto normal = [&](at::IntArrayRef shape) {
    return at::randn(shape, random, at::TensorOptions().dtype(at::kDouble));
  };
  Arguments a;
  a.tensors["q_ptr"] = offsets_of(sizes.queries);
  a.tensors["k_ptr"] = offsets_of(sizes.keys);
  const int64_t nq = a["q_ptr"][-1].item<int64_t>(), nk = a["k_ptr"][-1].item<int64_t>();
  a.tensors["q"] = normal({nq, sizes.heads, sizes.c});
  a.tensors["k"] = normal({nk, sizes.heads, sizes.c});
  a.tensors["v"] = normal({nk, sizes.heads, sizes.cv});
  a.tensors["leak"] = normal({nk, sizes.heads});
  return a;
}

// Random w_mul, b_mul, w_add and b_add of an attention bias.
inline void add_random_weights(Arguments& a, int64_t channels, uint64_t seed) {
  const int64_t heads = a["q"].size(1);
  for (const char* name : {"w_mul", "w_add", "b_mul", "b_add"}) {
    const auto shape = name[0] == 'w' ? std::vector<int64_t>{channels, heads} : std::vector<int64_t>{heads};
    a.tensors[name] = at::randn(shape, generator(++seed), at::TensorOptions().dtype(at::kDouble));
  }
}

// Sizes around the tiles of the kernels (16 keys, 128 queries, vectors of 2 to 16), c = 1, cv != c, empty items.
inline std::vector<Sizes> awkward_sizes() {
  return {{{1}, {1}, 1, 1, 1},
          {{129}, {33}, 3, 5, 7},
          {{5, 0, 131, 2, 3}, {4, 3, 65, 0, 1}, 2, 1, 3},
          {{127, 16, 17}, {31, 32, 64}, 2, 16, 8},
          {{300}, {2}, 5, 4, 1}};
}

// A few items, one that several groups of queries share, and many of which each is one unit; items without keys, and
// without queries, which may have keys nevertheless.
inline std::vector<Sizes> half_sizes(bool keys_alone = true) {
  Sizes many{{}, {}, 2, 4, 5};
  for (int64_t b = 0; b < 48; ++b) {
    many.queries.push_back(b % 7);
    many.keys.push_back(b % 5 == 0 || (b % 7 == 0 && !keys_alone) ? 0 : 3 + b % 17);
  }
  return {{{20, 3}, {17, 2}, 2, 4, 5}, {{600}, {40}, 2, 4, 5}, many};
}

}  // namespace geosft::test
