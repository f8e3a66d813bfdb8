// SPDX-License-Identifier: Apache-2.0
// Every member of the primal-dual family against its definition.
#include <torch/csrc/autograd/autograd.h>

#include <catch2/catch.hpp>

#include "tests/models/layers/slow_primal_layer.h"
#include "tests/support.h"

namespace geosft::test::test_primal_members {
namespace {

constexpr int64_t kWidth = 8, kHeads = 4;

// Items of 1 and 2 tokens, of lengths that no factor divides, and an empty one; or of a grid of 3 x 5.
struct Items {
  explicit Items(bool grids)
      : offsets(grids ? std::vector<int64_t>{0, 15, 30} : std::vector<int64_t>{0, 1, 3, 3, 10, 23}) {}
  at::Tensor ptr() const { return at::tensor(offsets, at::kLong); }
  std::vector<int64_t> offsets;
};

RelativeEncoding random_points() {
  const Items items(false);
  return RelativeEncoding::points(at::randn({items.offsets.back(), 3}, generator(8), at::kDouble));
}

// Edges one way, two a token, some of them repeated or to itself; every fourth token has none.
RelativeEncoding directed_graph() {
  const Items items(false);
  std::vector<int64_t> rowptr{0}, col;
  for (size_t b = 0; b + 1 < items.offsets.size(); ++b) {
    const int64_t begin = items.offsets[b], nodes = items.offsets[b + 1] - begin;
    for (int64_t i = 0; i < nodes; ++i) {
      if (i % 4 != 3) col.insert(col.end(), {begin + (3 * i + 1) % nodes, begin + (i * i + 2) % nodes});
      rowptr.push_back(static_cast<int64_t>(col.size()));
    }
  }
  const auto edges = static_cast<int64_t>(col.size());
  return RelativeEncoding::graph(at::tensor(rowptr, at::kLong), at::tensor(col, at::kLong),
                                 at::ones({edges, 1}, at::kDouble));
}

void require_member(PrimalOptions options, const std::string& what,
                    const RelativeEncoding& relative = RelativeEncoding::none()) {
  const bool grids = options.convolution == ConvolutionKind::grid;
  if (grids) {
    options.grid_height = 3;
    options.grid_width = 5;
  }
  if (options.mask != MaskKind::none) options.mask_size = 3;
  const Items items(grids);
  manual_seed(5);
  PrimalSelfAttention layer(kWidth, kHeads, options);
  layer->to(at::kDouble);
  if (layer->beta.defined() && layer->beta.requires_grad()) {
    layer->beta.set_data(at::tensor({0.3, -0.4, 1.2, 0.7}, at::kDouble));  // of each head its own
  }
  for (at::Tensor& weight : layer->pooling) weight.set_data(at::randn_like(weight));
  const at::Tensor x = at::randn({items.offsets.back(), kWidth}, generator(6), at::kDouble).requires_grad_(true);
  const at::Tensor grad_output = at::randn(x.sizes(), generator(7), at::kDouble);
  const at::Tensor found = layer->forward(x, items.ptr(), relative);
  const at::Tensor expected = slow_primal_layer(layer, x, items.offsets, relative);
  require_close(found, expected, 1e-12, what);
  std::vector<at::Tensor> inputs = layer->parameters();
  inputs.push_back(x);
  const auto gradients = torch::autograd::grad({found}, inputs, {grad_output}, std::nullopt, false, true);
  const auto slow = torch::autograd::grad({expected}, inputs, {grad_output}, std::nullopt, false, true);
  for (size_t i = 0; i < inputs.size(); ++i) {
    require_close(gradients[i], slow[i], 1e-10, what + ", gradient " + std::to_string(i), 1e-3);
  }
}

}  // namespace

TEST_CASE("every member of the registry is what its definition says", "[primal_members]") {
  for (const std::string& name : primal_names()) require_member(primal_options(name, kHeads), name);
}

TEST_CASE("every pooling with every kernel is what its definition says", "[primal_members]") {
  // Measured over 1,000 seeds, at most: 9.4e-16 where 1e-12 is allowed, and 1.3e-13 where 1e-10 is allowed.
  for (const char* name : {"bn_sh", "linear_bn_sh", "sparse_bn_sh"}) {
    for (const PoolingKind kind : {PoolingKind::max, PoolingKind::convolution}) {
      PrimalOptions options = primal_options(name, kHeads);
      options.pooling = kind;
      options.learn_beta = true;
      options.pool = {3, 1, 5, 1};  // heads of one factor are no neighbours
      require_member(options, std::string(name) + " with another pooling");
    }
  }
}

TEST_CASE("clusters of k-means as keys are what their definition says", "[primal_members]") {
  // Measured over 1,000 seeds, at most: 6.8e-16 where 1e-12 is allowed, and 9.3e-13 where 1e-10 is allowed.
  for (const char* name : {"sh", "bn_sh", "linear_bn_sh"}) {
    PrimalOptions options = primal_options(name, kHeads);
    options.pooling = PoolingKind::k_means;
    options.pool = {3, 1, 5, 1};
    require_member(options, std::string(name) + " of clusters");
  }
}

TEST_CASE("masks of points and of graphs are what their definition says", "[primal_members]") {
  // Measured over 1,000 seeds, at most: 6.6e-16 where 1e-12 is allowed, and 1.2e-12 where 1e-10 is allowed.
  for (const char* name : {"sparse", "sparse_bn_sh"}) {
    PrimalOptions options = primal_options(name, kHeads);
    options.mask = MaskKind::nearest;
    require_member(options, std::string(name) + " of the nearest", random_points());
    options.mask = MaskKind::neighbours;
    require_member(options, std::string(name) + " of neighbours", directed_graph());
  }
}

TEST_CASE("members of the family can be combined", "[primal_members]") {
  // Measured over 1,000 seeds, at most: 2.7e-14 where 1e-12 is allowed, and 3.8e-12 where 1e-10 is allowed.
  for (const char* name : {"sh", "linear_sh", "sparse_sh"}) {
    PrimalOptions options = primal_options(name, kHeads);
    options.convolution = ConvolutionKind::sequence;
    options.convolution_size = 4;
    options.variance = true;
    require_member(options, std::string(name) + ", convolved and normalised");
  }
  for (const MaskKind kind : {MaskKind::strided, MaskKind::block}) {
    PrimalOptions options = primal_options("sparse_bn_sh", kHeads);
    options.mask = kind;
    require_member(options, "another mask");
  }
}

}  // namespace geosft::test::test_primal_members
