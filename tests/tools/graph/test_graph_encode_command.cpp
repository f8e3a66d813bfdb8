// SPDX-License-Identifier: Apache-2.0
// geosft-graph encode, end to end.
#include <catch2/catch.hpp>

#include "data/formats/hdf5_file.h"
#include "data/graphs/graph_dataset.h"
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

TEST_CASE("a single graph is encoded from a list of edges or a matrix, with the numbers of its nodes") {
  const GraphShop shop;
  write_text(shop / "g.txt", "7 3 0.5\n3 90 2\n90 7 1\n");
  write_text(shop / "g.mtx", "%%MatrixMarket matrix coordinate real symmetric\n3 3 3\n2 1 0.5\n3 1 2\n3 2 1\n");
  const std::string out = (shop / "pe.h5").string();
  const auto encoded = [&](const char* file, const Words& more = {}) {
    return shop.run_well(Words{"encode", (shop / file).string(), "--out", out, "--steps", "6"} + more).out;
  };
  CHECK_THAT(encoded("g.txt", {"--vectors", "1"}), Catch::Contains("1 graph, 3 nodes"));
  const Hdf5File listed(out);
  require_equal(listed.read_int("ids"), at::tensor({3, 7, 90}, at::kLong), "ids");
  require_equal(listed.read_int("ptr"), at::tensor({0, 3}, at::kLong), "ptr");
  // Nodes in the order 3, 7, 90 with the edges 3-7 (0.5), 3-90 (2) and 7-90 (1): the matrix.
  const at::Tensor weights = at::tensor({0.0, 0.5, 2.0, 0.5, 0.0, 1.0, 2.0, 1.0, 0.0}).view({3, 3});
  const at::Tensor walk = weights / weights.sum(1, true);
  at::Tensor power = walk;
  std::vector<at::Tensor> expected;
  for (int step = 0; step < 6; ++step) {
    expected.push_back(power.diagonal());
    power = power.matmul(walk);
  }
  const at::Tensor walks = listed.read_float("random_walk");
  require_close(walks, at::stack(expected, 1).to(at::kFloat), 1e-6, "walks of the list");
  encoded("g.mtx");
  require_equal(Hdf5File(out).read_int("ids"), at::tensor({1, 2, 3}, at::kLong), "ids of the matrix");
  require_close(Hdf5File(out).read_float("random_walk"), walks, 1e-6, "walks of the matrix");
  encoded("g.txt", {"--directed"});
  // 7 -> 3 -> 90 -> 7 alone: back after three steps.
  require_equal(Hdf5File(out).read_float("random_walk"),
                at::tensor({0.0F, 0.0F, 1.0F, 0.0F, 0.0F, 1.0F}).expand({3, 6}), "directed");
  write_text(shop / "broken.txt", "1 2\n3\n");
  shop.refuses({"encode", (shop / "broken.txt").string(), "--out", out}, 1, {"broken.txt:2"});
  // Every encoding refuses a negative weight by its line; unknown formats are not read as edges.
  write_text(shop / "negative.txt", "1 2 1\n2 3 -4\n");
  for (const Words& encoding :
       {Words{"--steps", "3"}, Words{"--steps", "3", "--walks", "10"}, Words{"--steps", "0", "--vectors", "1"}}) {
    shop.refuses(Words{"encode", (shop / "negative.txt").string(), "--out", out} + encoding, 1,
                 {"negative.txt:2: expected a weight of at least 0, found -4"});
  }
  write_text(shop / "g.graph", "3 2\n2\n1 3\n2\n");
  shop.refuses({"encode", (shop / "g.graph").string(), "--out", out}, 1, {"g.graph", "Matrix Market", "an edge list"});
  shop.refuses(shop.train("run", {"--data", (shop / "g.txt").string()}), 2, {"g.txt", "without labels", "encoded"});
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
  shop.refuses({"encode", data, "--out", (shop / "no" / "pe.h5").string()}, 2, {"no folder", "pe.h5"});
}

}  // namespace geosft::test::test_graph_encode_command
