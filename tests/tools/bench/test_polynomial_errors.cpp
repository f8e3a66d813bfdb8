// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/polynomial_errors.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <tuple>

namespace geosft::bench::test::test_polynomial_errors {
namespace {

// The largest error of a gradient of such networks, with either loss and, unless keys are centred, either mask.
double largest_of_all(ErrorNetwork network, int64_t degree) {
  NetworkErrors errors;
  for (const bool causal : {false, true}) {
    if (causal && network.center) continue;
    for (const bool cross_entropy : {false, true}) {
      network.causal = causal;
      network.cross_entropy = cross_entropy;
      errors.raise(network_errors(network, degree));
    }
  }
  return errors.largest_gradient();
}

}  // namespace

TEST_CASE("gradients through networks of polynomial attention are as exact as the degree", "[bench]") {
  const std::map<int64_t, double> expected{{2, 5e-2}, {4, 1e-3}, {6, 3e-5}, {8, 4e-7}, {10, 4e-9}};
  for (const auto& [layers, heads] : {std::pair(1, 1), std::pair(2, 2), std::pair(4, 2)}) {
    for (const bool causal : {false, true}) {
      for (const bool cross_entropy : {false, true}) {
        for (const auto& [degree, order] : expected) {
          const NetworkErrors errors = network_errors({layers, heads, 1.0, causal, cross_entropy}, degree);
          INFO("layers " << layers << ", heads " << heads << (causal ? ", causal" : "")
                         << (cross_entropy ? ", cross entropy" : ", squares") << ", R 1, degree " << degree);
          const double maximum = 3 * static_cast<double>(layers) * order;  // they add up over the layers
          CHECK(errors.largest_gradient() < maximum);
          CHECK(errors.out < maximum);
          CHECK(errors.largest_gradient() > 0);
        }
      }
    }
  }
}

TEST_CASE("normalisation and a feed-forward part keep the gradients as exact as the degree", "[bench]") {
  for (const int64_t layers : {1, 2, 4}) {
    for (const auto& [degree, order] : std::map<int64_t, double>{{4, 1e-3}, {8, 4e-7}}) {
      ErrorNetwork network{.layers = layers, .heads = 2};
      network.feed_forward = true;
      const NetworkErrors errors = network_errors(network, degree);
      INFO("layers " << layers << ", degree " << degree);
      CHECK(errors.largest_gradient() < 3 * static_cast<double>(layers) * order);
      CHECK(errors.w_1 > 0);
      CHECK(errors.w_2 > 0);
      network.feed_forward = false;
      CHECK(network_errors(network, degree).w_1 == 0);
    }
  }
}

TEST_CASE("even degrees take larger scores at a larger degree", "[bench]") {
  for (const auto& [largest_score, degree, maximum] :
       {std::tuple(0.5, 6, 1e-6), std::tuple(1.0, 10, 1e-6), std::tuple(2.0, 10, 1e-5)}) {
    INFO("R " << largest_score << ", degree " << degree);
    CHECK(network_errors({1, 1, largest_score, false, false}, degree).largest_gradient() < maximum);
  }
}

TEST_CASE("the first even degree whose gradients are within 1e-6 grows with the scores", "[bench]") {
  for (const auto& [largest_score, degree] :
       {std::pair(0.5, 6), std::pair(1.0, 8), std::pair(2.0, 10), std::pair(4.0, 16)}) {
    INFO("R " << largest_score << ", degree " << degree);
    const ErrorNetwork network{.heads = 2, .largest_score = largest_score, .channels = 4};
    CHECK(largest_of_all(network, degree) < 1e-6);
    CHECK(largest_of_all(network, degree - 2) > 1e-6);
  }
}

TEST_CASE("of tokens that share a mean, centred keys take a lower degree", "[bench]") {
  ErrorNetwork network{.heads = 2, .largest_score = 4, .channels = 4, .mean = 2};
  CHECK(largest_of_all(network, 12) > 1e-5);
  CHECK(largest_of_all(network, 16) < 1e-6);
  network.center = true;
  CHECK(largest_of_all(network, 10) > 1e-6);
  CHECK(largest_of_all(network, 12) < 1e-6);
  network.causal = true;
  CHECK_THROWS_WITH(network_errors(network, 12), Catch::Contains("center") && Catch::Contains("causal"));
}

TEST_CASE("the larger errors are kept", "[bench]") {
  NetworkErrors errors{.out = 1, .x = 2, .w_q = 3};
  errors.raise({.out = 2, .x = 1, .prompt = 5, .w_k = 4, .w_v = 7, .w_o = 6});
  CHECK(errors.out == 2);
  CHECK(errors.x == 2);
  CHECK(errors.w_q == 3);
  CHECK(errors.largest_gradient() == 7);
}

TEST_CASE("an error that is no number is kept", "[bench]") {
  const NetworkErrors broken{.w_k = std::nan("")}, good{.w_q = 1, .w_k = 2};
  for (const bool first : {false, true}) {
    NetworkErrors errors = first ? broken : good;
    errors.raise(first ? good : broken);
    CHECK(std::isnan(errors.w_k));
    CHECK(std::isnan(errors.largest_gradient()));
    CHECK(errors.w_q == 1);
  }
}

}  // namespace geosft::bench::test::test_polynomial_errors
