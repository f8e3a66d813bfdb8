// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/scaling.h"

#include "tests/support.h"
#include "tests/tools/bench/bench_sizes.h"
#include "tools/bench/catalogue.h"

namespace geosft::bench::test::test_scaling {

TEST_CASE("the exponent of a power law is found", "[bench]") {
  CHECK(fitted_exponent({1, 10, 100}, {5, 500, 50000}) == Approx(2.0));
  CHECK(fitted_exponent({1, 2, 4, 8}, {3, 3, 3, 3}) == Approx(0.0).margin(1e-12));
  using geosft::test::require_error;
  require_error([] { fitted_exponent({1}, {1}); }, {"two"});
  require_error([] { fitted_exponent({1, 2}, {1}); }, {"two"});
  require_error([] { fitted_exponent({1, 2}, {0, 1}); }, {"positive"});
  require_error([] { fitted_exponent({2, 2}, {1, 3}); }, {"different"});
}

TEST_CASE("attention needs memory in proportion to its tokens", "[bench]") {
  std::vector<int64_t> told;
  const Scaling scaling =
      measure_scaling(maxout_over_keys(4), {.width = 16, .heads = 2}, 40000, {.repeats = 1, .seconds = 0}, {1e9, 1e9},
                      [&](int64_t tokens) { told.push_back(tokens); });
  CHECK(scaling.tokens == std::vector<int64_t>{1024, 4096, 16384, 40000});
  CHECK(told == scaling.tokens);
  REQUIRE(scaling.measurements.size() == 4);
  CHECK(scaling.measurements[1].benchmark == "scaling/n4096");
  CHECK(scaling.memory_exponent == Approx(1.0).margin(0.02));
  CHECK_THAT(scaling_text(scaling), Catch::Contains("from 1024 to 40000 tokens"));
}

TEST_CASE("polynomial attention needs memory in proportion to its tokens", "[bench]") {
  const Scaling scaling = measure_scaling(polynomial_over_all(2), {.width = 8, .heads = 2}, 20000,
                                          {.repeats = 1, .seconds = 0}, {1e9, 1e9}, [](int64_t) {});
  CHECK(scaling.tokens == std::vector<int64_t>{1024, 4096, 16384, 20000});
  CHECK(scaling.memory_exponent == Approx(1.0).margin(0.03));
}

TEST_CASE("what is measured on graphs grows in memory as they do", "[bench]") {
  const auto exponent = [](const ScaledImplementation& implementation) {
    return measure_scaling(implementation, {.width = 8, .heads = 2}, 20000, {.repeats = 1, .seconds = 0}, {1e9, 1e9},
                           [](int64_t) {})
        .memory_exponent;
  };
  CHECK(exponent(graph_attention_over_keys(4)) == Approx(1.0).margin(0.15));  // threads keep sums of their own
  CHECK(exponent(walks_on_grid()) == Approx(1.0).margin(0.02));
}

TEST_CASE("the implementations without rivals give what the operators are for", "[bench]") {
  Sizes sizes{.batch = 1, .tokens = 64, .width = 8, .heads = 2};
  const Tensors walks = walks_on_grid()(sizes).run();
  REQUIRE(walks.size() == 1);
  REQUIRE(walks[0].sizes() == at::IntArrayRef({64, 20}));
  // Four edges from every node, none of them a loop: to the next and to the one 8 further, around the end, and back.
  at::Tensor step = at::zeros({64, 64}, at::kDouble);
  for (int64_t i = 0; i < 64; ++i) {
    for (const int64_t by : {1, 8, 56, 63}) step[i][(i + by) % 64] = 0.25;
  }
  at::Tensor power = at::eye(64, at::kDouble);
  for (int64_t t = 0; t < 20; ++t) {
    power = power.matmul(step);
    geosft::test::require_close(walks[0].select(1, t), power.diagonal(), 1e-6, "step " + std::to_string(t + 1), 1.0);
  }
  // What graph_attention is compared with elsewhere: a composite on dense matrices, here of the same random graph.
  sizes.keys = {4};
  const Tensors found = graph_attention_over_keys(4)(sizes).run();
  const Benchmark both = graph_entries(sizes)[1].make();
  REQUIRE(both.implementations[1].align);
  const Tensors dense = both.implementations[1].run();
  REQUIRE((found.size() == 1 + 10 && dense.size() == found.size()));
  for (size_t i = 0; i < found.size(); ++i) {
    geosft::test::require_close(found[i].detach(), both.implementations[1].align(dense[i]).detach(), 1e-4,
                                "result " + std::to_string(i), 1e-2);
  }
}

}  // namespace geosft::bench::test::test_scaling
