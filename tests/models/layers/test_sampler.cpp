// SPDX-License-Identifier: Apache-2.0
#include "models/layers/sampler.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "geometry/philox.h"
#include "models/ops/non_finite_error.h"
#include "tests/support.h"
#include "tests/tensors.h"

namespace geosft::test::test_sampler {
namespace {

// Weighs the given pairs, samples x, and compares values and gradients with the fixture.
void require_golden(const Fixture& fixture, const SampledPairs& sampled, const SamplerOptions& options,
                    at::ScalarType dtype) {
  const bool wide = dtype == at::kDouble;
  const at::Tensor score = fixture.get("score", dtype).clone().requires_grad_(true);
  const at::Tensor x = fixture.get("x", dtype).clone().requires_grad_(true);
  const Pairs pairs = weigh(score, sampled, options);
  const at::Tensor sample = pairs.sample(x);
  sample.backward(fixture.get("grad_out.sample", dtype));
  require_close(pairs.weight, fixture.get("out.weight"), wide ? 1e-10 : 5e-6, "weight");
  require_close(sample, fixture.get("out.sample"), wide ? 1e-10 : 5e-6, "sample");
  require_close(score.grad(), fixture.get("grad.score"), wide ? 1e-10 : 2e-5, "gradient of score");
  require_close(x.grad(), fixture.get("grad.x"), wide ? 1e-10 : 2e-5, "gradient of x");
}

void require_golden_pairs(const std::string& name, SamplerOptions options) {
  const Fixture fixture(name);
  options.tau = fixture.number("tau", 1.0);
  for (const auto dtype : {at::kDouble, at::kFloat}) {
    const at::Tensor noise = fixture.get("noise", dtype);
    const at::Tensor top = fixture.get("top"), partner = fixture.get("partner");
    const at::Tensor added = at::stack({noise.index_select(0, top), noise.index_select(0, partner)});
    require_golden(fixture, {top, partner, added, fixture.get("sample_ptr")}, options, dtype);
  }
}

}  // namespace

TEST_CASE("the sampler's weightings reproduce the golden cases", "[sampler]") {
  // Measured: 6.7e-16 of 1e-10, 1.6e-7 of 5e-6, 8.5e-7 of 2e-5 that are allowed.
  require_golden_pairs("sampler_softplus", {});
  require_golden_pairs("sampler_gumbel_softmax", {.weighting = PairWeighting::gumbel_softmax});
  require_golden_pairs("sampler_hard_straight_through", {.hard = true});
}

TEST_CASE("sampling with replacement reproduces the golden case", "[sampler]") {
  // Measured: 1.0e-16 of 1e-10, 5.6e-8 of 5e-6, 1.1e-7 of 2e-5 that are allowed.
  const Fixture fixture("sampler_with_replacement");
  const at::Tensor top = fixture.get("out.top"), partner = fixture.get("out.partner");
  for (const auto dtype : {at::kDouble, at::kFloat}) {
    const at::Tensor noise = fixture.get("noise_top", dtype), partner_noise = fixture.get("noise_partner", dtype);
    const int64_t samples = noise.size(1);
    const at::Tensor sample = at::arange(top.numel(), at::kLong) % samples;
    const at::Tensor added = at::stack({noise.index({top, sample}), partner_noise.index({partner, sample})});
    require_golden(fixture, {top, partner, added, fixture.get("out.sample_ptr")},
                   {.num_samples = samples, .with_replacement = true}, dtype);
  }
}

TEST_CASE("hard sampling takes the member with the larger weight", "[sampler]") {
  const at::Tensor score = normal({30}, 1), x = normal({30, 4}, 2);
  for (const auto weighting : {PairWeighting::softplus, PairWeighting::gumbel_softmax}) {
    for (const bool with_replacement : {false, true}) {
      SamplingContext context = SamplingContext::seeded();
      const Pairs pairs = sample_tokens(
          score, std::nullopt,
          {.num_samples = 9, .weighting = weighting, .hard = true, .with_replacement = with_replacement}, context);
      const at::Tensor winner = at::where(pairs.weight >= 0.5, pairs.top, pairs.partner);
      require_equal(pairs.sample(x), x.index_select(0, winner), "sample");
      if (!with_replacement) require_equal(winner, pairs.top, "winner");
    }
  }
}

TEST_CASE("the mode of the context decides how tokens are sampled", "[sampler]") {
  const at::Tensor score = normal({50}, 3);
  const SamplerOptions options{.num_samples = 6};
  const auto sampled = [&](SamplingContext context, const SamplerOptions& now) {
    return sample_tokens(score, std::nullopt, now, context);
  };
  const at::Tensor ranks = score.argsort(/*dim=*/0, /*descending=*/true);
  const Pairs greedy = sampled(SamplingContext::greedy(), options);
  require_equal(greedy.top, ranks.slice(0, 0, 6), "greedy top");
  require_equal(greedy.partner, ranks.slice(0, 6, 12), "greedy partner");
  const Pairs seeded = sampled(SamplingContext::seeded(), options);
  require_equal(sampled(SamplingContext::seeded(), options).partner, seeded.partner, "seeded again");
  REQUIRE_FALSE(at::equal(sampled(SamplingContext::seeded(1), options).partner, seeded.partner));
  const Pairs random = sampled(SamplingContext::training(generator(4)), options);
  require_equal(sampled(SamplingContext::training(generator(4)), options).top, random.top, "the same generator");
  REQUIRE_FALSE(at::equal(sampled(SamplingContext::training(generator(5)), options).top, random.top));
  const Pairs still = sampled(SamplingContext::seeded(), {.num_samples = 6, .noise = false});
  require_equal(still.top, std::get<0>(ranks.slice(0, 0, 6).sort()), "without noise, in the order of rows");
  REQUIRE_FALSE(at::equal(still.partner, ranks.slice(0, 6, 12)));
}

TEST_CASE("two scores that change places by rounding do not change the pairs", "[sampler]") {
  const at::Tensor score = normal({40}, 11);
  const at::Tensor ranks = score.argsort(/*dim=*/0, /*descending=*/true);
  at::Tensor nudged = score.clone();
  nudged[ranks[2]] = score[ranks[3]] + 1e-12;
  at::Tensor swapped = score.clone();
  swapped[ranks[2]] = score[ranks[3]] - 1e-12;
  const auto sampled = [&](const at::Tensor& z) {
    SamplingContext context = SamplingContext::seeded();
    return sample_tokens(z, std::nullopt, {.num_samples = 8, .noise = false}, context);
  };
  require_equal(sampled(nudged).top, sampled(swapped).top, "top");
  require_equal(sampled(nudged).partner, sampled(swapped).partner, "partner");
}

TEST_CASE("a pair is weighed with the noise that its members were sampled with", "[sampler]") {
  const at::Tensor score = normal({40}, 12);
  const auto seed = static_cast<uint64_t>(SamplingContext::seeded(3).next_seeds(1, at::kCPU)[0].item<int64_t>());
  std::vector<double> z;
  for (int64_t row = 0; row < 40; ++row) z.push_back(score[row].item<double>() + gumbel(philox(seed, row, 0).first()));
  const auto softplus = [](double x) { return std::log1p(std::exp(x)); };
  for (const auto weighting : {PairWeighting::softplus, PairWeighting::gumbel_softmax}) {
    SamplingContext context = SamplingContext::seeded(3);
    const Pairs pairs = sample_tokens(score, std::nullopt, {.num_samples = 8, .weighting = weighting}, context);
    REQUIRE(pairs.top.size(0) == 8);
    for (int64_t j = 0; j < 8; ++j) {
      const double a = z[pairs.top[j].item<int64_t>()], b = z[pairs.partner[j].item<int64_t>()];
      const bool ratio = weighting == PairWeighting::softplus;
      const double expected = ratio ? softplus(a) / (softplus(a) + softplus(b)) : 1 / (1 + std::exp(b - a));
      CHECK(pairs.weight[j].item<double>() == Approx(expected).epsilon(1e-12));
    }
  }
}

TEST_CASE("hard sampling of two equal scores takes the top", "[sampler]") {
  for (const auto weighting : {PairWeighting::softplus, PairWeighting::gumbel_softmax}) {
    SamplingContext context = SamplingContext::greedy();
    const Pairs pairs = sample_tokens(at::ones({2}, at::kDouble), std::nullopt,
                                      {.num_samples = 1, .weighting = weighting, .hard = true}, context);
    REQUIRE(pairs.weight.item<double>() == 0.5);
    REQUIRE(pairs.sample(at::tensor({3.0, 4.0}, at::kDouble).view({2, 1})).item<double>() == 3.0);
  }
}

TEST_CASE("pairs sample whatever belongs to the tokens with the same weights", "[sampler]") {
  // Measured over 1,000 seeds, at most: 4.8e-16 where 1e-14 is allowed.
  SamplingContext context = SamplingContext::seeded();
  const Pairs pairs = sample_tokens(normal({12}, 6), std::nullopt, {.num_samples = 4}, context);
  const at::Tensor x = normal({12, 3, 2}, 7);
  const at::Tensor p = pairs.weight.view({4, 1, 1});
  require_close(pairs.sample(x), p * x.index_select(0, pairs.top) + (1 - p) * x.index_select(0, pairs.partner), 1e-14,
                "three dimensions");
  require_close(pairs.sample(x.select(2, 0)), pairs.sample(x).select(2, 0), 0, "two dimensions, strided");
}

TEST_CASE("the sampler differentiates through scores and tokens", "[sampler]") {
  const at::Tensor ptr = at::tensor({0, 7, 8, 8, 14}, at::kLong);
  for (const auto weighting : {PairWeighting::softplus, PairWeighting::gumbel_softmax}) {
    require_gradcheck(
        [&](const std::vector<at::Tensor>& in) {
          SamplingContext context = SamplingContext::seeded();
          return sample_tokens(in[0], ptr, {.num_samples = 3, .tau = 0.8, .weighting = weighting}, context)
              .sample(in[1]);
        },
        {normal({14}, 8), normal({14, 2}, 9)});
  }
}

TEST_CASE("the sampler module scores by a linear map", "[sampler]") {
  // Measured: the same bits where 1e-6 is allowed.
  manual_seed(1);
  Sampler sampler(5, SamplerOptions{.num_samples = 3});
  const at::Tensor x = at::randn({9, 5}, generator(10));
  const at::Tensor z = at::mv(x, sampler->projection->weight[0]) + sampler->projection->bias;
  require_close(sampler->score(x), z, 1e-6, "score");
  SamplingContext context = SamplingContext::greedy();
  require_equal(sampler->forward(x, std::nullopt, context).top, z.argsort(0, true).slice(0, 0, 3), "top");
  require_error([] { Sampler(5, SamplerOptions{.num_samples = 0}); }, {"num_samples"});
}

TEST_CASE("the sampler names tokens that are not finite, not their scores", "[sampler]") {
  manual_seed(1);
  Sampler sampler(5, SamplerOptions{.num_samples = 3});
  SamplingContext context = SamplingContext::greedy();
  at::Tensor x = at::randn({9, 5}, generator(10));
  x[4][2] = std::numeric_limits<double>::quiet_NaN();
  x[7][0] = std::numeric_limits<double>::infinity();
  require_error([&] { sampler->forward(x, std::nullopt, context); }, {"x, the tokens", "2 of 9 rows", "row 4"});
  REQUIRE_THROWS_AS(sampler->forward(x, std::nullopt, context), NonFiniteError);
  sampler->projection->weight.data().fill_(std::numeric_limits<double>::infinity());
  require_error(
      [&] {
        sampler->forward(at::ones({9, 5}), std::nullopt, context);
      },
      {"scores x W_S + b_S", "although the tokens x are finite", "weights of the sampler"});
}

TEST_CASE("the sampler refuses options when it is made, and tokens of another width") {
  require_error([] { Sampler(5, SamplerOptions{.num_samples = 0}); }, {"num_samples", "0"});
  require_error([] { Sampler(5, SamplerOptions{.tau = 0.0}); }, {"tau", "0"});
  require_error([] { Sampler(5, SamplerOptions{.tau = std::numeric_limits<double>::infinity()}); }, {"tau", "inf"});
  Sampler sampler(5, SamplerOptions());
  SamplingContext context = SamplingContext::greedy();
  require_error([&] { sampler->forward(at::ones({9, 4}), std::nullopt, context); }, {"x", "[N, 5]", "[9, 4]"});
  require_error([&] { sampler->forward(at::ones({5}), std::nullopt, context); }, {"x", "[N, 5]", "[5]"});
}

TEST_CASE("the sampler draws from scores of half types in float32", "[sampler]") {
  for (const SamplerOptions& options :
       {SamplerOptions{.num_samples = 4}, SamplerOptions{.num_samples = 4, .with_replacement = true},
        SamplerOptions{.num_samples = 4, .weighting = PairWeighting::gumbel_softmax}}) {
    for (const auto type : {at::kHalf, at::kBFloat16}) {
      const at::Tensor half = normal({20}, 3).to(type).requires_grad_(true);
      const at::Tensor exact = half.detach().to(at::kFloat).requires_grad_(true);
      SamplingContext context = SamplingContext::seeded(), same = SamplingContext::seeded();
      const Pairs pairs = sample_tokens(half, std::nullopt, options, context);
      const Pairs expected = sample_tokens(exact, std::nullopt, options, same);
      REQUIRE(pairs.weight.scalar_type() == type);
      require_equal(pairs.top, expected.top, "top");
      require_equal(pairs.partner, expected.partner, "partner");
      require_equal(pairs.weight.detach(), expected.weight.detach().to(type), "weight");
      pairs.weight.sum().backward();
      expected.weight.sum().backward();
      require_equal(half.grad(), exact.grad().to(type), "gradient");
    }
  }
}

}  // namespace geosft::test::test_sampler
