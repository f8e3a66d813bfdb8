// SPDX-License-Identifier: Apache-2.0
#include "models/ops/sample_pairs.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Parallel.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "geometry/philox.h"
#include "tests/models/ops/sample_cases.h"

namespace geosft::test::test_sample_pairs {
using namespace sample_cases;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// In long double neither softplus(-1000) nor e^1000 leaves the range.
double slow_weight(double a, double b, double tau) {
  const auto power = [&](double x) { return std::pow(std::log1p(std::exp(static_cast<long double>(x))), 1 / tau); };
  return static_cast<double>(power(a) / (power(a) + power(b)));
}

// The same samples by sorting everything; partners are the rest in the order of their random keys.
Samples slow(const at::Tensor& score, int64_t k, const at::Tensor& ptr, bool noise, bool random_partner, double tau,
             const at::Tensor& seeds) {
  std::vector<int64_t> top, partner, offsets{0};
  std::vector<double> weight;
  for (int64_t b = 0; b + 1 < ptr.numel(); ++b) {
    const int64_t first = ptr[b].item<int64_t>(), n = ptr[b + 1].item<int64_t>() - first;
    const uint64_t seed = static_cast<uint64_t>(seeds[b].item<int64_t>());
    std::vector<double> z;
    std::vector<int64_t> rows;
    for (int64_t i = 0; i < n; ++i) {
      z.push_back(score[first + i].item<double>() + (noise ? gumbel(philox(seed, i, 0).first()) : 0.0));
      rows.push_back(i);
    }
    std::stable_sort(rows.begin(), rows.end(), [&](int64_t i, int64_t j) { return z[i] > z[j]; });
    const int64_t count = n == 1 ? 1 : std::min(k, n / 2);
    if (random_partner && n > 1) {
      std::stable_sort(rows.begin() + count, rows.end(),
                       [&](int64_t i, int64_t j) { return philox(seed, i, 0).second() < philox(seed, j, 0).second(); });
    }
    for (int64_t j = 0; j < count; ++j) {
      const int64_t top_row = rows[j], partner_row = n == 1 ? top_row : rows[count + j];
      top.push_back(first + top_row);
      partner.push_back(first + partner_row);
      weight.push_back(top_row == partner_row ? 1.0 : slow_weight(z[top_row], z[partner_row], tau));
    }
    offsets.push_back(static_cast<int64_t>(top.size()));
  }
  return {longs(top), longs(partner), at::tensor(weight, at::kDouble), longs(offsets)};
}

void require_same_samples(const Samples& actual, const Samples& expected, double tolerance, const std::string& what) {
  require_equal(actual.top, expected.top, what + " top");
  require_equal(actual.partner, expected.partner, what + " partner");
  require_equal(actual.sample_ptr, expected.sample_ptr, what + " sample_ptr");
  require_close(actual.weight, expected.weight, tolerance, what + " weight");
}

void require_golden(const std::string& name, at::ScalarType dtype) {
  const Fixture fixture("sample_pairs_" + name);
  const bool wide = dtype == at::kDouble;
  const at::Tensor score = fixture.get("score", dtype).clone().requires_grad_(true);
  const Samples actual = as_samples(sample_pairs(score, fixture.get("k").item<int64_t>(), fixture.optional("ptr"),
                                                 false, false, fixture.number("tau", 1.0)));
  const Samples expected{fixture.get("out.top"), fixture.get("out.partner"), fixture.get("out.weight"),
                         fixture.get("out.sample_ptr")};
  actual.weight.backward(fixture.get("grad_out.weight", dtype));
  if (name == "extreme" && !wide) {
    require_same_samples({actual.top, actual.partner, expected.weight, actual.sample_ptr}, expected, 0, name);
    REQUIRE((actual.weight - expected.weight).abs().max().item<double>() <= 1e-6);
    REQUIRE((score.grad() - fixture.get("grad.score")).abs().max().item<double>() <= 1e-6);
    return;
  }
  require_same_samples(actual, expected, wide ? 1e-10 : 5e-6, name);
  require_close(score.grad(), fixture.get("grad.score"), wide ? 1e-10 : 2e-5, name + " gradient");
}

}  // namespace

TEST_CASE("sample_pairs reproduces the golden cases", "[sample_pairs]") {
  // Measured: 8.7e-16 of 1e-10, 4.5e-8 of 5e-6, 3.3e-8 of 2e-5 that are allowed.
  for (const char* name : {"all_equal", "extreme", "k_ge_n", "one_item", "ragged", "ragged_empty_item", "single_token",
                           "tau", "ties", "underflow"}) {
    require_golden(name, at::kDouble);
    require_golden(name, at::kFloat);
  }
}

TEST_CASE("sample_pairs agrees with sorting everything", "[sample_pairs]") {
  // Measured over 1,000 seeds, at most: 2.3e-16 where 1e-12 is allowed.
  const at::Tensor ptr = longs({0, 1, 1, 8, 10, 13, 63});
  // Halves, so that many scores are equal.
  const at::Tensor score = (normal({63}, 1) * 2).round() / 2;
  const at::Tensor seeds = longs({3, 1, 4, 1, -5, std::numeric_limits<int64_t>::max()});
  for (const int64_t k : {int64_t{1}, int64_t{4}, int64_t{1} << 62}) {
    for (const bool noise : {false, true}) {
      for (const bool random : {false, true}) {
        require_same_samples(as_samples(sample_pairs(score, k, ptr, noise, random, 0.7, std::nullopt, seeds)),
                             slow(score, k, ptr, noise, random, 0.7, seeds), 1e-12, "k " + std::to_string(k));
      }
    }
  }
}

TEST_CASE("the weight of sample_pairs passes gradcheck", "[sample_pairs]") {
  const at::Tensor ptr = longs({0, 9, 10, 10, 25}), seeds = longs({5, 6, 7, 8});
  for (const double tau : {1.0, 0.4}) {
    for (const bool random : {false, true}) {
      require_gradcheck(
          [&](const std::vector<at::Tensor>& in) {
            return as_samples(sample_pairs(in[0], 4, ptr, random, random, tau, std::nullopt, seeds)).weight;
          },
          {normal({25}, 2) * 3});
    }
  }
}

TEST_CASE("a seed fixes the samples of an item whatever else is in the batch", "[sample_pairs]") {
  const at::Tensor item = normal({40}, 3);
  const Samples alone = as_samples(sample_pairs(item, 6, std::nullopt, true, true, 1.0, std::nullopt, longs({77})));
  const at::Tensor batch = at::cat({normal({11}, 4), item, normal({30}, 5)});
  const Samples packed =
      as_samples(sample_pairs(batch, 6, longs({0, 11, 51, 81}), true, true, 1.0, std::nullopt, longs({1, 77, 2})));
  require_equal(packed.top.slice(0, 5, 11) - 11, alone.top, "top");
  require_equal(packed.partner.slice(0, 5, 11) - 11, alone.partner, "partner");
  require_equal(packed.weight.slice(0, 5, 11), alone.weight, "weight");
  const Samples other = as_samples(sample_pairs(item, 6, std::nullopt, true, true, 1.0, std::nullopt, longs({78})));
  REQUIRE_FALSE(at::equal(other.top, alone.top));
}

TEST_CASE("sample_pairs has the same bits on one thread and on two", "[sample_pairs]") {
  const auto [score, ptr] = copies(normal({700}, 6), 20);
  const at::Tensor seeds = at::arange(20, at::kLong);
  const int threads = at::get_num_threads();
  at::set_num_threads(1);
  const Samples one = as_samples(sample_pairs(score, 50, ptr, true, true, 1.0, std::nullopt, seeds));
  at::set_num_threads(2);
  const Samples two = as_samples(sample_pairs(score, 50, ptr, true, true, 1.0, std::nullopt, seeds));
  at::set_num_threads(threads);
  require_equal(two.top, one.top, "top");
  require_equal(two.partner, one.partner, "partner");
  require_equal(two.weight, one.weight, "weight");
}

TEST_CASE("the default generator fixes the samples without seeds", "[sample_pairs]") {
  const at::Tensor score = normal({200}, 9);
  const auto sample = [&] { return as_samples(sample_pairs(score, 20, std::nullopt, true, true)); };
  manual_seed(5);
  const Samples first = sample(), second = sample();
  manual_seed(5);
  const Samples again = sample();
  require_equal(again.top, first.top, "top");
  require_equal(again.partner, first.partner, "partner");
  REQUIRE_FALSE(at::equal(second.partner, first.partner));
}

TEST_CASE("sample_pairs uses no random numbers unless asked to", "[sample_pairs]") {
  const at::Tensor score = normal({30}, 10);
  const at::Tensor before = at::detail::getDefaultCPUGenerator().get_state();
  sample_pairs(score, 4);
  sample_pairs(score, 4, std::nullopt, true, true, 1.0, std::nullopt, longs({1}));
  sample_pairs(score, 4, std::nullopt, true, true, 1.0, generator(1));
  require_equal(at::detail::getDefaultCPUGenerator().get_state(), before, "generator state");
  sample_pairs(score, 4, std::nullopt, true);
  REQUIRE_FALSE(at::equal(at::detail::getDefaultCPUGenerator().get_state(), before));
}

TEST_CASE("sample_pairs of one token, of nothing, and of a strided tensor", "[sample_pairs]") {
  const at::Tensor one = at::tensor({-3.0}, at::kDouble).requires_grad_(true);
  const Samples single = as_samples(sample_pairs(one, int64_t{1} << 62, std::nullopt, true, true));
  require_same_samples(single, {longs({0}), longs({0}), at::ones({1}, at::kDouble), longs({0, 1})}, 0, "one token");
  single.weight.sum().backward();
  require_equal(one.grad(), at::zeros({1}, at::kDouble), "gradient");
  const at::Tensor none = at::empty({0}, at::kDouble);
  REQUIRE(as_samples(sample_pairs(none, 3, std::nullopt, true, true)).top.numel() == 0);
  require_equal(as_samples(sample_pairs(none, 3, longs({0, 0, 0}))).sample_ptr, longs({0, 0, 0}), "sample_ptr");
  const at::Tensor score = normal({20}, 11);
  const at::Tensor strided = at::stack({score, score + 1}, 1).select(1, 0);
  require_same_samples(as_samples(sample_pairs(strided, 5)), as_samples(sample_pairs(score, 5)), 0, "strided");
  require_equal(strided, score, "score");
}

TEST_CASE("sample_pairs stays finite at the ends of the range", "[sample_pairs]") {
  for (const auto dtype : {at::kFloat, at::kDouble}) {
    const at::Tensor score = at::tensor({-1000.0, 1000.0, -1e30, 1e30, -800.0, 0.0}, at::kDouble).to(dtype);
    const at::Tensor leaf = score.clone().requires_grad_(true);
    const Samples samples = as_samples(sample_pairs(leaf, 3));
    samples.weight.sum().backward();
    REQUIRE(at::isfinite(samples.weight).all().item<bool>());
    REQUIRE(at::isfinite(leaf.grad()).all().item<bool>());
  }
}

TEST_CASE("sample_pairs refuses double backward", "[sample_pairs]") {
  const auto weight = [](const std::vector<at::Tensor>& in) { return as_samples(sample_pairs(in[0], 3)).weight; };
  require_no_double_backward(weight, {normal({10}, 12)}, "sample_pairs");
}

TEST_CASE("sample_pairs knows its shapes without values", "[sample_pairs]") {
  const auto on_meta = at::TensorOptions().device(at::kMeta);
  for (const auto& [tokens, count] : {std::pair<int64_t, int64_t>{0, 0}, {1, 1}, {2, 1}, {5, 2}, {8, 3}, {100, 3}}) {
    const Samples samples = as_samples(sample_pairs(at::empty({tokens}, on_meta), 3));
    for (const at::Tensor& each : {samples.top, samples.partner, samples.weight})
      REQUIRE(each.sizes() == at::IntArrayRef{count});
    REQUIRE(samples.weight.scalar_type() == at::kFloat);
    REQUIRE(samples.sample_ptr.sizes() == at::IntArrayRef{2});
    const SampledPairs replaced =
        select_pairs_with_replacement(at::empty({tokens}, on_meta), 3, {}, at::empty({1}, on_meta.dtype(at::kLong)));
    REQUIRE(replaced.top.sizes() == at::IntArrayRef{tokens == 0 ? 0 : 3});
  }
  const at::Tensor score = at::empty({8}, on_meta), ptr = at::empty({3}, on_meta.dtype(at::kLong));
  require_error([&] { sample_pairs(score, 0); }, {"k must"});
  require_error([&] { sample_pairs(score, 3, std::nullopt, true, true, 1.0, std::nullopt, ptr); }, {"seeds", "[1]"});
  // How many samples there are depends on the values of ptr.
  require_error([&] { sample_pairs(score, 3, ptr); }, {"meta"});
}

TEST_CASE("sample_pairs names the argument that is wrong", "[sample_pairs]") {
  const at::Tensor score = normal({7}, 13);
  const at::Tensor nan = score.clone().index_fill(0, longs({2}), std::nan(""));
  for (const at::Tensor& bad : {score.view({7, 1}), at::ones({7}, at::kLong), at::ones({7}, at::kBool), nan,
                                score.clone().index_fill(0, longs({6}), kInfinity)}) {
    require_error([&] { sample_pairs(bad, 2); }, {"score"});
  }
  for (const int64_t k : {0, -1}) require_error([&] { sample_pairs(score, k); }, {"k must"});
  for (const double tau : {0.0, -1.0, std::nan(""), kInfinity}) {
    require_error([&] { sample_pairs(score, 2, std::nullopt, false, false, tau); }, {"tau"});
  }
  for (const at::Tensor& bad :
       {longs({0, 3, 6}), longs({1, 7}), longs({0, 5, 3, 7}), longs({7}), longs({0, 7}).view({1, 2}),
        at::tensor({0, 7}, at::kInt), at::tensor({0, 7}, at::kDouble)}) {
    require_error([&] { sample_pairs(score, 2, bad); }, {"ptr"});
  }
  for (const at::Tensor& bad : {longs({1, 2}), at::tensor({1}, at::kInt), longs({1}).view({1, 1})}) {
    require_error([&] { sample_pairs(score, 2, std::nullopt, true, true, 1.0, std::nullopt, bad); }, {"seeds"});
  }
  require_error([&] { select_pairs(score, 2, std::nullopt, true, false, std::nullopt); }, {"seeds"});
  require_error([&] { select_pairs_with_replacement(score, 0, std::nullopt, longs({1})); }, {"k must"});
}

}  // namespace geosft::test::test_sample_pairs
