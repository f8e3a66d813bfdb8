// SPDX-License-Identifier: Apache-2.0
#include <iomanip>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/tools/bench/bench_tool.h"
#include "tools/bench/polynomial_errors.h"

namespace geosft::bench::test::test_errors_command {

using Catch::Contains;

TEST_CASE("errors prints a table by degree and score", "[bench]") {
  const std::string text = run_bench_well({"errors", "--layers", "1", "--scores", "0.5,1", "--degrees", "2,4"}).out;
  CHECK(std::count(text.begin(), text.end(), '\n') == 2 + 4);
  // Each row holds the largest errors of the four networks.
  for (const double score : {0.5, 1.0}) {
    for (const int64_t degree : {2, 4}) {
      NetworkErrors e;
      for (const bool causal : {false, true}) {
        for (const bool cross_entropy : {false, true}) {
          e.raise(network_errors({1, 2, score, causal, cross_entropy}, degree));
        }
      }
      std::ostringstream row;
      row << "| 1 | " << score << " | " << degree << std::scientific << std::setprecision(0);
      for (const double error : {e.out, e.x, e.prompt, e.w_q, e.w_k, e.w_v, e.w_o}) row << " | " << error;
      CHECK_THAT(text, Contains(row.str() + " |\n"));
    }
  }
}

TEST_CASE("errors gives the same numbers to programs, each network or the worst of all", "[bench]") {
  const auto json = [](std::vector<std::string> words) { return nlohmann::json::parse(run_bench_well(words).out); };
  const std::vector<std::string> words{"errors", "--json", "--layers", "2", "--degrees", "4"};
  const nlohmann::json all = json(words);
  REQUIRE(all.size() == 1);
  std::vector<std::string> more = words;
  more.emplace_back("--each");
  const nlohmann::json each = json(more);
  REQUIRE(each.size() == 4);
  CHECK(each[3]["network"] == "causal, cross entropy");
  double maximum = 0;
  for (const nlohmann::json& one : each) maximum = std::max(maximum, one["gradients"]["w_q"].get<double>());
  CHECK(all[0]["gradients"]["w_q"] == maximum);
  CHECK(each[0]["out"].get<double>() == Approx(network_errors({2, 2, 1.0, false, false}, 4).out).epsilon(1e-6));
}

TEST_CASE("errors takes the largest degree that there is, and the paper's gradient", "[bench]") {
  const auto first = [](std::vector<std::string> words) {
    words.insert(words.begin(), {"errors", "--json", "--layers", "1", "--heads", "1"});
    return nlohmann::json::parse(run_bench_well(words).out)[0];
  };
  const nlohmann::json highest = first({"--degrees", "11"});
  CHECK(highest["degree"] == 11);
  CHECK(highest["gradients"]["w_q"] < 1e-9);
  const nlohmann::json own = first({"--degrees", "2"}), paper = first({"--degrees", "2", "--gradient", "paper"});
  CHECK(own["gradient"] == "exact");
  CHECK(paper["gradient"] == "paper");
  CHECK(paper["out"] == own["out"]);
  CHECK(paper["gradients"]["w_q"] < own["gradients"]["w_q"]);  // at one degree it is nearer to softmax's
  CHECK(paper["gradients"]["w_q"] > 0);
}

TEST_CASE("errors takes heads of other widths, and centres keys where no mask is", "[bench]") {
  const std::string out = run_bench_well({"errors", "--json", "--each", "--layers", "1", "--channels", "4", "--scores",
                                          "4", "--degrees", "12", "--center", "--mean", "2"})
                              .out;
  const nlohmann::json rows = nlohmann::json::parse(out);
  REQUIRE(rows.size() == 2);
  CHECK(rows[0]["network"] == "squares");
  CHECK(rows[1]["network"] == "cross entropy");
  CHECK(rows[0]["channels"] == 4);
  CHECK(rows[0]["center"] == true);
  CHECK(rows[0]["mean"] == 2);
  const ErrorNetwork network{.heads = 2, .largest_score = 4, .channels = 4, .center = true, .mean = 2};
  CHECK(rows[0]["gradients"]["w_q"].get<double>() == Approx(network_errors(network, 12).w_q).epsilon(1e-6));
}

TEST_CASE("errors has columns for the feed-forward part", "[bench]") {
  const std::vector<std::string> words{"errors", "--layers", "1", "--degrees", "4", "--feed-forward"};
  const std::string text = run_bench_well(words).out;
  CHECK_THAT(text, Contains("| dW_O | dW_1 | dW_2 |"));
  for (const std::string& line :
       {text.substr(0, text.find('\n')), text.substr(text.rfind('\n', text.size() - 2) + 1)}) {
    CHECK(std::count(line.begin(), line.end(), '|') == 13);
  }
  std::vector<std::string> more = words;
  more.emplace_back("--json");
  const nlohmann::json row = nlohmann::json::parse(run_bench_well(more).out)[0];
  CHECK(row["feed_forward"] == true);
  CHECK(row["gradients"]["w_1"] > 0);
  CHECK(row["gradients"]["w_2"] > 0);
}

TEST_CASE("errors refuses what it cannot compute", "[bench]") {
  require_wrong_use({"errors", "--degrees", "40"}, {"--degrees", "40"});
  require_wrong_use({"errors", "--degrees", "12"}, {"--degrees", "12", "8 channels", "125970"});
  require_wrong_use({"errors", "--degrees", "37", "--channels", "4"}, {"--degrees", "37", "4 channels", "101270"});
  require_wrong_use({"errors", "--degrees", "100001", "--channels", "1"}, {"--degrees", "100001"});
  require_wrong_use({"errors", "--channels", "0"}, {"--channels", "0"});
  require_wrong_use({"errors", "--mean", "-1"}, {"--mean", "-1"});
  require_wrong_use({"errors", "--device", "cuda"}, {"--device"});
  require_wrong_use({"errors", "--gradient", "none"}, {"--gradient", "none"});
  require_wrong_use({"errors", "--scores", "0"}, {"--scores"});
}

}  // namespace geosft::bench::test::test_errors_command
