// SPDX-License-Identifier: Apache-2.0
#include "graph/random_walk_pe_estimate.h"

#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>
#include <ATen/core/PhiloxRNGEngine.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "graph/links.h"
#include "graph/random_walk_pe.h"

namespace geosft {
namespace {

// Samples steps from the links of a graph by their cumulative weights.
class Stepper {
 public:
  explicit Stepper(Links<double> links) : links_(std::move(links)) {
    const std::vector<int64_t>& begin = links_.structure.begin;
    for (int64_t i = 0; i < links_.structure.nodes() && !links_.weight.empty(); ++i) {
      for (int64_t e = begin[i] + 1; e < begin[i + 1]; ++e) links_.weight[e] += links_.weight[e - 1];
    }
  }

  // Returns the node after `node`, or -1 if no link has a positive weight. `uniform` in [0, 1).
  int64_t next(int64_t node, double uniform) const {
    const int64_t first = links_.structure.begin[node], last = links_.structure.begin[node + 1];
    if (first == last) return -1;
    if (links_.weight.empty()) {
      return links_.structure.to[first + static_cast<int64_t>(uniform * static_cast<double>(last - first))];
    }
    const auto sums = links_.weight.begin();
    const double total = sums[last - 1];
    if (total == 0) return -1;
    // Rounding of the product must not lead past the last link with a positive weight.
    const double target = std::min(uniform * total, std::nextafter(total, 0.0));
    return links_.structure.to[std::upper_bound(sums + first, sums + last, target) - sums];
  }

 private:
  Links<double> links_;
};

// Returns a number in [0, 1) with 53 random bits.
double random_uniform(at::Philox4_32& engine) {
  const uint64_t high = engine(), low = engine();
  return static_cast<double>((high << 32 | low) >> 11) * 0x1p-53;
}

// Counts how many of `walks` walks from `node` return after 1, 2, … steps.
std::vector<int64_t> count_returns(const Stepper& stepper, int64_t node, int64_t steps, int64_t walks, uint64_t seed) {
  at::Philox4_32 engine(seed, static_cast<uint64_t>(node));
  std::vector<int64_t> returns(static_cast<size_t>(steps), 0);
  for (int64_t walk = 0; walk < walks; ++walk) {
    int64_t at = node;
    for (int64_t t = 0; t < steps && at >= 0; ++t) {
      at = stepper.next(at, random_uniform(engine));
      returns[t] += at == node;
    }
  }
  return returns;
}

}  // namespace

RandomWalkEstimate random_walk_pe_estimate(const at::Tensor& rowptr, const at::Tensor& col, int64_t steps,
                                           int64_t walks, uint64_t seed, const std::optional<at::Tensor>& weight) {
  check_random_walk_pe(rowptr, col, steps, weight);
  TORCH_CHECK(rowptr.device().is_cpu(), "rowptr must be on the CPU, not ", rowptr.device());
  TORCH_CHECK(walks >= 2, "walks must be at least 2, got ", walks);
  const bool weighted = weight.has_value() && weight->defined();
  const std::optional<at::Tensor> in_double = weighted ? std::optional(weight->to(at::kDouble)) : std::nullopt;
  const Stepper stepper(read_links<double>(rowptr, col, in_double));
  const int64_t nodes = rowptr.size(0) - 1;
  const at::TensorOptions options = at::TensorOptions().dtype(weighted ? weight->scalar_type() : at::kFloat);
  RandomWalkEstimate estimate{at::empty({nodes, steps}, options), at::empty({nodes, steps}, options)};
  AT_DISPATCH_FLOATING_TYPES(estimate.mean.scalar_type(), "random_walk_pe_estimate", [&] {
    scalar_t* mean = estimate.mean.data_ptr<scalar_t>();
    scalar_t* error = estimate.standard_error.data_ptr<scalar_t>();
    const double count = static_cast<double>(walks);
    at::parallel_for(0, nodes, 64, [&](int64_t begin, int64_t end) {
      for (int64_t node = begin; node < end; ++node) {
        const std::vector<int64_t> returns = count_returns(stepper, node, steps, walks, seed);
        for (int64_t t = 0; t < steps; ++t) {
          const double back = static_cast<double>(returns[t]), share = (back + 2) / (count + 4);
          mean[node * steps + t] = static_cast<scalar_t>(back / count);
          error[node * steps + t] = static_cast<scalar_t>(std::sqrt(share * (1 - share) / (count + 4)));
        }
      }
    });
  });
  return estimate;
}

}  // namespace geosft
