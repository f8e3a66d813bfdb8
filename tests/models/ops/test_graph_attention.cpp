// SPDX-License-Identifier: Apache-2.0
#include "models/ops/graph_attention.h"

#include "tests/models/ops/graph_cases.h"

namespace geosft::test::test_graph_attention {

using namespace graph_cases;

TEST_CASE("graph_attention reproduces the golden cases", "[graph_attention]") {
  // Measured: 1.1e-14 of 1e-10, 1.5e-7 of 5e-6, 1.2e-5 of 2e-5 that are allowed.
  for (const char* name :
       {"duplicate_edges", "no_edges", "one_item", "ragged", "ragged_directed_c16", "repeated_samples"}) {
    require_fixture(fused, std::string("graph_") + name, kArguments);
  }
}

TEST_CASE("graph_attention agrees with the reference at awkward sizes", "[graph_attention]") {
  uint64_t seed = 60;
  for (const Sizes& sizes : {Sizes{{1}, {1}, 1, 1, 1}, Sizes{{129}, {33}, 3, 5, 7},
                             Sizes{{5, 0, 131, 2, 3}, {4, 0, 65, 0, 1}, 2, 1, 3}, Sizes{{300}, {40}, 2, 4, 4}}) {
    for (const int64_t degree : {0, 1, 6}) {
      require_reference(fused, slow, random_graph(sizes, seed += 10, 2, degree), "degree " + std::to_string(degree));
    }
  }
}

TEST_CASE("graph_attention passes gradcheck", "[graph_attention]") {
  require_gradcheck(fused, random_graph({{5, 3}, {4, 2}, 2, 3, 2}, 70, 2, 3));
}

TEST_CASE("graph_attention gives each gradient alone", "[graph_attention]") {
  // Measured: the same bits where 1e-12 is allowed.
  require_single_gradients(fused, random_graph({{9, 140}, {4, 20}, 2, 3, 2}, 75, 2, 3),
                           at::randn({149, 2, 2}, generator(9), at::kDouble));
}

TEST_CASE("graph_attention does not depend on the number of threads", "[graph_attention]") {
  for (const Sizes& sizes : {Sizes{{700}, {40}, 2, 8, 8}, Sizes{{300, 20, 513}, {33, 20, 70}, 4, 8, 16}}) {
    const Arguments a = random_graph(sizes, 71, 3, 5);
    const at::Tensor grad_output = at::randn({a["q"].size(0), sizes.heads, sizes.cv}, generator(8));
    for (const auto type : {at::kFloat, at::kBFloat16}) require_same_bits(fused, a, grad_output, type);
  }
}

TEST_CASE("graph_attention never looks up edges between items", "[graph_attention]") {
  Arguments a = random_graph({{6, 5}, {3, 2}, 2, 3, 3}, 72, 1, 2);
  a.tensors["col"][0] = 10;  // from the first node of the first item to the last one of the second
  const at::Tensor rows = at::repeat_interleave(at::arange(11, at::kLong), 2, 0);
  const at::Tensor across = (rows < 6) != (a["col"] < 6);
  REQUIRE(across.any().item<bool>());
  const at::Tensor before = fused(a);
  a.tensors["edge_attr"] = at::where(across.unsqueeze(1), at::full_like(a["edge_attr"], 100.0), a["edge_attr"]);
  require_equal(fused(a), before, "out");
}

TEST_CASE("graph_attention takes strided inputs and leaves them alone", "[graph_attention]") {
  require_strided(fused, random_graph({{9, 4}, {7, 5}, 3, 4, 4}, 75, 2, 3));
}

TEST_CASE("graph_attention takes float16 and bfloat16", "[graph_attention]") {
  for (const Sizes& sizes : half_sizes(false)) require_half(fused, slow, random_graph(sizes, 74, 2, 3));
}

TEST_CASE("graph_attention refuses double backward", "[graph_attention]") {
  require_single_backward(fused, random_graph({{4}, {3}, 1, 2, 2}, 73, 2, 2), "graph_attention");
}

TEST_CASE("graph_attention names the argument that is wrong", "[graph_attention]") {
  const Arguments good = random_graph({{4, 3}, {3, 2}, 2, 3, 2}, 74, 2, 2);
  const auto refuses = names_wrong_argument(fused, good);
  const auto doubles = at::TensorOptions().dtype(at::kDouble);
  const auto changed = [&](const std::string& name, int64_t at, int64_t value) {
    at::Tensor tensor = good[name].clone();
    tensor[at] = value;
    return tensor;
  };
  refuses("rowptr", changed("rowptr", 0, 1));
  refuses("rowptr", changed("rowptr", 3, 1));
  refuses("rowptr", changed("rowptr", 7, 13));
  refuses("rowptr", at::zeros({7}, at::kLong));
  refuses("rowptr", good["rowptr"].to(at::kInt));
  refuses("col", changed("col", 2, 7));
  refuses("col", changed("col", 2, -1));
  refuses("col", good["col"].to(at::kDouble));
  refuses("edge_attr", at::zeros({13, 2}, doubles));
  refuses("edge_attr", at::zeros({14}, doubles));
  refuses("top", changed("top", 0, 5));
  refuses("top", at::zeros({4}, at::kLong));
  refuses("partner", changed("partner", 4, -3));
  refuses("weight", at::zeros({5, 1}, doubles));
  refuses("weight", at::zeros({5}, at::kFloat));
  refuses("w_add", at::zeros({3, 2}, doubles));
}

}  // namespace geosft::test::test_graph_attention
