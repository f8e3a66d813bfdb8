// SPDX-License-Identifier: Apache-2.0
#include <ATen/Parallel.h>

#include <cmath>
#include <filesystem>
#include <iomanip>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

#include "data/read_file.h"
#include "tests/environment.h"
#include "tests/temporary_path.h"
#include "tests/tools/bench/bench_tool.h"
#include "tools/bench/peak_memory.h"
#include "tools/bench/scaling.h"

namespace geosft::bench::test::test_run_command {
namespace {

using Catch::Contains;

struct Folder {
  Folder() { std::filesystem::create_directories(path); }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string operator/(const char* name) const { return (path / name).string(); }
  std::filesystem::path path = geosft::test::temporary_path("geosft test bench");
};

// The exponent that is printed of memory is that of the peaks at 1,024 and 2,048 tokens, whose ratio is a power of two.
void require_memory_exponent(const std::string& out, const ScaledImplementation& implementation) {
  at::set_num_threads(1);  // as the program does: each thread has sums of its own
  const auto peak = [&](int64_t tokens) {
    const Implementation one = implementation({.batch = 1, .tokens = tokens, .width = 8, .heads = 2, .keys = {4}});
    one.run();  // as a measurement does before
    return static_cast<double>(peak_tensor_bytes([&] { one.run(); }));
  };
  std::ostringstream expected;
  expected << "memory with " << std::fixed << std::setprecision(3) << std::log2(peak(2048) / peak(1024));
  CHECK_THAT(out, Contains(expected.str()));
}

}  // namespace

TEST_CASE("one measurement is printed as a table", "[bench]") {
  const auto result = run_bench_well(tiny({"run", "--only", "maxout_attention/k4/forward"}));
  CHECK_THAT(result.out, Contains("maxout_attention/k4/forward") && Contains("geosft") &&
                             Contains("scaled_dot_product_attention") && Contains("cdist") && Contains("max+add"));
}

TEST_CASE("JSON is printed and written, and a later run compared with it", "[bench]") {
  const Folder folder;
  const std::string file = folder / "before.json";
  const auto first = run_bench_well(tiny({"run", "--only", "softmax_pool", "--json", "--out", file}));
  const nlohmann::json json = nlohmann::json::parse(first.out);
  CHECK(json == nlohmann::json::parse(read_file(file)));
  REQUIRE(json["measurements"].size() == 4);
  CHECK(json["measurements"][0]["repeats"] == 1);
  CHECK(json["sizes"]["tokens"] == 32);
  const auto second = run_bench_well(tiny({"run", "--only", "softmax_pool/forward", "--compare", file}));
  CHECK_THAT(second.out, Contains("against") && Contains("softmax_pool/forward: geosft") && Contains(" x "));
}

TEST_CASE("scaling fits the exponents, and the roofline is drawn", "[bench]") {
  const Folder folder;
  const auto result =
      run_bench_well(tiny({"run", "--scaling", "--scaling-to", "2048", "--roofline", folder / "roofline"}));
  CHECK_THAT(result.out, Contains("from 1024 to 2048 tokens") && Contains("scaling/n2048"));
  require_memory_exponent(result.out, maxout_over_keys(4));
  const bool gnuplot = geosft::test::has_gnuplot();
  CHECK(std::filesystem::exists(folder / "roofline.svg") == gnuplot);
  CHECK((result.err.find("not drawn") != std::string::npos) == !gnuplot);
}

TEST_CASE("scaling is measured of graphs, too", "[bench]") {
  for (const auto& [what, implementation] :
       {std::pair("graph_attention", graph_attention_over_keys(4)), std::pair("random_walk_pe", walks_on_grid())}) {
    const auto result = run_bench_well(tiny({"run", "--scaling", "--scaling-to", "2048", "--scaling-of", what}));
    CHECK_THAT(result.out, Contains("from 1024 to 2048 tokens") && Contains("scaling/n2048"));
    require_memory_exponent(result.out, implementation);
  }
}

TEST_CASE("the measurements are listed by name", "[bench]") {
  CHECK_THAT(run_bench_well({"run", "--list"}).out, Contains("layer/k256/forward+backward") && Contains("training/"));
  const std::string some = run_bench_well({"run", "--list", "--only", "knn"}).out;
  CHECK(some.rfind("knn/", 0) == 0);
  CHECK_THAT(some, !Contains("layer"));
}

TEST_CASE("a bare command prints the help", "[bench]") {
  const auto bare = run_bench_well({});
  CHECK(bare.out == run_bench_well({"--help"}).out);
  CHECK_THAT(bare.out, Contains("machine"));
}

TEST_CASE("wrong use is refused before anything is measured", "[bench]") {
  require_wrong_use({"run", "--only", "maxout"}, {"maxout", "nearest"});
  require_wrong_use({"run", "--scaling-of", "knn"}, {"--scaling-of", "knn"});
  require_wrong_use({"run", "--scaling-of", "random_walk_pe", "--scaling-degree", "2"}, {"--scaling-degree"});
  require_wrong_use({"run", "--heads", "3"}, {"--heads", "256", "3"});
  require_wrong_use({"run", "--repeat", "3"}, {"--repeat", "--repeats"});
  require_wrong_use({"run", "--out", "/nonexistent/file.json"}, {"--out", "no folder", "/nonexistent"});
  require_wrong_use({"run", "--roofline", "/nonexistent/picture"}, {"--roofline", "/nonexistent"});
  const auto missing = run_bench({"run", "--compare", "/nonexistent/file.json"});
  CHECK(missing.exit == 1);
  CHECK_THAT(missing.err, Contains("/nonexistent/file.json"));
}

}  // namespace geosft::bench::test::test_run_command
