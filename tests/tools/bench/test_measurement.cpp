// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/measurement.h"

#include <filesystem>
#include <nlohmann/json.hpp>

#include "data/atomic_file.h"
#include "data/formats/shape_file.h"
#include "tests/support.h"
#include "tests/temporary_path.h"
#include "tests/tools/bench/bench_sizes.h"

namespace geosft::bench::test::test_measurement {
namespace {

struct File {
  ~File() { std::filesystem::remove(path); }
  std::filesystem::path path = geosft::test::temporary_path("geosft test measurements");
};

Results some_results() {
  Measurement plain = some_measurement("b/forward", "geosft");
  plain.work.reset();
  plain.bound.reset();
  plain.keys = 18.5;
  plain.items = 16;
  plain.items_are = "clouds";
  return {some_machine(), small_sizes(), {some_measurement("a/forward", "geosft"), plain}};
}

}  // namespace

TEST_CASE("a benchmark is measured in time, memory and share of its bound", "[bench]") {
  const at::Tensor data = at::ones({1000});
  Benchmark benchmark{"add/one", {}};
  benchmark.implementations = {{"geosft", [=] { return Tensors{data + data}; }, Work{0, 1000, 8000}},
                               {"twice", [=] { return Tensors{(data + data) - data}; }}};
  benchmark.implementations[1].keys = 7;
  benchmark.keys = 5;
  benchmark.items = 1000;
  benchmark.items_are = "numbers";
  int asked = 0;
  const auto measured = measure(benchmark, {.repeats = 2, .seconds = 0}, {1e9, 1e9}, [&] { ++asked; });
  REQUIRE(measured.size() == 2);
  CHECK(asked == 8);
  CHECK(measured[0].benchmark == "add/one");
  CHECK(measured[0].timing.repeats == 2);
  CHECK(measured[0].geosft_ratio == 1.0);
  CHECK(measured[0].keys == 5);
  CHECK(measured[1].keys == 7);
  CHECK(measured[0].peak_bytes == 4000);
  CHECK(measured[0].result_bytes == 4000);
  CHECK(measured[0].bound == 1e-6);
  CHECK(measured[0].share() == 1e-6 / measured[0].timing.minimum);
  CHECK(measured[1].peak_bytes == 8000);
  CHECK(measured[1].share() == 0.0);
  CHECK(measured[1].geosft_cpu_ratio == measured[0].timing.cpu / measured[1].timing.cpu);
  CHECK(measured[1].geosft_ratio == measured[0].timing.minimum / measured[1].timing.minimum);
}

TEST_CASE("implementations that disagree are not measured", "[bench]") {
  Benchmark benchmark{"wrong", {}};
  benchmark.implementations = {
      {"geosft", [] { return Tensors{at::ones({2})}; }},
      {"other", [] { return Tensors{at::zeros({2})}; }, {}, [](const at::Tensor& t) { return t; }}};
  geosft::test::require_error([&] { measure(benchmark, {}, {}); }, {"wrong", "other"});
}

TEST_CASE("results are read back as they were written", "[bench]") {
  const File file;
  const nlohmann::json json = results_json(some_results());
  write_file_atomically(file.path, json.dump());
  CHECK(results_json(read_results(file.path)) == json);
  CHECK(json["measurements"][0]["bound_share"] == 0.5);
  CHECK(json["measurements"][1]["items_per_second"] == 8000.0);
  CHECK(json["measurements"][1]["keys_per_query"] == 18.5);
  CHECK_FALSE(json["measurements"][1].contains("work"));
}

TEST_CASE("a file that is something else is named", "[bench]") {
  const File file;
  using geosft::test::require_error;
  require_error([&] { read_results(file.path); }, {file.path.filename().string()});
  for (const char* text : {"no json", "{}", R"({"machine": 3})"}) {
    write_file_atomically(file.path, text);
    require_error([&] { read_results(file.path); }, {file.path.filename().string(), "geosft-bench run --out"});
  }
}

}  // namespace geosft::bench::test::test_measurement
