// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <map>
#include <sstream>
#include <utility>
#include <vector>

#include "tests/tools/analyze/analyze_tool.h"

namespace geosft::test::test_family_command {
namespace {

// Of a layer of 16 channels in four heads, loop by loop: a map of queries and one of results, maps of the pooled keys
// and values of each head, scores and sums.
double slow_work(int64_t tokens, const std::vector<int64_t>& factors) {
  double work = 0;
  for (int64_t token = 0; token < tokens; ++token) work += 2 * 16 * 16;
  for (const int64_t factor : factors) {
    for (int64_t key = 0; key < tokens; key += factor) {
      work += 2 * 16 * 4;
      for (int64_t query = 0; query < tokens; ++query) work += 4 + 4;
    }
  }
  return work;
}

}  // namespace

TEST_CASE("the members of the primal-dual family are drawn against tokens") {
  const AnalysisShop shop;
  const Words small = {"--tokens", "64,128", "--attentions", "softmax,bn_sh", "--width", "16", "--heads", "4"};
  const std::string out = shop.analyze_well(Words{"family", "--repeats", "1"} + small);
  for (const char* what : {"multiply-adds", "seconds", "bytes"}) {
    CHECK_THAT(out, Catch::Contains(std::string(what) + " against tokens, bn_sh: power "));
  }
  CHECK_THAT(out, Catch::Contains("\nsoftmax beside softmax at 128 tokens: multiply-adds 1, seconds 1, bytes 1\n"));
  CHECK_THAT(out, Catch::Contains("\nbn_sh beside softmax at 128 tokens: multiply-adds 0."));
  const Words csv = shop.csv();
  REQUIRE(csv.size() == 1 + 2 * 2);
  // Rows are softmax and bn_sh with 64 tokens, then with 128.
  std::map<std::string, std::vector<double>> columns;  // multiply-adds, seconds and bytes of bn_sh
  for (size_t i = 1; i < csv.size(); ++i) {
    const Words fields = fields_of(csv[i]);
    INFO(csv[i]);
    CHECK(fields.at(0) == (i % 2 == 1 ? "softmax" : "bn_sh"));
    CHECK(fields.at(1) == (i < 3 ? "64" : "128"));
    CHECK(std::stod(fields.at(2)) == slow_work(i < 3 ? 64 : 128, i % 2 == 1 ? std::vector<int64_t>{1, 1, 1, 1}
                                                                            : std::vector<int64_t>{1, 1, 2, 4}));
    for (size_t c = 2; c < 5; ++c) columns[fields.at(0) + std::to_string(c)].push_back(std::stod(fields.at(c)));
  }
  std::ostringstream shares;
  shares << "\nbn_sh beside softmax at 128 tokens: multiply-adds " << columns["bn_sh2"][1] / columns["softmax2"][1]
         << ", seconds " << columns["bn_sh3"][1] / columns["softmax3"][1] << ", bytes "
         << columns["bn_sh4"][1] / columns["softmax4"][1] << "\n";
  CHECK_THAT(out, Catch::Contains(shares.str()));
  for (const auto& [what, column] :
       {std::pair("multiply-adds", "2"), std::pair("seconds", "3"), std::pair("bytes", "4")}) {
    for (const std::string name : {"softmax", "bn_sh"}) {
      CHECK_THAT(out, Catch::Contains(std::string(what) + " against tokens, " + name + ": power " +
                                      slow_power({64, 128}, columns[name + column]) + "\n"));
    }
  }
  shop.analyze_well(Words{"family", "--repeats", "1", "--pass", "inference"} + small);
  CHECK(shop.csv().size() == 1 + 2 * 2);
  CHECK(shop.analyze({"family", "--attentions", "cosine"}).exit == 2);
}

}  // namespace geosft::test::test_family_command
