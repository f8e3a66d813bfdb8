// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/metrics_csv.h"

#include "tests/support.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>

#include "data/read_file.h"
#include "tests/temporary_path.h"

namespace geosft::test::test_metrics_csv {

namespace {

struct MetricsFile : TemporaryFile {
  MetricsFile() : TemporaryFile("geosft_test_metrics.csv") {}
};

MetricsRow row(int64_t step, const std::string& split = "train") {
  return {step, step / 10, split, 1.0 / double(step), 0.1 + 0.2, 1e-3, 12.5, 80.25, 0.125};
}

bool holds(const std::filesystem::path& file, const std::vector<MetricsRow>& rows) {
  return read_metrics(file) == rows;
}

const std::string header = "step,epoch,split,loss,accuracy,learning_rate,seconds,clouds_per_second,waiting\n";

}  // namespace

TEST_CASE("rows are on the disk at once and read back exactly") {
  const MetricsFile file;
  MetricsWriter writer(file.path);
  CHECK(read_metrics(file.path).empty());
  writer.append(row(3));
  CHECK(holds(file.path, {row(3)}));
  writer.append(row(3, "validation"));
  writer.append(row(7));
  CHECK(holds(file.path, {row(3), row(3, "validation"), row(7)}));
  CHECK(read_file(file.path).find(header +
                                  "3,0,train,0.3333333333333333,0.30000000000000004,0.001,12.5,80.25,0.125\n") == 0);
}

TEST_CASE("a loss that is not finite is kept") {
  const MetricsFile file;
  MetricsRow infinite = row(1), undefined = row(2);
  infinite.loss = std::numeric_limits<double>::infinity();
  undefined.loss = std::numeric_limits<double>::quiet_NaN();
  MetricsWriter writer(file.path);
  writer.append(infinite);
  writer.append(undefined);
  const std::vector<MetricsRow> rows = read_metrics(file.path);
  REQUIRE(rows.size() == 2);
  CHECK(std::isinf(rows[0].loss));
  CHECK(std::isnan(rows[1].loss));
}

TEST_CASE("a resumed run drops the rows after its step, a new one all of them") {
  const MetricsFile file;
  {
    MetricsWriter writer(file.path);
    for (const int64_t step : {10, 20, 30}) writer.append(row(step));
    writer.append(row(20, "validation"));
  }
  {
    MetricsWriter resumed(file.path, 20);
    CHECK(holds(file.path, {row(10), row(20), row(20, "validation")}));
    test::require_error([&] { resumed.append(row(20)); }, {"step", "after 20 of train", "found 20"});
    resumed.append(row(25));
  }
  CHECK(holds(file.path, {row(10), row(20), row(20, "validation"), row(25)}));
  const MetricsWriter fresh(file.path);
  CHECK(read_metrics(file.path).empty());
}

TEST_CASE("an epoch whose steps all failed is a row with the step before it") {
  const MetricsFile file;
  MetricsRow second = row(10), third = row(10), early = row(9);
  second.epoch = 2;
  third.epoch = 3;
  early.epoch = 4;
  {
    MetricsWriter writer(file.path);
    for (const MetricsRow& each : {row(10), second, third}) writer.append(each);
    test::require_error([&] { writer.append(second); }, {"step", "later epoch"});
    test::require_error([&] { writer.append(early); }, {"step", "found 9"});
  }
  MetricsWriter resumed(file.path, 10, 2);
  CHECK(holds(file.path, {row(10), second}));
  resumed.append(third);
  CHECK(holds(file.path, {row(10), second, third}));
}

TEST_CASE("a run that was begun without the last column goes on with it") {
  const MetricsFile file;
  std::ofstream(file.path) << "step,epoch,split,loss,accuracy,learning_rate,seconds,clouds_per_second\n"
                              "10,1,train,0.5,0.25,0.001,2,30\n";
  const MetricsWriter writer(file.path, 10);
  const std::vector<MetricsRow> rows = read_metrics(file.path);
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].items_per_second == 30);
  CHECK(std::isnan(rows[0].waiting));
  CHECK(read_file(file.path).find(header) == 0);
}

TEST_CASE("a resumed run without a file begins one") {
  const MetricsFile file;
  MetricsWriter writer(file.path, 100);
  writer.append(row(101));
  CHECK(holds(file.path, {row(101)}));
}

TEST_CASE("every step of a split is there once, in order") {
  const MetricsFile file;
  MetricsWriter writer(file.path);
  writer.append(row(10));
  test::require_error([&] { writer.append(row(10)); }, {"step", "found 10"});
  test::require_error([&] { writer.append(row(9)); }, {"step", "found 9"});
  test::require_error([&] { writer.append(row(11, "exam")); }, {"split", "'exam'"});
  writer.append(row(9, "validation"));
  writer.append(row(8, "test"));
  CHECK(holds(file.path, {row(10), row(9, "validation"), row(8, "test")}));
}

TEST_CASE("a line that was cut off is left out and a broken one is named") {
  const MetricsFile file;
  const std::string good = "1,0,train,2.5,0.5,0.001,3,4,0.5\n";
  std::ofstream(file.path) << header << good << "2,0,train,2.";
  CHECK(read_metrics(file.path).size() == 1);
  {
    MetricsWriter resumed(file.path, 5);
    resumed.append(row(6));
    CHECK(read_metrics(file.path).size() == 2);
  }
  const std::string place = file.path.string();
  for (const std::string broken : {"2,0,train,2.5,0.5,0.001,3,4\n", "2,0,train,2.5,0.5,0.001,3,4,0,6\n",
                                   "2,0,exam,2.5,0.5,0.001,3,4,0\n", "2,0,train,x,0.5,0.001,3,4,0\n", "\n"}) {
    std::ofstream(file.path) << header << good << broken;
    test::require_error([&] { read_metrics(file.path); }, {place + ":3", "a row of metrics"});
  }
  std::ofstream(file.path) << "step,loss\n";
  test::require_error([&] { read_metrics(file.path); }, {place + ":1", "header"});
  std::filesystem::remove(file.path);
  test::require_error([&] { read_metrics(file.path); }, {place});
}

}  // namespace geosft::test::test_metrics_csv
