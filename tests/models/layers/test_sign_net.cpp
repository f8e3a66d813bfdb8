// SPDX-License-Identifier: Apache-2.0
#include "models/layers/sign_net.h"

#include <catch2/catch.hpp>

#include "graph/laplacian_pe.h"
#include "tests/models/small_graph_model.h"

namespace geosft::test::test_sign_net {

using namespace small_graphs;

TEST_CASE("a sign net is its formula, and does not see signs", "[sign_net]") {
  // Measured over 1,000 seeds, at most: 7.2e-16 where 1e-12 is allowed.
  manual_seed(1);
  SignNet net(4, 6, 2, 5);
  net->to(at::kDouble);
  SamplingContext context = SamplingContext::greedy();
  const at::Tensor vectors = at::randn({9, 4}, generator(2), at::kDouble);
  std::vector<at::Tensor> even;
  for (int64_t j = 0; j < 4; ++j) {
    const at::Tensor column = vectors.slice(1, j, j + 1);
    even.push_back(net->phi->forward(column, context) + net->phi->forward(-column, context));
  }
  const at::Tensor expected = net->rho->forward(at::cat(even, 1), context);
  require_close(net->forward(vectors, context), expected, 1e-12, "formula");
  const at::Tensor signs = random_signs(9, 4, generator(3), at::kDouble);
  require_equal(net->forward(vectors * signs, context), net->forward(vectors, context), "signs");
  CHECK_FALSE(at::allclose(net->forward(vectors * 1.1, context), expected));
  CHECK(net->forward(vectors.slice(0, 0, 0), context).sizes() == at::IntArrayRef({0, 6}));
  require_gradcheck([&](const std::vector<at::Tensor>& in) { return net->forward(in[0], context); }, {vectors});
}

TEST_CASE("a sign net names the argument that is wrong", "[sign_net]") {
  require_error([] { SignNet(0, 6, 2); }, {"columns", "0"});
  require_error([] { SignNet(4, 0, 2); }, {"channels", "0"});
  require_error([] { SignNet(4, 6, 2, 0); }, {"hidden", "0"});
  require_error([] { SignNet(4, 6, 0); }, {"layers", "0"});
  SamplingContext context = SamplingContext::greedy();
  require_error([&] { SignNet(4, 6, 1)->forward(at::zeros({2, 3}), context); }, {"vectors", "[2, 3]"});
}

TEST_CASE("a graph model with a sign net sees the encoding, but not the signs of its columns", "[sign_net]") {
  GraphModelOptions options = small_options();
  options.encoding_channels = 5;
  options.encoding_layers = 2;
  options.sign_invariant = true;
  GraphModel model = model_of(options);
  const FeaturedGraphs graphs = featured_graphs({9, 1, 14}, 7);
  FeaturedGraphs turned = graphs, longer = graphs;
  const at::Tensor signs = random_signs(3, 4, generator(3), graphs.node_encoding.scalar_type());
  turned.node_encoding = with_signs(graphs.node_encoding, signs, graphs.graphs.ptr);
  longer.node_encoding = graphs.node_encoding * 1.5;
  require_equal(greedy(model, turned), greedy(model, graphs), "signs");
  CHECK_FALSE(at::allclose(greedy(model, longer), greedy(model, graphs)));
  options.encoding_channels = 0;
  require_error([&] { GraphModel wrong(options); }, {"encoding_channels", "sign_invariant"});
}

}  // namespace geosft::test::test_sign_net
