// SPDX-License-Identifier: Apache-2.0
// geosft-graph encode, end to end.
#include <catch2/catch.hpp>

#include "data/graph_dataset.h"
#include "data/hdf5_file.h"
#include "graph/laplacian_pe.h"
#include "graph/random_walk_pe.h"
#include "tests/support.h"
#include "tests/tools/graph/graph_tool.h"

namespace geosft::test::test_graph_encode_command {
namespace fs = std::filesystem;

TEST_CASE("encode writes the encodings of a dataset") {
  const GraphShop shop;
  const GraphBatch batch = open_graph_dataset(shop.data()).graphs;
  const std::string out = (shop / "pe.h5").string();
  const std::string said =
      shop.run_well({"encode", shop.data().string(), "--out", out, "--steps", "6", "--vectors", "3"}).out;
  CHECK_THAT(said, Catch::Contains("24 graphs") && Catch::Contains("random_walk 6") && Catch::Contains("laplacian 3"));
  const Hdf5File file(out);
  CHECK(file.list() == std::vector<std::string>{"laplacian", "laplacian_values", "ptr", "random_walk"});
  require_equal(file.read_int("ptr"), batch.ptr, "ptr");
  require_equal(file.read_float("random_walk"), random_walk_pe(batch.graph.rowptr, batch.graph.col, 6), "walks");
  const LaplacianEncoding laplacian = laplacian_pe(batch.graph.rowptr, batch.graph.col, 3, batch.ptr);
  require_equal(file.read_float("laplacian"), laplacian.vectors, "vectors");
  require_equal(file.read_float("laplacian_values"), laplacian.values, "values");
}

TEST_CASE("encode estimates when it is told to, with the error beside it") {
  const GraphShop shop;
  const GraphBatch batch = open_graph_dataset(shop.data()).graphs;
  const std::string out = (shop / "pe.h5").string();
  shop.run_well({"encode", shop.data().string(), "--out", out, "--steps", "4", "--walks", "400", "--seed", "2"});
  const Hdf5File file(out);
  CHECK(file.list() == std::vector<std::string>{"ptr", "random_walk", "random_walk_error"});
  const at::Tensor error =
      (file.read_float("random_walk") - random_walk_pe(batch.graph.rowptr, batch.graph.col, 4)).abs();
  CHECK((error <= 6 * file.read_float("random_walk_error")).all().item<bool>());
  CHECK(error.max().item<double>() > 0);
}

TEST_CASE("encode refuses wrong use in a line") {
  const GraphShop shop;
  const std::string data = shop.data().string(), out = (shop / "pe.h5").string();
  shop.refuses({"encode", data}, 2, {"--out"});
  shop.refuses({"encode", data, "--out", out, "--steps", "0"}, 2, {"nothing to encode"});
  shop.refuses({"encode", data, "--out", out, "--steps", "-1"}, 2, {"--steps"});
  shop.refuses({"encode", data, "--out", out, "--walks", "1"}, 2, {"--walks"});
  shop.refuses({"encode", (shop / "absent").string(), "--out", out}, 1, {"absent"});
  CHECK_FALSE(fs::exists(out));
  shop.refuses({"encode", data, "--out", (shop / "no" / "pe.h5").string()}, 1, {"pe.h5"});
}

}  // namespace geosft::test::test_graph_encode_command
