// SPDX-License-Identifier: Apache-2.0
// tools/bench/baselines on tiny data, with a Python that has PyTorch.
#include <catch2/catch.hpp>

#include "tests/places.h"
#include "tests/tools/classify/classify_tool.h"
#include "tests/tools/experiment/python.h"

namespace geosft::test::test_baselines {

TEST_CASE("the baselines train on exported clouds and are scored beside a run") {
  const std::string interpreter = find_python();
  if (interpreter.empty()) return;
  if (python(interpreter, {"-c", "import torch, numpy, h5py"}).exit != 0) {
    leave_out_here("no Python with torch and h5py (GEOSFT_TEST_PYTHON): the baselines are not run");
    return;
  }
  const ClassifyShop shop;
  const std::string arrays = (shop / "arrays").string(), run = (shop / "run").string();
  shop.run_well({"export", shop.data().string(), "--out", arrays, "--points-per-mesh", "64", "--points", "64"});
  shop.run_well(Words{"train", "--data", arrays, "--out", run} + shop.small_training());
  const ProcessResult result =
      python(interpreter, {source_path("tools/bench/baselines/run.py"), arrays, "--seconds", "1", "--points", "32",
                           "--votes", "1", "--threads", "1", "--json", "--ours", run, "--geosft",
                           std::filesystem::path(program_path("geosft-classify")).parent_path().string()});
  INFO(result.err);
  REQUIRE(result.exit == 0);
  std::vector<std::string> models;
  for (const std::string& line : lines_of(result.out)) {
    if (line.front() != '{') continue;
    const nlohmann::json row = nlohmann::json::parse(line);
    models.push_back(row.at("model"));
    for (const char* pose : {"upright", "so3"}) {
      REQUIRE(row.at(pose).get<double>() >= 0.0);
      REQUIRE(row.at(pose).get<double>() <= 1.0);
    }
  }
  REQUIRE(models ==
          std::vector<std::string>{"geosft", "1-nearest neighbour, D2", "PointNet", "PointNet", "DGCNN", "DGCNN"});
  REQUIRE_THAT(result.out, Catch::Contains("| model | trained on clouds | upright | under SO(3) |"));
}

}  // namespace geosft::test::test_baselines
