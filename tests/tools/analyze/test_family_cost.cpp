// SPDX-License-Identifier: Apache-2.0
#include "tools/analyze/family_cost.h"

#include <catch2/catch.hpp>
#include <map>

#include "tools/analyze/analysis.h"

namespace geosft::test::test_family_cost {

TEST_CASE("multiply-adds are those of the maps and of the pairs that heads look at") {
  PrimalOptions options;
  const double maps = 4.0 * 10 * 8 * 8;
  CHECK(primal_multiply_adds(options, 8, 2, 10) == maps + 2 * 2 * 4 * 100);
  options.pool = {1, 3};  // the second head has 4 keys
  CHECK(primal_multiply_adds(options, 8, 2, 10) == 2 * 640 + 2 * (10 + 4) * 8 * 4 + 2 * 4 * (100 + 40));
  options.linear = true;
  CHECK(primal_multiply_adds(options, 8, 2, 10) == 2 * 640 + 2 * (10 + 4) * 8 * 4 + (20 + 14) * 4 * 5);
  options = {};
  options.mask = MaskKind::window;
  options.mask_size = 1;
  CHECK(primal_multiply_adds(options, 8, 2, 10) == maps + 2 * 2 * 4 * 28);
  options.pool = {5, 5};  // the fifth token and the sixth see both groups
  CHECK(primal_multiply_adds(options, 8, 2, 10) == 2 * 640 + 2 * 2 * 2 * 8 * 4 + 2 * 2 * 4 * 12);
  options = {};
  options.convolution = ConvolutionKind::sequence;
  options.convolution_size = 3;
  CHECK(primal_multiply_adds(options, 8, 2, 10) == maps + 2 * 2 * 4 * 100 + 2 * 10 * 8 * 3);
  options.convolution = ConvolutionKind::grid;
  CHECK(primal_multiply_adds(options, 8, 2, 10) == maps + 2 * 2 * 4 * 100 + 2 * 10 * 8 * 9);
}

TEST_CASE("every member is measured at every size") {
  const bench::Sizes sizes{.batch = 1, .width = 16, .heads = 4};
  int told = 0;
  const auto costs = family_costs(primal_names(), sizes, {64, 96}, bench::Pass::both, {.repeats = 1, .seconds = 0.0},
                                  [&](const FamilyCost& cost) {
                                    ++told;
                                    CHECK(cost.seconds > 0);
                                    CHECK(cost.bytes > 0);
                                  });
  CHECK(told == static_cast<int>(2 * primal_names().size()));
  std::map<std::string, double> work;
  for (const FamilyCost& cost : costs) {
    if (cost.tokens == 96) work[cost.attention] = cost.multiply_adds;
  }
  CHECK(work.at("sh") < work.at("softmax"));
  CHECK(work.at("linear_sh") < work.at("linear"));
  CHECK(work.at("sparse") < work.at("softmax"));
}

TEST_CASE("inference holds less than training") {
  const bench::Sizes sizes{.batch = 1, .width = 64, .heads = 2};
  const auto bytes = [&](bench::Pass pass) {
    return family_costs({"softmax", "bn_sh"}, sizes, {1024}, pass, {.repeats = 1, .seconds = 0.0}, [](const auto&) {});
  };
  const auto training = bytes(bench::Pass::both), inference = bytes(bench::Pass::forward);
  CHECK(inference[0].bytes < training[0].bytes);
  CHECK(inference[1].bytes < training[1].bytes);
}

TEST_CASE("work grows with the square of the tokens, of sparse attention with strides of their root, or linearly") {
  const std::vector<double> tokens = {4096, 16384};
  for (const std::string& name : primal_names()) {
    INFO(name);
    std::vector<double> work;
    for (const double n : tokens)
      work.push_back(primal_multiply_adds(primal_options(name, 4), 64, 4, static_cast<int64_t>(n)));
    // Sparse attention sees 2 sqrt(n) tokens of n; its other terms are linear.
    const double expected = name.starts_with("linear") ? 1.0 : name.starts_with("sparse") ? 1.5 : 2.0;
    CHECK(power_law(tokens, work).exponent == Approx(expected).margin(name.starts_with("sparse") ? 0.25 : 0.05));
  }
}

TEST_CASE("memory of every member is linear in the tokens, apart from the list of pairs of a strided mask") {
  const bench::Sizes sizes{.batch = 1, .width = 64, .heads = 4};
  std::map<std::string, std::vector<double>> bytes;
  family_costs(primal_names(), sizes, {512, 2048}, bench::Pass::both, {.repeats = 1, .seconds = 0.0},
               [&](const FamilyCost& cost) { bytes[cost.attention].push_back(cost.bytes); });
  REQUIRE(bytes.size() == primal_names().size());
  for (const auto& [name, found] : bytes) {
    INFO(name);
    const double exponent = power_law({512, 2048}, found).exponent;
    if (name.starts_with("sparse")) {  // 2 sqrt(n) pairs per token are listed
      CHECK((exponent > 0.85 && exponent < 1.5));
    } else {
      CHECK(exponent == Approx(1.0).margin(0.15));
    }
  }
}

}  // namespace geosft::test::test_family_cost
