// SPDX-License-Identifier: Apache-2.0
// Declares the kernel variants that led to the forward kernel of maxout attention, in order of development. The last
// variant is the library's operator; the others are used only here.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

// Use once per source: defines geosft::bench::<variant> as the kernel `function`, which is compiled in
// geosft::HWY_NAMESPACE, of the chosen vector target.
#define GEOSFT_LADDER_VARIANT(variant, function)      \
  namespace geosft {                                  \
  HWY_EXPORT(function);                               \
  void bench::variant(const LadderProblem& problem) { \
    HWY_DYNAMIC_DISPATCH(function)(problem);          \
  }                                                   \
  } /* namespace geosft */

namespace geosft::bench {

// Items of equal size, packed as for the operator: q [items, queries, heads, c], k and v [items, keys, heads, c], leak
// [items, keys, heads]; out like q.
struct LadderProblem {
  int64_t items, queries, keys, heads, c;
  const float *q, *k, *v, *leak;
  float* out;
  float eps = 1e-6F;

  int64_t width() const { return heads * c; }
  int64_t elements() const { return items * queries * keys * width(); }
  // Row i of an item.
  const float* query(int64_t item, int64_t i) const { return q + (item * queries + i) * width(); }
  const float* key(int64_t item, int64_t j) const { return k + (item * keys + j) * width(); }
  const float* value(int64_t item, int64_t j) const { return v + (item * keys + j) * width(); }
  float* result(int64_t item, int64_t i) const { return out + (item * queries + i) * width(); }
  // Initial value of a row sum: sum_j softplus(leak_j) + eps of one head.
  float leak_sum(int64_t item, int64_t head) const;
  float scale() const;  // 1 / sqrt(c)

  // pack() transposes up to `stride` queries of one head, from row `first`, to to[c][stride]; unpack() transposes
  // results back and divides each by its row sum `total` [stride].
  void pack(int64_t item, int64_t head, int64_t first, int64_t stride, float* to) const;
  void unpack(int64_t item, int64_t head, int64_t first, int64_t stride, const float* from, const float* total) const;

  // Calls compute(item, head, q, total, out) for the queries of every head in blocks of `stride`: q and out
  // [c][stride], total [stride]. Sums begin with the leak sum, results with zeros; `spare` rows of `out` are not used.
  template <class Compute>
  void each_block(int64_t stride, int64_t spare, const Compute& compute) const {
    std::vector<float> packed(static_cast<size_t>(c * stride)), results(static_cast<size_t>((c + spare) * stride));
    std::vector<float> total(static_cast<size_t>(stride));
    for (int64_t unit = 0; unit < items * heads; ++unit) {
      const int64_t item = unit / heads, head = unit % heads;
      const float leaks = leak_sum(item, head);
      for (int64_t i = 0; i < queries; i += stride) {
        pack(item, head, i, stride, packed.data());
        std::fill(total.begin(), total.end(), leaks);
        std::fill(results.begin(), results.end(), 0.0F);
        compute(item, head, packed.data(), total.data(), results.data());
        unpack(item, head, i, stride, results.data(), total.data());
      }
    }
  }
};

struct KernelVariant {
  std::string name;    // "2 scalar tiles"
  std::string lesson;  // what it taught
  std::function<void(const LadderProblem&)> run;
};

const std::vector<KernelVariant>& ladder();

// The variants, one per file, single-threaded.
void variant_1_broadcast(const LadderProblem& problem);
void variant_2_scalar_tiles(const LadderProblem& problem);
void variant_3_lanes_are_keys(const LadderProblem& problem);
void variant_4_lanes_are_queries(const LadderProblem& problem);
void variant_5_register_tiles(const LadderProblem& problem);
void variant_6_operator(const LadderProblem& problem);

// Scalar reference in double precision: [items, queries, heads, c].
std::vector<double> ladder_reference(const LadderProblem& problem);

// Returns the maximum difference of problem.out from the reference, relative to the maximum of the reference.
double ladder_error(const LadderProblem& problem, const std::vector<double>& reference);

}  // namespace geosft::bench
