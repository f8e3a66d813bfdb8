// SPDX-License-Identifier: Apache-2.0
#include "models/ops/edge_sum.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "tests/models/ops/edge_cases.h"

namespace geosft::test::test_edge_sum {
namespace {

// Inputs x and, if the messages have them, edge; scale is given apart.
struct Case {
  RandomEdges edges;
  int64_t width;
  bool has_edge, has_scale, relu;
  at::Tensor x = normal({edges.columns, width}, 11), edge = normal({edges.edges(), width}, 12),
             scale = normal({edges.edges()}, 13), grad = normal({edges.rows(), width}, 14);

  Tensors inputs() const { return has_edge ? Tensors{x, edge} : Tensors{x}; }
  std::optional<at::Tensor> scale_in(at::ScalarType type) const {
    return has_scale ? std::optional(scale.to(type)) : std::nullopt;
  }
  Tensors fused(const Tensors& in) const {
    return {edge_sum(in[0], edges.index(), has_edge ? std::optional(in[1]) : std::nullopt,
                     scale_in(in[0].scalar_type()), relu)};
  }
  // Edge by edge.
  Tensors slow(const Tensors& in) const {
    Tensors sums(static_cast<size_t>(edges.rows()), at::zeros({width}, in[0].options().requires_grad(false)));
    for (int64_t e = 0; e < edges.edges(); ++e) {
      at::Tensor message = in[0][edges.column_of(e)];
      if (has_edge) message = message + in[1][e];
      if (relu) message = at::relu(message);
      if (has_scale) message = message * scale[e].to(in[0].scalar_type());
      at::Tensor& sum = sums[static_cast<size_t>(edges.row_of(e))];
      sum = sum + message;
    }
    return {at::stack(sums)};
  }
  Tensors evaluated(at::ScalarType type) const {
    return outputs_and_gradients([&](const Tensors& in) { return fused(in); }, inputs(), {grad}, type);
  }
};

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const int64_t width : {1, 5, 19, 64, 83}) {
    for (const int variant : {0, 1, 2, 3, 4}) {
      all.push_back({RandomEdges(13, 9, 40, 3), width, variant >= 3, variant % 2 == 1, variant == 2 || variant == 4});
    }
  }
  return all;
}

}  // namespace

TEST_CASE("edge_sum agrees with the sum edge by edge on every vector target", "[edge_sum]") {
  // Measured over 1,000 seeds, at most: 8.0e-16 where 1e-12 is allowed, and 7.4e-7 where 2e-6 is allowed.
  for (const Case& c : cases()) {
    const Tensors expected =
        outputs_and_gradients([&](const Tensors& in) { return c.slow(in); }, c.inputs(), {c.grad}, at::kDouble);
    require_agreement_on_every_target(c, expected, 2e-6);
  }
}

TEST_CASE("edge_sum takes float16 and bfloat16, computed in float32", "[edge_sum]") {
  Case c{RandomEdges(13, 9, 40, 3), 19, true, true, true};
  for (const at::ScalarType half : {at::kHalf, at::kBFloat16}) {
    for (at::Tensor* tensor : {&c.x, &c.edge, &c.scale, &c.grad}) *tensor = tensor->to(half).to(at::kDouble);
    Tensors wide = c.evaluated(at::kFloat);
    for (at::Tensor& tensor : wide) tensor = tensor.to(half);
    require_all_equal(c.evaluated(half), wide, "half");
  }
}

TEST_CASE("edge_sum has the same bits on one thread and on two", "[edge_sum]") {
  const Case c{RandomEdges(4000, 3000, 9000, 5), 24, true, true, true};
  require_same_bits_on_two_threads(c);
}

TEST_CASE("edge_sum has the right gradients and refuses them twice", "[edge_sum]") {
  for (const Case& c : cases()) {
    if (c.width != 5) continue;
    const auto call = [&](const Tensors& in) { return c.fused(in)[0]; };
    require_gradcheck(call, c.inputs());
    require_no_double_backward(call, c.inputs(), "edge_sum");
    if (!c.has_scale) continue;
    const auto scaled = [&](const Tensors& in) {
      return edge_sum(in[0], c.edges.index(), c.has_edge ? std::optional(in[1]) : std::nullopt, in.back(), c.relu);
    };
    Tensors inputs = c.inputs();
    inputs.push_back(c.scale);
    require_gradcheck(scaled, inputs);
    require_no_double_backward(scaled, inputs, "edge_sum");
  }
}

TEST_CASE("edge_sum of no edges is zero, and of no nodes empty", "[edge_sum]") {
  const at::Tensor none = at::zeros({0}, at::kLong);
  const EdgeIndex isolated = edge_index(at::zeros({4}, at::kLong), none, 3);
  const at::Tensor x = at::ones({3, 2}).requires_grad_(true);
  const at::Tensor out = edge_sum(x, isolated, at::ones({0, 2}), at::ones({0}), true);
  require_equal(out.detach(), at::zeros({3, 2}), "out");
  out.sum().backward();
  require_equal(x.grad(), at::zeros({3, 2}), "gradient of x");
  REQUIRE(edge_sum(at::ones({0, 2}), edge_index(at::zeros({1}, at::kLong), none, 0)).sizes() ==
          at::IntArrayRef({0, 2}));
}

TEST_CASE("edge_sum passes NaN on to the rows that see it, and takes strided rows", "[edge_sum]") {
  const EdgeIndex index = edge_index(at::tensor({0, 1, 2}, at::kLong), at::tensor({1, 0}, at::kLong), 2);
  at::Tensor x = at::ones({2, 20});
  x[1][3] = std::nan("");
  const at::Tensor out = edge_sum(x, index, std::nullopt, std::nullopt, true);
  REQUIRE(out[0][3].isnan().item<bool>());
  REQUIRE(out[1].isfinite().all().item<bool>());
  const at::Tensor wide = at::randn({2, 20}, generator(4)), strided = wide.slice(1, 0, 20, 2);
  require_equal(edge_sum(strided, index), edge_sum(strided.contiguous(), index), "strided");
}

TEST_CASE("sum_pool sums the rows of each item", "[edge_sum]") {
  // Measured over 1,000 seeds, at most: 1.2e-15 where 1e-14 is allowed.
  const at::Tensor x = normal({8, 3}, 21), ptr = at::tensor({0, 0, 3, 8}, at::kLong);
  const at::Tensor sums = at::stack({at::zeros({3}, at::kDouble), x.slice(0, 0, 3).sum(0), x.slice(0, 3, 8).sum(0)});
  require_close(sum_pool(x, ptr), sums, 1e-14, "sums");
  require_close(sum_pool(x, std::nullopt), x.sum(0, true), 1e-14, "one item");
  require_gradcheck([&](const Tensors& in) { return sum_pool(in[0], ptr); }, {x});
  require_error([&] { sum_pool(x, at::tensor({0, 7}, at::kLong)); }, {"ptr"});
}

TEST_CASE("edge_sum names the argument that is wrong", "[edge_sum]") {
  const EdgeIndex index = RandomEdges(3, 4, 5, 1).index();
  const at::Tensor x = at::ones({4, 2}), edge = at::ones({5, 2}), scale = at::ones({5});
  require_error([&] { edge_sum(at::ones({4}), index); }, {"x must be [C, d]", "[4]"});
  require_error([&] { edge_sum(x.to(at::kLong), index); }, {"x must be", "Long"});
  require_error([&] { edge_sum(at::ones({3, 2}), index); }, {"x must have a row for each of the 4 columns", "3"});
  require_error([&] { edge_sum(x, index, at::ones({5, 3})); }, {"edge must be [E, d], [5, 2], got [5, 3]"});
  require_error([&] { edge_sum(x, index, edge.to(at::kDouble)); }, {"edge must have the dtype of x"});
  require_error([&] { edge_sum(x, index, edge, at::ones({4})); }, {"scale must be [E], [5], got [4]"});
  EdgeIndex wrong = index;
  wrong.col = at::full({5}, 4, at::kLong);
  require_error([&] { edge_sum(x, wrong); }, {"col must hold 0 … 3"});
  wrong = index;
  wrong.order = at::full({5}, 5, at::kLong);
  const at::Tensor leaf = at::ones({4, 2}).requires_grad_(true);
  require_error([&] { edge_sum(leaf, wrong).sum().backward(); }, {"order must hold 0 … 4"});
  wrong.order = index.order;
  wrong.row = at::full({5}, 3, at::kLong);
  require_error([&] { edge_sum(leaf, wrong).sum().backward(); }, {"row must hold 0 … 2"});
}

}  // namespace geosft::test::test_edge_sum
