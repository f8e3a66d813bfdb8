// SPDX-License-Identifier: Apache-2.0
// Cases of primal_attention and what it is held to: its definition, head by head and item by item, n x n,
// differentiated by autograd.
#pragma once

#include "geometry/packed.h"
#include "models/ops/primal_attention.h"
#include "tests/models/ops/attention_cases.h"

namespace geosft::test {

// The arguments that are no tensors; eps is in Arguments.
struct PrimalNumbers {
  std::vector<int64_t> pool = {};
  bool linear = false;
  std::optional<double> scale = std::nullopt;
};

inline PrimalNumbers primal_numbers(const Fixture& fixture) {
  PrimalNumbers n;
  n.linear = fixture.number("kernel", 0) != 0;
  if (fixture.has("pool")) {
    const at::Tensor pool = fixture.get("pool");
    n.pool.assign(pool.const_data_ptr<int64_t>(), pool.const_data_ptr<int64_t>() + pool.size(0));
  }
  return n;
}

// A golden case.
struct GoldenPrimal : GoldenAttention {
  explicit GoldenPrimal(const std::string& name)
      : GoldenAttention(name, {"q", "k", "v", "beta", "q_ptr", "k_ptr", "mask_rowptr", "mask_col"}),
        numbers(primal_numbers(fixture)) {}

  PrimalNumbers numbers;
};
inline std::vector<std::string> golden_primal_names() {
  return {"primal_plain_one",          "primal_plain_ragged", "primal_cross_ragged",      "primal_bn_scalar_ragged",
          "primal_bn_heads_one",       "primal_sh_ragged",    "primal_bnsh_ragged",       "primal_linear_one",
          "primal_linear_bnsh_ragged", "primal_sparse_one",   "primal_sparse_bnsh_ragged"};
}

// use(PrimalArguments) of these.
template <class Use>
auto with_arguments(const Arguments& a, const PrimalNumbers& n, const Use& use) {
  const auto beta = a.optional("beta"), q_ptr = a.optional("q_ptr"), k_ptr = a.optional("k_ptr"),
             rowptr = a.optional("mask_rowptr"), col = a.optional("mask_col");
  const auto pool = n.pool.empty() ? at::OptionalIntArrayRef() : at::OptionalIntArrayRef(n.pool);
  return use(PrimalArguments{a["q"], a["k"], a["v"], beta, pool, n.linear ? "linear" : "softmax", a.eps, q_ptr, k_ptr,
                             rowptr, col, n.scale});
}

inline Attention fused_primal(const PrimalNumbers& n) {
  return [n](const Arguments& a) {
    return primal_attention(a["q"], a["k"], a["v"], a.optional("beta"),
                            n.pool.empty() ? at::OptionalIntArrayRef() : at::OptionalIntArrayRef(n.pool),
                            n.linear ? "linear" : "softmax", a.eps, a.optional("q_ptr"), a.optional("k_ptr"),
                            a.optional("mask_rowptr"), a.optional("mask_col"), n.scale);
  };
}

// Means of groups of `factor` rows of one item [n, c].
inline at::Tensor slow_pooling(const at::Tensor& x, int64_t factor) {
  std::vector<at::Tensor> means{x.slice(0, 0, 0)};
  for (int64_t row = 0; row < x.size(0); row += factor) means.push_back(x.slice(0, row, row + factor).mean(0, true));
  return at::cat(means);
}

// Weights [nq, nk] of one item and head before they are divided by their sum.
inline at::Tensor slow_weights(const at::Tensor& q, const at::Tensor& k, const at::Tensor& seen,
                               const PrimalNumbers& n) {
  // Clamps would not do: their gradient at the bound depends on the version of LibTorch.
  const auto phi = [](const at::Tensor& x) { return at::where(x > 0, x + 1, x.masked_fill(x > 0, 0).exp()); };
  if (n.linear) return at::matmul(phi(q), phi(k).t());
  const double scale = n.scale.value_or(1.0 / std::sqrt(static_cast<double>(q.size(1))));
  const at::Tensor logits = at::matmul(q, k.t()) * scale;
  const at::Tensor largest = logits.detach().masked_fill(seen.logical_not(), -1e30).amax(1, true);
  return (logits - largest).masked_fill(seen.logical_not(), 0).exp() * seen;
}

// Rows [nq, cv] of item b and head s.
inline at::Tensor slow_primal_head(const Arguments& a, const PrimalNumbers& n, const OffsetPair& offsets, int64_t b,
                                   int64_t s, int64_t first_key) {
  at::Tensor q = a["q"].slice(0, offsets.first[b], offsets.first[b + 1]).select(1, s);
  const int64_t factor = n.pool.empty() ? 1 : n.pool[s];
  const auto keys = [&](const char* name) {
    return slow_pooling(a[name].slice(0, offsets.second[b], offsets.second[b + 1]).select(1, s), factor);
  };
  at::Tensor k = keys("k");
  const at::Tensor v = keys("v");
  if (k.size(0) == 0) return at::zeros({q.size(0), v.size(1)}, v.options());
  if (const auto beta = a.optional("beta")) {
    const at::Tensor shift = (beta->dim() == 0 ? *beta : (*beta)[s]) * k.mean(0);
    q = q - shift;
    k = k - shift;
  }
  at::Tensor seen = at::ones({q.size(0), k.size(0)}, at::kBool);
  if (const auto rowptr = a.optional("mask_rowptr")) {
    const int64_t nq = a["q"].size(0), first = offsets.first[b] + (rowptr->size(0) == nq + 1 ? 0 : s * nq);
    seen.zero_();
    for (int64_t i = 0; i < q.size(0); ++i) {
      const auto entry = [&](int64_t e) { return (*rowptr)[first + i + e].item<int64_t>(); };
      seen[i].index_fill_(0, a["mask_col"].slice(0, entry(0), entry(1)) - first_key, 1);
    }
  }
  const at::Tensor weights = slow_weights(q, k, seen, n);
  const at::Tensor sum = weights.sum(1, true) + (n.linear ? a.eps : 0.0);
  return at::matmul(weights, v) / at::where(sum == 0, at::ones_like(sum), sum);
}

inline Attention slow_primal(const PrimalNumbers& n) {
  return [n](const Arguments& a) {
    const OffsetPair offsets =
        packed_offset_pair(a.optional("q_ptr"), a["q"].size(0), "q_ptr", a.optional("k_ptr"), a["k"].size(0), "k_ptr");
    std::vector<at::Tensor> heads;
    for (int64_t s = 0; s < a["q"].size(1); ++s) {
      const int64_t factor = n.pool.empty() ? 1 : n.pool[s];
      std::vector<at::Tensor> items;
      int64_t first_key = 0;
      for (int64_t b = 0; b < offsets.items(); ++b) {
        items.push_back(slow_primal_head(a, n, offsets, b, s, first_key));
        first_key += (offsets.second[b + 1] - offsets.second[b] + factor - 1) / factor;
      }
      heads.push_back(at::cat(items));
    }
    return at::stack(heads, 1);
  };
}

// q, k, v, q_ptr and k_ptr, and beta [h] where asked for.
inline Arguments random_primal(const Sizes& sizes, uint64_t seed, bool recentred = false) {
  Arguments a = random_attention(sizes, seed);
  a.tensors.erase("leak");
  if (recentred) a.tensors["beta"] = at::randn({sizes.heads}, generator(seed + 1), at::kDouble);
  return a;
}

// A random mask, of every head its own or one for all: every third row is empty, every fourth one full.
inline void add_random_mask(Arguments& a, const PrimalNumbers& n, bool a_head, uint64_t seed) {
  const OffsetPair offsets =
      packed_offset_pair(a.optional("q_ptr"), a["q"].size(0), "q_ptr", a.optional("k_ptr"), a["k"].size(0), "k_ptr");
  at::Generator random = generator(seed);
  std::vector<int64_t> rowptr{0}, col;
  for (int64_t s = 0; s < (a_head ? a["q"].size(1) : 1); ++s) {
    const int64_t factor = n.pool.empty() ? 1 : n.pool[s];
    int64_t first_key = 0;
    for (int64_t b = 0; b < offsets.items(); ++b) {
      const int64_t keys = (offsets.second[b + 1] - offsets.second[b] + factor - 1) / factor;
      for (int64_t i = offsets.first[b]; i < offsets.first[b + 1]; ++i) {
        const at::Tensor random_numbers = at::rand({keys}, random) + (i % 4 == 1 ? 1.0 : i % 3 == 0 ? -1.0 : 0.0);
        for (int64_t j = 0; j < keys; ++j) {
          if (random_numbers.const_data_ptr<float>()[j] > 0.5F) col.push_back(first_key + j);
        }
        rowptr.push_back(static_cast<int64_t>(col.size()));
      }
      first_key += keys;
    }
  }
  a.tensors["mask_rowptr"] = at::tensor(rowptr, at::kLong);
  a.tensors["mask_col"] = at::tensor(col, at::kLong);
}

inline const std::vector<std::string>& primal_families() {
  static const std::vector<std::string> names{"softmax", "linear", "masked"};
  return names;
}

// q, k, v of some items, recentred, with heads of the factors 3, 1, 3, 2, and a mask where `family` has one.
struct PrimalCase {
  PrimalCase(const std::string& family, const Sizes& sizes, uint64_t seed)
      : numbers{{3, 1, 3, 2}, family == "linear"}, arguments(random_primal(sizes, seed, true)) {
    numbers.pool.resize(static_cast<size_t>(sizes.heads), 1);
    if (family == "masked") add_random_mask(arguments, numbers, true, seed + 2);
  }
  PrimalNumbers numbers;
  Arguments arguments;
};

inline std::vector<PrimalCase> awkward_primal_cases(const std::string& family) {
  std::vector<PrimalCase> cases;
  for (const Sizes& sizes : awkward_sizes()) {
    if (sizes.heads <= 4) cases.emplace_back(family, sizes, 11);
  }
  return cases;
}

}  // namespace geosft::test
