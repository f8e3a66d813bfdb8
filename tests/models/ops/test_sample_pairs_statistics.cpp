// SPDX-License-Identifier: Apache-2.0
#include "models/ops/sample_pairs.h"
#include "tests/models/ops/sample_cases.h"

namespace geosft::test::test_sample_pairs_statistics {
using namespace sample_cases;

namespace {

// Pearson's statistic of counts against probabilities.
double chi_square(const at::Tensor& counts, const at::Tensor& probability) {
  const at::Tensor expected = probability.to(at::kDouble) * counts.sum();
  return ((counts - expected).square() / expected).sum().item<double>();
}

}  // namespace

TEST_CASE("partners are uniform over the tokens that are not in top", "[sample_pairs]") {
  const int64_t items = 8000;
  const auto [score, ptr] = copies(at::arange(10, at::kDouble), items);
  const Samples samples = as_samples(sample_pairs(score, 2, ptr, false, true, 1.0, generator(7)));
  const at::Tensor top = (samples.top % 10).view({items, 2}), partner = (samples.partner % 10).view({items, 2});
  require_equal(top, longs({9, 8}).expand({items, 2}), "top");
  REQUIRE(partner.max().item<int64_t>() == 7);
  REQUIRE((partner.select(1, 0) != partner.select(1, 1)).all().item<bool>());
  // 7 degrees of freedom: beyond 24.3 once in a thousand.
  for (const int64_t sample : {0, 1}) {
    CHECK(chi_square(at::bincount(partner.select(1, sample), {}, 8), at::full({8}, 0.125)) < 24.3);
  }
}

TEST_CASE("Gumbel noise makes the first token a sample from the softmax of the scores", "[sample_pairs]") {
  const at::Tensor item = at::tensor({0.0, 1.0, -1.0, 0.5, 0.2}, at::kDouble);
  const auto [score, ptr] = copies(item, 10000);
  const Samples samples = as_samples(sample_pairs(score, 1, ptr, true, false, 1.0, generator(8)));
  // 4 degrees of freedom: beyond 18.5 once in a thousand.
  CHECK(chi_square(at::bincount(samples.top % 5, {}, 5), item.softmax(0)) < 18.5);
}

TEST_CASE("samples with replacement follow the softmax independently", "[sample_pairs]") {
  const at::Tensor item = at::tensor({0.0, 1.0, -0.5}, at::kDouble);
  const SampledPairs samples = select_pairs_with_replacement(item, 10000, std::nullopt, longs({14}));
  const at::Tensor softmax = item.softmax(0);
  CHECK(chi_square(at::bincount(samples.top, {}, 3), softmax) < 13.9);  // 2 degrees of freedom, once in a thousand
  CHECK(chi_square(at::bincount(samples.partner, {}, 3), softmax) < 13.9);
  const at::Tensor joint = at::outer(softmax, softmax).flatten();
  CHECK(chi_square(at::bincount(samples.top * 3 + samples.partner, {}, 9), joint) < 26.2);  // 8 degrees of freedom
}

TEST_CASE("sampling with replacement gives k samples for each item that is not empty", "[sample_pairs]") {
  const at::Tensor score = normal({8}, 15).requires_grad_(true);
  const SampledPairs samples = select_pairs_with_replacement(score, 4, longs({0, 1, 1, 8}), longs({1, 2, 3}));
  require_equal(samples.sample_ptr, longs({0, 4, 4, 8}), "sample_ptr");
  REQUIRE(samples.top.slice(0, 4, 8).min().item<int64_t>() >= 1);
  const SampledPairs alone = select_pairs_with_replacement(score.slice(0, 1, 8), 4, std::nullopt, longs({3}));
  require_equal(samples.top.slice(0, 4, 8), alone.top + 1, "top");
  require_equal(samples.partner.slice(0, 4, 8), alone.partner + 1, "partner");
  // The first item has one token: weight 1 without gradient.
  const at::Tensor weight = pair_weight(score, samples, 1.0);
  require_equal(weight.slice(0, 0, 4), at::ones({4}, at::kDouble), "weight");
  weight.sum().backward();
  REQUIRE(score.grad()[0].item<double>() == 0.0);
}

TEST_CASE("sampling with replacement refuses a k above the maximum", "[sample_pairs]") {
  const at::Tensor ptr = longs({0, 1, 2, 3, 4}), seeds = longs({1, 2, 3, 4});
  require_error([&] { select_pairs_with_replacement(at::zeros({4}), int64_t{1} << 62, ptr, seeds); },
                {"k must be at most", "4611686018427387904"});
}

}  // namespace geosft::test::test_sample_pairs_statistics
