// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/follow.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "tests/data/files.h"
#include "tests/tools/bench/labelled_texts.h"

namespace geosft::bench::test::test_follow {
namespace {

ByteDocuments documents() {
  const geosft::test::TemporaryFolder folder;
  write_labelled_texts(folder / "texts.tsv", 40);
  return read_documents(folder / "texts.tsv", 16, 128);
}

double mean_of_last(const LossCurve& curve) {
  double sum = 0;
  for (size_t i = curve.losses.size() - 5; i < curve.losses.size(); ++i) sum += curve.losses[i] / 5;
  return sum;
}

}  // namespace

TEST_CASE("training and prompt tuning with polynomial attention follow exact attention", "[bench]") {
  std::vector<int64_t> told;
  const FollowOptions options{.width = 16,
                              .heads = 2,
                              .layers = 1,
                              .polynomial = {.degree = 6},
                              .steps = 30,
                              .batch = 4,
                              .learning_rate = 3e-3,
                              .prompt_tokens = 4,
                              .prompt_steps = 60};
  const FollowResult result = follow(documents(), options, [&](int64_t done) { told.push_back(done); });
  CHECK(told.size() == 90);
  CHECK(told.back() == 89);
  REQUIRE(result.training.exact.losses.size() == 30);
  REQUIRE(result.prompt.polynomial.losses.size() == 60);
  CHECK(result.training.largest_difference() > 0);
  CHECK(result.training.largest_difference() < 5e-3);  // degree 0 parts by more: see below
  CHECK(result.prompt.largest_difference() < 5e-3);
  CHECK(mean_of_last(result.training.polynomial) < 0.8 * result.training.polynomial.losses.front());
  CHECK(mean_of_last(result.prompt.polynomial) < 0.9 * result.prompt.polynomial.losses.front());
  REQUIRE(result.degrees.size() == 1);
  CHECK(result.degrees[0].degree == 6);
}

TEST_CASE("a polynomial of degree 0 does not follow, and no prompt is tuned without steps", "[bench]") {
  const auto difference = [&](int64_t degree) {
    const FollowOptions options{.width = 16,
                                .heads = 2,
                                .layers = 2,
                                .polynomial = {.degree = degree},
                                .steps = 20,
                                .batch = 4,
                                .learning_rate = 3e-3,
                                .prompt_steps = 0};
    const FollowResult result = follow(documents(), options, [](int64_t) {});
    CHECK(result.prompt.exact.losses.empty());
    return result.training.largest_difference();
  };
  const double mean = difference(0), sixth = difference(6);
  CHECK(mean > 1e-5);
  CHECK(10 * sixth <= mean);
}

TEST_CASE("the difference of losses keeps what is no number", "[bench]") {
  CHECK(Followed{{{1, 3}, 0}, {{2, 1}, 0}}.largest_difference() == 2);
  CHECK(std::isnan(Followed{{{1, std::nan(""), 9}, 0}, {{2, 1, 3}, 0}}.largest_difference()));
}

}  // namespace geosft::bench::test::test_follow
