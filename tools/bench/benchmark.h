// SPDX-License-Identifier: Apache-2.0
// Defines a benchmark: implementations of the same work, geosft first, then the baselines it is compared with.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tools/bench/work.h"

namespace geosft::bench {

// Sizes of the inputs of operators and layers.
struct Sizes {
  int64_t batch = 4;      // items, B
  int64_t tokens = 1024;  // per item, n
  int64_t width = 256;    // d
  int64_t heads = 16;     // h, divides d
  std::vector<int64_t> keys = {256, 32};
  uint64_t seed = 0;

  int64_t channels() const { return width / heads; }  // c
};

enum class Pass { forward, both };  // both: forward and backward

using Tensors = std::vector<at::Tensor>;

struct Implementation {
  std::string name;
  std::function<Tensors()> run;             // one call: outputs, then gradients
  std::optional<Work> work = std::nullopt;  // minimum arithmetic
  // Converts the results of `run` to the layout of the first implementation. Set if both compute the same function: the
  // results are then compared before timing.
  std::function<at::Tensor(const at::Tensor&)> align = {};
  double keys = 0;  // overrides Benchmark::keys if not 0; padding and masked keys count, since they are computed
};

struct Benchmark {
  std::string name;
  std::vector<Implementation> implementations;
  double items = 0;            // processed per call; 0: no rate is reported
  std::string items_are = {};  // "clouds"
  double keys = 0;             // keys per query, mean over queries and heads; 0: not an attention
};

// A benchmark that can be selected by name; `make` creates its inputs.
struct Entry {
  std::string name, about;
  std::function<Benchmark()> make;
};

// Runs each implementation that has `align` and compares its results with those of the first. For each tensor, the norm
// of the difference may be at most `tolerance` times the norm. (The maximum difference is unsuitable: some of the
// hundreds of millions of random pairs are ties, whose gradient goes to the query in our operators and to both in
// cdist.) Throws an error naming benchmark, implementation and difference.
void check_agreement(const Benchmark& benchmark, double tolerance = 1e-3);

// Returns a function that computes the result of `forward` and, for Pass::both, the gradients of `inputs`;
// `grad_output` is the gradient of the output.
std::function<Tensors()> measured_pass(Pass pass, const Tensors& inputs, const at::Tensor& grad_output,
                                       std::function<at::Tensor()> forward);

const char* pass_name(Pass pass);

}  // namespace geosft::bench
