// SPDX-License-Identifier: Apache-2.0
#include "models/ops/cpu/attention_problem.h"

#include <algorithm>

namespace geosft {
namespace {

constexpr int64_t kTargetUnits = 32;          // enough to balance one item over the threads of a machine
constexpr int64_t kTargetParts = 256;         // enough to balance ragged items
constexpr int64_t kMinParts = 8;              // minimum parts, regardless of cost
constexpr int64_t kFixedAllowance = 1 << 18;  // elements of extra accumulators that are always allowed
constexpr double kRelativeAllowance = 0.03;   // allowed extra bytes, as a fraction of those of q, k and v

int64_t ceil_div(int64_t a, int64_t b) {
  return (a + b - 1) / b;
}

// Effective number of items of equal work: one if a single item has all the work.
int64_t equal_items(const std::vector<int64_t>& q, const std::vector<int64_t>& k) {
  double total = 0, largest = 0;
  for (size_t b = 0; b + 1 < q.size(); ++b) {
    const double work = static_cast<double>(q[b + 1] - q[b]) * static_cast<double>(k[b + 1] - k[b]);
    total += work;
    largest = std::max(largest, work);
  }
  return largest > 0 ? std::max<int64_t>(1, static_cast<int64_t>(total / largest)) : 1;
}

int64_t largest_blocks(const std::vector<int64_t>& q) {
  int64_t blocks = 1;
  for (size_t b = 0; b + 1 < q.size(); ++b) blocks = std::max(blocks, ceil_div(q[b + 1] - q[b], kQueryBlock));
  return blocks;
}

// The budget for copies of accumulators.
class Allowance {
 public:
  // `rounded`: the results are of a half type, so no copy can be the result, and so are q, k and v, which have
  // `elements` elements.
  Allowance(double elements, bool rounded)
      : left_(static_cast<double>(kFixedAllowance) + kRelativeAllowance * elements * (rounded ? 0.5 : 1.0)),
        rounded_(rounded) {}

  // Takes up to `target` copies of `elements_each` elements, as far as they fit, and at least one.
  int64_t take(int64_t target, int64_t elements_each) {
    if (elements_each == 0) return target;
    const auto each = static_cast<double>(elements_each);
    const auto fitting = static_cast<int64_t>(std::max(0.0, left_ / each));
    const int64_t copies = std::clamp<int64_t>(rounded_ ? fitting : fitting + 1, 1, target);
    if (copies > 1) left_ -= each * static_cast<double>(rounded_ ? copies : copies - 1);
    return copies;
  }

 private:
  double left_;
  bool rounded_;
};

// Ends a part when it has its share of the total work.
void cut_into_parts(int64_t target, BackwardPlan& plan) {
  double total = 0, done = 0;
  for (const AttentionUnit& unit : plan.units) total += static_cast<double>(unit.work());
  const auto count = static_cast<int64_t>(plan.units.size());
  for (int64_t u = 0; u < count; ++u) {
    plan.units[u].part = plan.part_count();
    done += static_cast<double>(plan.units[u].work());
    const bool full =
        total > 0 && done * static_cast<double>(target) >= total * static_cast<double>(plan.part_count() + 1);
    if (full || u + 1 == count) plan.parts.push_back(u + 1);
  }
}

}  // namespace

std::vector<AttentionUnit> forward_units(const std::vector<int64_t>& q_offsets, const std::vector<int64_t>& k_offsets,
                                         int64_t heads) {
  std::vector<AttentionUnit> units;
  for (size_t b = 0; b + 1 < q_offsets.size(); ++b) {
    for (int64_t i = q_offsets[b]; i < q_offsets[b + 1]; i += kQueryBlock) {
      units.push_back({static_cast<int64_t>(b), i, std::min(i + kQueryBlock, q_offsets[b + 1]), k_offsets[b],
                       k_offsets[b + 1], 0, heads, 0, 0, 0});
    }
  }
  return units;
}

BackwardPlan backward_plan(const std::vector<int64_t>& q_offsets, const std::vector<int64_t>& k_offsets, int64_t heads,
                           int64_t c, int64_t cv, SharedWidths shared, bool rounded) {
  const int64_t nq = q_offsets.back(), nk = k_offsets.back();
  Allowance allowance(static_cast<double>(heads * (nq * c + nk * (c + cv))), rounded);
  const int64_t target = ceil_div(kTargetUnits, equal_items(q_offsets, k_offsets));
  BackwardPlan plan;
  plan.splits = allowance.take(std::min(target, heads), nq * shared.query + nk * shared.key);
  const int64_t more = std::min(ceil_div(target, plan.splits), largest_blocks(q_offsets));
  plan.groups = allowance.take(more, nk * (heads * (c + cv) + plan.splits * shared.key));
  for (size_t b = 0; b + 1 < q_offsets.size(); ++b) {
    const int64_t blocks = ceil_div(q_offsets[b + 1] - q_offsets[b], kQueryBlock);
    const int64_t step = std::max<int64_t>(1, ceil_div(blocks, plan.groups)) * kQueryBlock;
    for (int64_t g = 0; g < plan.groups; ++g) {
      const int64_t begin = std::min(q_offsets[b] + g * step, q_offsets[b + 1]);
      const int64_t end = std::min(begin + step, q_offsets[b + 1]);
      for (int64_t s = 0; begin < end && s < plan.splits; ++s) {
        plan.units.push_back({static_cast<int64_t>(b), begin, end, k_offsets[b], k_offsets[b + 1],
                              heads * s / plan.splits, heads * (s + 1) / plan.splits, s, g, 0});
      }
    }
  }
  cut_into_parts(std::max(kMinParts, allowance.take(kTargetParts, shared.part)), plan);
  return plan;
}

}  // namespace geosft
