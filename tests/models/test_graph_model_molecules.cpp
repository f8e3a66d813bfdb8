// SPDX-License-Identifier: Apache-2.0
// Graph models of molecules with coordinates.
#include <catch2/catch.hpp>
#include <cmath>

#include "geometry/rotation.h"
#include "tests/models/small_graph_model.h"

namespace geosft::test::test_graph_model_molecules {

using namespace small_graphs;

TEST_CASE("molecules are answered alike however they are rotated, moved and numbered, and by their shape") {
  // Measured over 1,000 seeds, at most: 2.8e-15 where 1e-10 is allowed.
  const FeaturedGraphs graphs = featured_graphs({9, 1, 14}, 7);
  FeaturedGraphs moved = graphs, stretched = graphs;
  const at::Tensor rotation = random_rotation(generator(5), at::kDouble);
  moved.coordinates = rotate(graphs.coordinates.to(at::kDouble), rotation) + 3.0;
  stretched.coordinates = graphs.coordinates * 1.5;
  GraphModelOptions options = molecule_options();
  for (const bool angles : {false, true}) {
    options.angles = angles;
    GraphModel model = model_of(options);
    const at::Tensor expected = greedy(model, graphs);
    require_close(greedy(model, moved), expected, 1e-10, "rotated and moved", 1.0);
    require_close(seeded(model, moved), seeded(model, graphs), 1e-10, "seeded", 1.0);
    require_close(greedy(model, renumbered(graphs, generator(2)).graphs), expected, 1e-10, "renumbered", 1.0);
    CHECK_FALSE(at::allclose(greedy(model, stretched), expected));
  }
  options.distance_channels = 0;
  require_error([&] { GraphModel wrong(options); }, {"angles", "distance_channels"});
}

TEST_CASE("bonds and distances in one encoding: without distances it is that of the bonds") {
  // Measured over 1,000 seeds, at most: 1.1e-15 where 1e-10 is allowed.
  const FeaturedGraphs graphs = featured_graphs({9, 1, 14}, 7);
  GraphModelOptions options = molecule_options();
  GraphModel with = model_of(options);
  options.distance_channels = 0;
  GraphModel without = model_of(options);
  at::NoGradGuard guard;
  for (auto& parameter : without->named_parameters()) {
    const at::Tensor source = with->named_parameters()[parameter.key()];
    const bool relative = source.sizes() != parameter.value().sizes();
    parameter.value().copy_(relative ? source.narrow(0, 0, parameter.value().size(0)) : source);
    if (relative) source.narrow(0, parameter.value().size(0), 5).zero_();
  }
  require_close(greedy(with, graphs), greedy(without, graphs), 1e-10, "the same", 1.0);
}

namespace {

GraphModelOptions radial_options(LocalKind kind) {
  GraphModelOptions options = small_options();
  options.relative = false;
  options.layer.kind = AttentionKind::none;
  options.layer.local.kind = kind;
  options.edge_cutoff = 1.5;
  options.radial_channels = 6;
  options.head = GraphHead::sum;
  return options;
}

}  // namespace

TEST_CASE("messages within a cutoff see the distance of nodes, and none beyond it") {
  // Measured over 1,000 seeds, at most: 1.3e-7 where 1e-5 is allowed, and the same bits where 1e-12 is allowed.
  const FeaturedGraphs graphs = featured_graphs({9, 1, 14}, 7);
  FeaturedGraphs moved = graphs, stretched = graphs, apart = graphs, bare = graphs;
  moved.coordinates = rotate(graphs.coordinates.to(at::kDouble), random_rotation(generator(5), at::kDouble)) + 3.0;
  stretched.coordinates = graphs.coordinates * 1.1;
  apart.coordinates = graphs.coordinates * 1000;
  bare.edge_categories = bare.edge_values = at::Tensor();
  for (const LocalKind kind : {LocalKind::gcn, LocalKind::gine, LocalKind::gated_gcn}) {
    GraphModel model = model_of(radial_options(kind));
    const at::Tensor expected = greedy(model, graphs);
    require_close(greedy(model, moved), expected, 1e-5, "rotated and moved", 1.0);
    require_close(greedy(model, bare), expected, 1e-12, "the edges of the graph are not seen");
    CHECK_FALSE(at::allclose(greedy(model, stretched), expected));
    FeaturedGraphs further = apart;
    further.coordinates = apart.coordinates * 2;
    require_close(greedy(model, further), greedy(model, apart), 1e-12, "nobody is near");
  }
  GraphModelOptions none = radial_options(LocalKind::none);
  none.layer.kind = AttentionKind::sampling;
  require_error([&] { GraphModel model(none); }, {"edge_cutoff"});
  GraphModel model = model_of(radial_options(LocalKind::gine));
  apart.coordinates = at::Tensor();
  require_error([&] { greedy(model, apart); }, {"coordinates", "3 columns"});
}

TEST_CASE("models within a cutoff have the gradients of the coordinates, which are the forces of an energy") {
  FeaturedGraphs graphs = featured_graphs({6, 1, 5}, 7);
  graphs.coordinates = graphs.coordinates.to(at::kDouble);
  for (const LocalKind kind : {LocalKind::gcn, LocalKind::gine, LocalKind::gated_gcn}) {
    require_model_gradcheck(radial_options(kind), graphs, {&FeaturedGraphs::coordinates});
  }
  GraphModel model = model_of(radial_options(LocalKind::gine));
  graphs.coordinates = at::zeros_like(graphs.coordinates).requires_grad_(true);
  SamplingContext context = SamplingContext::greedy();
  model->forward(graphs, context).sum().backward();
  CHECK(graphs.coordinates.grad().isfinite().all().item<bool>());
}

TEST_CASE("a message within a cutoff fades to nothing at the cutoff") {
  // Measured over 1,000 seeds, at most: 2.2e-8 where 0.0001 is allowed.
  FeaturedGraphs pair = featured_graphs({2}, 7);
  GraphModel model = model_of(radial_options(LocalKind::gine));
  const auto at_distance = [&](double distance) {
    pair.coordinates = at::tensor({0.0, 0.0, 0.0, distance, 0.0, 0.0}).view({2, 3}).to(at::kFloat);
    return greedy(model, pair);
  };
  require_close(at_distance(1.4999), at_distance(1.6), 1e-4, "near the cutoff", 1.0);
  CHECK_FALSE(at::allclose(at_distance(0.7), at_distance(1.6)));
}

TEST_CASE("atom references are the fit of the targets on the kinds of nodes, and are added to what is predicted") {
  // Measured over 1,000 seeds, at most: 4.4e-5 where 0.001 is allowed, and 3.0e-5 where 0.001 is allowed.
  const FeaturedGraphs graphs = featured_graphs({9, 1, 14, 6, 11, 4, 8}, 7);
  GraphModelOptions options = small_options(), plain = options;
  options.atom_references = true;
  for (GraphModelOptions* each : {&options, &plain}) each->head = GraphHead::mean;
  GraphModel model = model_of(options), without = model_of(plain);
  const at::Tensor constants = at::randn({3, 3}, generator(8), at::kDouble) * 50;
  const at::Tensor of_nodes = constants.index_select(0, graphs.node_categories.select(1, 0).to(at::kLong));
  std::vector<at::Tensor> sums;
  for (int64_t b = 0; b < 7; ++b) {
    const auto begin = graphs.graphs.ptr[b].item<int64_t>(), end = graphs.graphs.ptr[b + 1].item<int64_t>();
    sums.push_back(of_nodes.slice(0, begin, end).sum(0));
  }
  const at::Tensor noise = at::randn({7, 3}, generator(9), at::kDouble) * 1e-3;
  at::Tensor targets = at::stack(sums) + noise;
  targets[2][1] = std::nan("");
  model->standardize(graphs, targets);
  without->standardize(graphs, at::Tensor());
  CHECK(model->target_deviation.max().item<double>() < 0.1);
  require_close(model->target_reference * model->target_deviation, constants, 1e-3, "references");
  const at::Tensor added = (greedy(model, graphs) - greedy(without, graphs)) * model->target_deviation;
  require_close(added, at::stack(sums), 1e-3, "predictions");
  GraphModelOptions of_nodes_alone = options;
  of_nodes_alone.head = GraphHead::nodes;
  require_error([&] { GraphModel wrong(of_nodes_alone); }, {"atom_references"});
}

TEST_CASE("forces in float32 are those of float64, also where atoms coincide") {
  FeaturedGraphs graphs = featured_graphs({9, 1, 14}, 7);
  GraphModelOptions options = molecule_options();
  for (const bool angles : {false, true}) {
    for (const bool coincide : {false, true}) {
      options.angles = angles;
      const auto forces = [&](at::ScalarType dtype) {
        GraphModel model = model_of(options, dtype);
        FeaturedGraphs moved = graphs;
        at::Tensor coordinates = graphs.coordinates.to(dtype).clone();
        if (coincide) coordinates[3].copy_(coordinates[5]);
        moved.coordinates = coordinates.requires_grad_(true);
        SamplingContext context = SamplingContext::greedy();
        model->forward(moved, context).sum().backward();
        return coordinates.grad();
      };
      INFO((angles ? "angles" : "distances") << (coincide ? ", coinciding" : ""));
      require_close(forces(at::kFloat), forces(at::kDouble), 1e-3, "forces", 1.0);
    }
  }
}

TEST_CASE("gradients of coordinates are those of finite differences") {
  const FeaturedGraphs graphs = featured_graphs({5, 3}, 2);
  GraphModelOptions options = molecule_options();
  options.layers = 1;
  require_model_gradcheck(options, graphs, {&FeaturedGraphs::coordinates}, 1e-5);
  options.angles = true;
  require_model_gradcheck(options, graphs, {&FeaturedGraphs::coordinates}, 1e-5);
}

}  // namespace geosft::test::test_graph_model_molecules
