// SPDX-License-Identifier: Apache-2.0
#include <ATen/Parallel.h>

#include <catch2/catch.hpp>
#include <map>
#include <utility>
#include <vector>

#include "tests/tools/analyze/analyze_tool.h"
#include "tools/analyze/attention_cost.h"
#include "tools/bench/benchmark.h"

namespace geosft::test::test_cost_command {
namespace {

// A name, in quotes where it holds a comma, and four numbers.
Words row_of(const std::string& line) {
  if (line.front() != '"') return fields_of(line);
  const size_t end = line.find('"', 1);
  return Words{line.substr(1, end - 1)} + fields_of(line.substr(end + 2));
}

}  // namespace

TEST_CASE("costs are measured against tokens and keys for each attention, and fitted") {
  const AnalysisShop shop;
  const Words small = {"--tokens", "128,256", "--keys", "8,16", "--width", "32", "--heads", "4", "--repeats", "1"};
  const std::string out = shop.analyze_well(Words{"cost"} + small);
  const Words sampled = {"maxout",  "maxout with distances", "maxout with edges", "maxout with sinusoids", "linear",
                         "softmax", "polynomial of degree 2"};
  for (const std::string quantity : {"seconds", "bytes"}) {
    for (const std::string& name : sampled) {
      CHECK_THAT(out, Catch::Contains(quantity + " against tokens (16 keys), " + name + ": power "));
      CHECK_THAT(out, Catch::Contains(quantity + " against keys (256 tokens), " + name + ": power "));
    }
    for (const std::string name : {"softmax", "linear", "polynomial of degree 2"}) {
      CHECK_THAT(out, Catch::Contains(quantity + " against tokens (16 keys), " + name + ", all tokens: power "));
    }
  }
  const Words csv = shop.csv();
  REQUIRE(csv.size() == 1 + 7 * 3 + 3 * 2);
  // Memory is that of the same calls here; what is fitted are the numbers that are written.
  at::set_num_threads(1);  // as the program does: each thread has sums of its own
  const auto measured = attention_costs({.width = 32, .heads = 4, .keys = {8, 16}}, {128, 256}, 4096,
                                        {.repeats = 1, .seconds = 0.0}, [](const auto&) {});
  REQUIRE(measured.size() == csv.size() - 1);
  for (const std::string quantity : {"seconds", "bytes"}) {
    std::map<std::string, std::pair<std::vector<double>, std::vector<double>>> curves;
    for (size_t i = 0; i < measured.size(); ++i) {
      const Words fields = row_of(csv[i + 1]);
      INFO(csv[i + 1]);
      REQUIRE(fields.at(0) == measured[i].attention);
      const double tokens = std::stod(fields.at(1)), keys = std::stod(fields.at(2));
      CHECK((tokens == static_cast<double>(measured[i].tokens) && keys == static_cast<double>(measured[i].keys)));
      CHECK(std::stod(fields.at(4)) == measured[i].bytes);
      const double value = std::stod(fields.at(quantity == "seconds" ? 3 : 4));
      const bool all_tokens = measured[i].all_tokens;
      const auto add = [&](const std::string& against, double x) {
        auto& [xs, ys] = curves[quantity + " against " + against + ", " + fields.at(0)];
        xs.push_back(x);
        ys.push_back(value);
      };
      if (all_tokens || keys == 16) add("tokens (16 keys)", tokens);
      if (!all_tokens && tokens == 256) add("keys (256 tokens)", keys);
    }
    CHECK(curves.size() == 7 * 2 + 3);
    for (const auto& [name, curve] : curves) {
      CHECK_THAT(out, Catch::Contains(name + ": power " + slow_power(curve.first, curve.second) + "\n"));
    }
  }
}

}  // namespace geosft::test::test_cost_command
