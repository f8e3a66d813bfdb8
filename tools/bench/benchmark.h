// SPDX-License-Identifier: Apache-2.0
// What is measured: implementations that do the same work, the first of them ours.
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
  std::optional<Work> work = std::nullopt;  // least arithmetic it can do with
  // Brings what `run` gives into the first implementation's layout. Set where both compute the same: they are compared
  // before anything is timed.
  std::function<at::Tensor(const at::Tensor&)> align = {};
  double keys = 0;  // as Benchmark::keys, where it is not that; padding and masked keys count, as they are computed
};

struct Benchmark {
  std::string name;
  std::vector<Implementation> implementations;
  double items = 0;            // done in a call, where a rate is of interest
  std::string items_are = {};  // "clouds"
  double keys = 0;             // keys per query of an attention, mean over the queries and heads; 0: not an attention
};

// One that can be chosen by name; inputs are made only when it is.
struct Entry {
  std::string name, about;
  std::function<Benchmark()> make;
};

// Runs every implementation that has `align` and compares its results with the first one's: by tensor, the norm of the
// difference may be `tolerance` times the norm. (Not the largest difference: among hundreds of millions of pairs of
// random numbers some are equal, and the maximum's gradient goes to the query in our operators, to both in cdist.)
// Throws an error naming benchmark, implementation and difference.
void check_agreement(const Benchmark& benchmark, double tolerance = 1e-3);

// The results of `forward`, without (Pass::forward) or with gradients of `inputs` for the upstream gradient.
std::function<Tensors()> measured_pass(Pass pass, const Tensors& inputs, const at::Tensor& upstream,
                                       std::function<at::Tensor()> forward);

const char* pass_name(Pass pass);

}  // namespace geosft::bench
