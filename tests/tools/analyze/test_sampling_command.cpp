// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <sstream>

#include "tests/tools/analyze/analyze_tool.h"

namespace geosft::test::test_sampling_command {
namespace {

constexpr int cap_cloud_points = 64, cap_points = 6;

// A ball with normals outwards, but for its first points around the pole: there they lie along the surface, or inwards.
std::string capped_ball(bool inwards, double turned) {
  std::string text;
  for (int i = 0; i < cap_cloud_points; ++i) {
    const double z = 1 - 2 * (i + 0.3) / cap_cloud_points, radius = std::sqrt(1 - z * z);
    const double x = radius * std::cos(2.399963 * i + turned), y = radius * std::sin(2.399963 * i + turned);
    std::array<double, 3> normal = {x, y, z};
    if (i < cap_points) normal = inwards ? std::array{-x, -y, -z} : std::array{-y / radius, x / radius, 0.0};
    const double stretch = 1 + 0.02 * (i * 7 % 5);
    for (const double number : {stretch * x, stretch * y, stretch * z, normal[0], normal[1], normal[2]}) {
      text += std::to_string(number) + " ";
    }
    text += "\n";
  }
  return text;
}

// {train,test}/{inwards,along}: 8 and 2 clouds each.
void write_caps(const std::filesystem::path& root) {
  for (int i = 0; i < 10; ++i) {
    const std::filesystem::path split = root / (i < 8 ? "train" : "test");
    const std::string name = std::to_string(i) + ".xyz";
    write_text(split / "inwards" / name, capped_ball(true, 0.7 * i));
    write_text(split / "along" / name, capped_ball(false, 0.7 * i));
  }
}

}  // namespace

TEST_CASE("the sampler is looked at while a classifier is trained") {
  const AnalysisShop shop;
  const Words lines = lines_of(
      shop.analyze_well(Words{"sampling", "--snapshots", "2,0", "--item", "1", "--repeats", "4"} + shop.tiny()));
  REQUIRE(lines.size() == 2);
  CHECK_THAT(lines[0], Catch::StartsWith("after 0 epochs: "));
  CHECK_THAT(lines[1], Catch::StartsWith("after 2 epochs: "));
  const Words csv = shop.csv();
  REQUIRE(csv.size() == 1 + 2 * 64);
  // Scores of both snapshots, and how often their points were chosen: in each of 4 samples the head takes 16.
  for (size_t taken = 0; taken < 2; ++taken) {
    double low = std::numeric_limits<double>::infinity(), high = -low, chosen = 0;
    for (size_t point = 0; point < 64; ++point) {
      const Words fields = fields_of(csv[1 + 64 * taken + point]);
      CHECK(fields.at(0) == (taken == 0 ? "0" : "2"));
      CHECK(fields.at(1) == std::to_string(point));
      low = std::min(low, std::stod(fields.at(5)));
      high = std::max(high, std::stod(fields.at(5)));
      const double times = 4 * std::stod(fields.at(6));
      CHECK((times == std::round(times) && times >= 0 && times <= 4));
      chosen += times;
    }
    CHECK(chosen == 4 * 16);
    std::ostringstream scores;
    scores << "scores from " << low << " to " << high << "; ";
    CHECK_THAT(lines[taken], Catch::Contains(scores.str()));
  }
  const std::string curves = read_text(shop.out() + "_curves.csv");
  CHECK_THAT(curves, Catch::Contains("\n\"coverage, chosen by the sampler\",2,") &&
                         Catch::Contains("\n\"importance of the points, after 0 epochs\","));
  if (has_gnuplot()) CHECK(std::filesystem::exists(shop.out() + "_curves.svg"));
  const ProcessResult absent = shop.analyze(Words{"sampling", "--item", "600"} + shop.tiny());
  require_tool_failure("geosft-analyze", absent, 2, {"--item", "0 … 5", "600"});
}

TEST_CASE("analyses that train refuse what they do not look at") {
  const AnalysisShop shop;
  const auto refused = [&](const std::string& subcommand, const Words& given, const Words& expected) {
    require_tool_failure("geosft-analyze", shop.analyze(Words{subcommand} + shop.tiny() + given), 2, expected);
  };
  refused("sampling", {"--epochs", "5"}, {"--epochs", "--snapshots"});
  for (const std::string subcommand : {"sampling", "ablations"}) {
    refused(subcommand, {"--validation-fraction", "0.5"}, {"--validation-fraction", "no effect"});
    refused(subcommand, {"--monitor-test"}, {"--monitor-test", "no effect"});
    refused(subcommand, {"--validate-every", "2"}, {"--validate-every", "no effect"});
    refused(subcommand, {"--checkpoint-every", "2"}, {"--checkpoint-every", "no effect"});
  }
}

TEST_CASE("a trained sampler keeps the points that tell the classes apart") {
  const AnalysisShop shop;
  write_caps(shop / "caps");
  const Words learning = Words{"--lr", "1e-2", "--beta2", "0.9", "--batch-size", "4", "--score-dropout", "0"} +
                         Words{"--token-dropout", "0", "--feed-forward-dropout", "0"};
  const Words model = Words{"--data", (shop / "caps").string(), "--points", "64", "--dim", "16", "--num-heads", "2"} +
                      Words{"--depth", "1", "--num-samples", "2", "--head-num-samples", "4"};
  const Words seen = {"--snapshots", "0,40", "--item", "2", "--repeats", "100", "--seed", "3"};
  shop.analyze_well(Words{"sampling"} + model + learning + seen);
  const Words csv = shop.csv();
  REQUIRE(csv.size() == 1 + 2 * cap_cloud_points);
  std::map<std::string, double> on_cap, of_all;
  for (size_t i = 1; i < csv.size(); ++i) {
    const Words fields = fields_of(csv[i]);
    const double frequency = std::stod(fields.at(6));
    of_all[fields.at(0)] += frequency / cap_cloud_points;
    if (std::stoi(fields.at(1)) < cap_points) on_cap[fields.at(0)] += frequency / cap_points;
  }
  // Inwards, which the item is: 0.8 to 1.3 times the mean before training, 10.0 to 10.7 times after it, for six seeds.
  CHECK(on_cap.at("0") < 3 * of_all.at("0"));
  CHECK(on_cap.at("40") > 5 * of_all.at("40"));
}

}  // namespace geosft::test::test_sampling_command
