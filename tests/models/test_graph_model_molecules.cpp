// SPDX-License-Identifier: Apache-2.0
// Graph models of molecules with coordinates.
#include <catch2/catch.hpp>

#include "geometry/rotation.h"
#include "tests/models/small_graph_model.h"

namespace geosft::test::test_graph_model_molecules {

using namespace small_graphs;

TEST_CASE("molecules are answered alike however they are rotated, moved and numbered, and by their shape") {
  const FeaturedGraphs graphs = featured_graphs({9, 1, 14}, 7);
  FeaturedGraphs moved = graphs, stretched = graphs;
  const at::Tensor rotation = random_rotation(generator(5), at::kDouble);
  moved.coordinates = rotate(graphs.coordinates.to(at::kDouble), rotation) + 3.0;
  stretched.coordinates = graphs.coordinates * 1.5;
  GraphModel model = model_of(molecule_options());
  const at::Tensor expected = greedy(model, graphs);
  require_close(greedy(model, moved), expected, 1e-10, "rotated and moved", 1.0);
  require_close(seeded(model, moved), seeded(model, graphs), 1e-10, "seeded", 1.0);
  require_close(greedy(model, renumbered(graphs, generator(2)).graphs), expected, 1e-10, "renumbered", 1.0);
  CHECK_FALSE(at::allclose(greedy(model, stretched), expected));
}

TEST_CASE("bonds and distances in one encoding: without distances it is that of the bonds") {
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

TEST_CASE("gradients of coordinates are those of finite differences") {
  const FeaturedGraphs graphs = featured_graphs({5, 3}, 2);
  GraphModelOptions options = molecule_options();
  options.layers = 1;
  GraphModel model = model_of(options);
  require_gradcheck(
      [&](const std::vector<at::Tensor>& inputs) {
        FeaturedGraphs changed = graphs;
        changed.coordinates = inputs[0];
        SamplingContext context = SamplingContext::greedy();
        return model->forward(changed, context).sum();
      },
      {graphs.coordinates}, 1e-6, 1e-5);
}

}  // namespace geosft::test::test_graph_model_molecules
