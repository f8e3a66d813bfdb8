// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/ladder/ladder.h"

#include <algorithm>
#include <cmath>

namespace geosft::bench {
namespace {

double softplus(double x) {
  return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x)));
}

// Returns relu(S) of one query, key and head.
double positive_score(const LadderProblem& p, int64_t item, int64_t i, int64_t j, int64_t head) {
  const float *q = p.query(item, i) + head * p.c, *k = p.key(item, j) + head * p.c;
  double sum = 0;
  for (int64_t t = 0; t < p.c; ++t) sum += std::max(q[t], k[t]);
  return std::max(0.0, sum / std::sqrt(static_cast<double>(p.c)));
}

// Computes one row of the result for one head.
void reference_row(const LadderProblem& p, int64_t item, int64_t i, int64_t head, double* row) {
  double total = p.eps;
  for (int64_t j = 0; j < p.keys; ++j) {
    const double weight = positive_score(p, item, i, j, head);
    total += weight + softplus(p.leak[(item * p.keys + j) * p.heads + head]);
    for (int64_t t = 0; t < p.c; ++t) row[t] += weight * p.value(item, j)[head * p.c + t];
  }
  for (int64_t t = 0; t < p.c; ++t) row[t] /= total;
}

}  // namespace

float LadderProblem::leak_sum(int64_t item, int64_t head) const {
  double sum = eps;
  for (int64_t j = 0; j < keys; ++j) sum += softplus(leak[(item * keys + j) * heads + head]);
  return static_cast<float>(sum);
}

float LadderProblem::scale() const {
  return static_cast<float>(1.0 / std::sqrt(static_cast<double>(c)));
}

void LadderProblem::pack(int64_t item, int64_t head, int64_t first, int64_t stride, float* to) const {
  for (int64_t i = 0; i < std::min(stride, queries - first); ++i) {
    for (int64_t t = 0; t < c; ++t) to[t * stride + i] = query(item, first + i)[head * c + t];
  }
}

void LadderProblem::unpack(int64_t item, int64_t head, int64_t first, int64_t stride, const float* from,
                           const float* total) const {
  for (int64_t i = 0; i < std::min(stride, queries - first); ++i) {
    for (int64_t t = 0; t < c; ++t) result(item, first + i)[head * c + t] = from[t * stride + i] / total[i];
  }
}

const std::vector<KernelVariant>& ladder() {
  static const std::vector<KernelVariant> variants = {
      {"1 broadcast", "n x k x c and n x k numbers go through memory: the score costs more to move than to compute",
       variant_1_broadcast},
      {"2 scalar tiles", "no memory any more, but a sum in order keeps the compiler from using vectors",
       variant_2_scalar_tiles},
      {"3 lanes are keys", "packed keys make the score run in vectors; its row sum and the product with V do not fit",
       variant_3_lanes_are_keys},
      {"4 lanes are queries", "every sum is lane-wise; one accumulator waits for its own last addition",
       variant_4_lanes_are_queries},
      {"5 register tiles", "several accumulators hide that wait, and every load serves several of them",
       variant_5_register_tiles},
      {"6 the operator", "an attention bias, any sizes, ragged batches, threads, gradients: for nothing on this path",
       variant_6_operator}};
  return variants;
}

std::vector<double> ladder_reference(const LadderProblem& p) {
  std::vector<double> out(static_cast<size_t>(p.items * p.queries * p.width()), 0.0);
  for (int64_t row = 0; row < p.items * p.queries; ++row) {
    for (int64_t head = 0; head < p.heads; ++head) {
      reference_row(p, row / p.queries, row % p.queries, head, out.data() + row * p.width() + head * p.c);
    }
  }
  return out;
}

double ladder_error(const LadderProblem& p, const std::vector<double>& reference) {
  double difference = 0, largest = 0;
  for (size_t i = 0; i < reference.size(); ++i) {
    // NaN must count as a difference.
    const double here = std::abs(static_cast<double>(p.out[i]) - reference[i]);
    difference = here <= difference ? difference : here;
    largest = std::max(largest, std::abs(reference[i]));
  }
  return difference / largest;
}

}  // namespace geosft::bench
