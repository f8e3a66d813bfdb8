// SPDX-License-Identifier: Apache-2.0
#include "data/sequences/sequence_dataset.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "data/data_error.h"
#include "tests/data/files.h"
#include "tests/support.h"

namespace geosft::test::test_ts_file {
namespace {

const std::string header =
    "# a comment\n@problemName Two words\n@timeStamps false\n@missing true\n@univariate false\n@dimensions 2\n"
    "@equalLength false\n@classLabel true up down\n@data\n";

TsFile read(const std::string& text) {
  const TemporaryFolder folder;
  write_text(folder / "set.ts", text);
  return read_ts_file(folder / "set.ts");
}

void require_refused(const std::string& text, const std::vector<std::string>& words) {
  require_error([&] { read(text); }, words);
}

}  // namespace

TEST_CASE("series of different lengths with missing values are read", "[ts_file]") {
  const TsFile set = read(header + "1,2,3:4,?,6e1:up\n\n # another comment\n -1 : 7 :down\r\n");
  REQUIRE_THAT(set.file, Catch::EndsWith(".ts"));
  REQUIRE(set.classes == std::vector<std::string>{"up", "down"});
  REQUIRE(set.size() == 2);
  REQUIRE(set.dimensions() == 2);
  require_equal(set.ptr, at::tensor({0, 3, 4}, at::kLong), "ptr");
  require_equal(set.labels, at::tensor({0, 1}, at::kLong), "labels");
  REQUIRE(set.values[1][1].isnan().item<bool>());
  require_equal(set.values.nan_to_num(99),
                at::tensor({1.0, 4.0, 2.0, 99.0, 3.0, 60.0, -1.0, 7.0}, at::kFloat).view({4, 2}), "values");
}

TEST_CASE("a header may leave out what the series say", "[ts_file]") {
  const TsFile set = read("@classLabel true a\n@equalLength true\n@data\n1,2:3,4:5,6:a\n");
  REQUIRE(set.dimensions() == 3);
  REQUIRE(read("@univariate true\n@classLabel true a\n@data\n1,2:a\n").dimensions() == 1);
}

TEST_CASE("series for prediction have no classes", "[ts_file]") {
  const TsFile set = read("\xEF\xBB\xBF@problemName X\n@classLabel false\n@data\n1,2.5D-01:3,4\n5:6\n");
  CHECK(set.classes.empty());
  CHECK_FALSE(set.labels.defined());
  CHECK((set.size() == 2 && set.dimensions() == 2));
  require_equal(set.ptr, at::tensor({0, 2, 3}, at::kLong), "ptr");
  require_equal(set.values, at::tensor({1.0, 3.0, 0.25, 4.0, 5.0, 6.0}, at::kFloat).view({3, 2}), "values");
}

TEST_CASE("series of regression have targets", "[ts_file]") {
  const TsFile set = read("%# a comment\n% another\n@problemName X\n@targetLabel true\n@data\n1,2:3,4:-1.5e3\n5:6:?\n");
  REQUIRE(set.classes.empty());
  REQUIRE_FALSE(set.labels.defined());
  REQUIRE(set.dimensions() == 2);
  require_equal(set.targets.nan_to_num(7), at::tensor({-1500.0F, 7.0F}), "targets");
  require_equal(set.values, at::tensor({1.0F, 3.0F, 2.0F, 4.0F, 5.0F, 6.0F}).view({3, 2}), "values");
  REQUIRE_FALSE(read("@targetLabel false\n@data\n1:2\n").targets.defined());
  REQUIRE(read("@classLabel false\n@targetLabel true\n@data\n1:2\n").targets.defined());
}

TEST_CASE("broken files of series name the line", "[ts_file]") {
  require_refused("@timeStamps true\n", {"set.ts:1", "time stamps"});
  require_refused("@missing maybe\n", {"true or false", "maybe"});
  require_refused("@dimensions 0\n", {"1 or more", "0"});
  require_refused("@rhythm 3\n", {"keyword", "@rhythm"});
  require_refused("@classLabel true\n", {"names of classes"});
  require_refused("@classLabel true up a:b\n", {"set.ts:1", "without ':'", "a:b"});
  require_refused("@dimensions 1\n@data\n1:2\n", {"@classLabel true", "@classLabel false"});
  require_refused("@classLabel false\n@dimensions 1\n@data\n1:2\n", {":4", "1 dimensions", "2"});
  require_refused("@targetLabel true\n@data\n1:x\n", {":3", "a number", "x"});
  require_refused("@targetLabel true\n@data\n1\n", {":3", "a target", "'1'"});
  require_refused("@targetLabel true\n@classLabel true a\n", {":2", "classes or targets", "both"});
  require_refused("@dimensions 1\n@data\n", {"@targetLabel"});
  require_refused("@problemName x\n", {"@data", "the end of the file"});
  require_refused(header, {"series below @data"});
  require_refused(header + "1,2\n", {":10", "':'"});
  require_refused(header + "1,2:3,4:5,6:up\n", {":10", "2 dimensions", "3"});
  require_refused(header + "1,2:3:up\n", {"2 values in every dimension", "1 in dimension 2"});
  require_refused(header + "1,2:3,4:sideways\n", {"a class of @classLabel", "sideways"});
  require_refused(header + "1,x:3,4:up\n", {":10", "a number", "x"});
  require_refused(header + "1,:3,4:up\n", {"1 values in every dimension", "2 in dimension 2"});
  require_refused(header + ":3,4:up\n", {"an empty dimension"});
  require_refused("@missing false\n@classLabel true a\n@data\n1,?:a\n", {"@missing is false", "?"});
  require_refused("@equalLength true\n@seriesLength 3\n@classLabel true a\n@data\n1,2:a\n",
                  {"series of 3 values", "2"});
  require_error([] { read_ts_file("/nowhere/set.ts"); }, {"/nowhere/set.ts"});
}

TEST_CASE("the forms of the UEA archive are read", "[ts_file]") {
  // As BasicMotions: four classes with names, six dimensions of 100 steps each.
  const std::vector<std::string> motions = {"Standing", "Running", "Walking", "Badminton"};
  std::string text =
      "#The data was generated as part of a student project where four students performed\n#four activities: a watch.\n"
      "@problemName BasicMotions\n@timeStamps false\n@missing false\n@univariate false\n@dimensions 6\n"
      "@equalLength true\n@seriesLength 100\n@classLabel true Standing Running Walking Badminton\n@data\n";
  for (size_t series = 0; series < 8; ++series) {
    for (int dimension = 0; dimension < 6; ++dimension) {
      for (int step = 0; step < 100; ++step) {
        text += (step > 0 ? "," : "") + std::to_string(0.125 * step - dimension - 10.0 * static_cast<double>(series));
      }
      text += ":";
    }
    text += motions[series % 4] + "\n";
  }
  const TsFile basic = read(text);
  CHECK(basic.classes == motions);
  CHECK((basic.size() == 8 && basic.dimensions() == 6));
  require_equal(basic.ptr, 100 * at::arange(9), "ptr");
  require_equal(basic.labels, at::arange(8) % 4, "labels");
  const at::Tensor series = at::arange(8).view({8, 1, 1}), step = at::arange(100).view({1, 100, 1});
  require_equal(basic.values.view({8, 100, 6}), (0.125 * step - at::arange(6) - 10.0 * series).to(at::kFloat),
                "values");

  // As JapaneseVowels: classes that are numbers, series of 7 to 29 steps, a comment without a word, no end of line.
  text =
      "#A UCI Archive dataset. See this link for more detailed information: https://archive.ics.uci.edu/\n#\n#\n"
      "@problemName JapaneseVowels\n@timeStamps false\n@missing false\n@univariate false\n@dimensions 12\n"
      "@equalLength false\n@classLabel true 1 2 3 4 5 6 7 8 9\n@data\n";
  std::vector<int64_t> ptr{0};
  for (int speaker = 1; speaker <= 9; ++speaker) {
    const int steps = speaker == 1 ? 7 : speaker == 9 ? 29 : 10 + speaker;
    ptr.push_back(ptr.back() + steps);
    for (int dimension = 0; dimension < 12; ++dimension) {
      for (int at_step = 0; at_step < steps; ++at_step) {
        text += (at_step > 0 ? "," : "") + std::string(at_step % 2 == 1 ? "-0.207383" : "1.60703");
      }
      text += ":";
    }
    text += std::to_string(speaker) + (speaker < 9 ? "\n" : "");
  }
  const TsFile vowels = read(text);
  CHECK((vowels.classes.size() == 9 && vowels.classes.back() == "9"));
  CHECK((vowels.size() == 9 && vowels.dimensions() == 12));
  require_equal(vowels.ptr, at::tensor(ptr, at::kLong), "ptr");
  require_equal(vowels.labels, at::arange(9), "labels");
  require_close(vowels.values.slice(0, 0, 2), at::tensor({1.60703F, -0.207383F}).view({2, 1}).expand({2, 12}), 1e-6,
                "values");
}

TEST_CASE("sets of the UEA archive are read", "[ts_file]") {
  const std::filesystem::path folder = real_data("uea");
  if (folder.empty()) return;
  struct Expected {
    const char* name;
    int64_t train, test, dimensions, classes;
  };
  for (const Expected& expected : {Expected{"JapaneseVowels", 270, 370, 12, 9}, Expected{"BasicMotions", 40, 40, 6, 4},
                                   Expected{"UWaveGestureLibrary", 120, 320, 3, 8}}) {
    INFO(expected.name);
    const std::string stem = std::string(expected.name) + "/" + expected.name;
    const TsFile train = read_ts_file(folder / (stem + "_TRAIN.ts")), test = read_ts_file(folder / (stem + "_TEST.ts"));
    CHECK(train.size() == expected.train);
    CHECK(test.size() == expected.test);
    CHECK(train.dimensions() == expected.dimensions);
    CHECK(static_cast<int64_t>(train.classes.size()) == expected.classes);
    CHECK(train.classes == test.classes);
    CHECK(train.values.isfinite().all().item<bool>());
  }
}

TEST_CASE("many dimensions take no memory for the length of the first", "[ts_file]") {
  // 200,000 values times 200,000 dimensions would be 160 GB.
  std::string series = "1";
  for (int i = 1; i < 200000; ++i) series += ",1";
  require_refused("@classLabel true a\n@data\n" + series + std::string(200000, ':') + "a\n", {"an empty dimension"});
}

}  // namespace geosft::test::test_ts_file
