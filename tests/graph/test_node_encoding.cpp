// SPDX-License-Identifier: Apache-2.0
#include "graph/node_encoding.h"

#include <catch2/catch.hpp>
#include <limits>

#include "graph/laplacian_pe.h"
#include "graph/random_walk_pe_estimate.h"
#include "tests/graph/graphs.h"

namespace geosft::test::test_node_encoding {

TEST_CASE("node encodings of a batch are those of its graphs") {
  const std::vector<CsrGraph> graphs = {path(5), cycle(6), graph_of(1, {})};
  const GraphBatch batch = concatenated(graphs);
  std::vector<at::Tensor> walks;
  for (const CsrGraph& graph : graphs) walks.push_back(dense_random_walk_pe(graph, 4));
  const at::Tensor found = encoded_nodes(batch, {NodeEncoding::random_walk, 4}).values;
  CHECK(found.scalar_type() == at::kFloat);
  // The same bits here; a sum in float32 may be off by some 6e-8 of it.
  require_close(found, at::cat(walks), 1e-6, "random walks");
  const at::Tensor vectors = encoded_nodes(batch, {NodeEncoding::laplacian, 3}).values;
  require_close(vectors, laplacian_pe(batch.graph.rowptr, batch.graph.col, 3, batch.ptr).vectors, 1e-6, "laplacian");
  CHECK_FALSE(encoded_nodes(batch, {}).values.defined());
}

TEST_CASE("weights count, and a directed graph is made undirected for the Laplacian") {
  CsrGraph weighted = cycle(5);
  weighted.weight = at::arange(1, 11).to(at::kDouble);
  const GraphBatch batch = concatenated({weighted});
  // Rounded to float32: 4.3e-8, and the same bits of the vectors below.
  require_close(encoded_nodes(batch, {NodeEncoding::random_walk, 3}).values, dense_random_walk_pe(weighted, 3), 1e-6,
                "walks");
  const GraphBatch directed = concatenated({graph_of(3, {{0, 1}, {1, 2}})}), undirected = concatenated({path(3)});
  require_equal(encoded_nodes(directed, {NodeEncoding::laplacian, 2}).values,
                encoded_nodes(undirected, {NodeEncoding::laplacian, 2}).values, "vectors");
  // Two directions of different weights, an edge of one direction, and a loop.
  CsrGraph uneven = graph_of(3, {{0, 1}, {1, 0}, {2, 1}, {2, 2}}),
           even = graph_of(3, {{0, 1}, {1, 0}, {1, 2}, {2, 1}, {2, 2}});
  uneven.weight = at::tensor({0.25, 0.75, 2.0, 1.0});
  even.weight = at::tensor({0.5, 0.5, 2.0, 2.0, 1.0});
  require_close(encoded_nodes(concatenated({uneven}), {NodeEncoding::laplacian, 2}).values,
                encoded_nodes(concatenated({even}), {NodeEncoding::laplacian, 2}).values, 1e-6, "weighted vectors");
}

TEST_CASE("random walks are estimated when so many are asked for, with the error beside them") {
  const GraphBatch batch = concatenated({path(5), cycle(6)});
  const EncodedNodes found = encoded_nodes(batch, {NodeEncoding::random_walk, 4, 200, 3});
  const RandomWalkEstimate expected = random_walk_pe_estimate(batch.graph.rowptr, batch.graph.col, 4, 200, 3);
  require_equal(found.values, expected.mean.to(at::kFloat), "walks");
  require_equal(found.standard_error, expected.standard_error.to(at::kFloat), "standard error");
  CHECK_FALSE(encoded_nodes(batch, {NodeEncoding::random_walk, 4}).standard_error.defined());
}

TEST_CASE("encoded_nodes: one precondition of weights, whatever the encoding, in terms of the given weights") {
  GraphBatch batch{test::graph_of(3, {{0, 1}, {1, 2}, {2, 0}}), at::tensor({0, 3}, at::kLong)};
  for (const double bad : {-3.0, std::numeric_limits<double>::infinity()}) {
    batch.graph.weight = at::tensor({1.0, 2.0, bad}, at::kDouble);
    const std::string found = bad < 0 ? "entry 2 is -3" : "entry 2 is inf";
    const NodeEncodingOptions all[] = {
        {NodeEncoding::random_walk, 3}, {NodeEncoding::random_walk, 3, 10}, {NodeEncoding::laplacian, 1}};
    for (const NodeEncodingOptions& options : all) {
      test::require_error([&] { encoded_nodes(batch, options); }, {"weight must be finite and not negative", found});
    }
  }
}

}  // namespace geosft::test::test_node_encoding
