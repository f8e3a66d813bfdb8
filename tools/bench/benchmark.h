// SPDX-License-Identifier: Apache-2.0
// A benchmark: implementations of the same work, geosft first, then the baselines it is compared with.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tools/bench/work.h"

namespace geosft::bench {

// Sizes of the measurements of operators and layers.
struct Sizes {
  int64_t batch = 4;      // items, B
  int64_t tokens = 1024;  // of an item, n
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
  std::optional<Work> work = std::nullopt;  // the minimum arithmetic it needs
  // Converts the results of `run` to the layout of the first implementation. Set if both compute the same: they are
  // then compared before anything is timed.
  std::function<at::Tensor(const at::Tensor&)> align = {};
  double keys = 0;  // as Benchmark::keys, where it is not that; padding and masked keys count, as they are computed
};

struct Benchmark {
  std::string name;
  std::vector<Implementation> implementations;
  double items = 0;            // processed per call, if a rate is of interest
  std::string items_are = {};  // "clouds"
  double keys = 0;             // keys per query of an attention, mean over the queries and heads; 0: not an attention
};

// A benchmark that can be selected by name; its inputs are created only then.
struct Entry {
  std::string name, about;
  std::function<Benchmark()> make;
};

// Runs each implementation that has `align` and compares its results with the first one. For each tensor, the norm of
// the difference may be at most `tolerance` times the norm. (Not the maximum difference: among hundreds of millions of
// pairs of random numbers some are equal, and the gradient of the maximum goes to the query in our operators, to both
// in cdist.) Throws an error naming benchmark, implementation and difference.
void check_agreement(const Benchmark& benchmark, double tolerance = 1e-3);

// The results of `forward`, followed for Pass::both by the gradients of `inputs` for the gradient `upstream` of the
// output.
std::function<Tensors()> measured_pass(Pass pass, const Tensors& inputs, const at::Tensor& upstream,
                                       std::function<at::Tensor()> forward);

const char* pass_name(Pass pass);

}  // namespace geosft::bench
