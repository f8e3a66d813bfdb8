// SPDX-License-Identifier: Apache-2.0
#include <ATen/core/grad_mode.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

#include "tools/analyze/analysis.h"
#include "tools/analyze/commands.h"
#include "tools/analyze/traced_run.h"
#include "tools/experiment/arguments.h"

namespace geosft {
namespace {

struct HeadsCommand {
  TracedRun traced;
  AnalysisOutput output;

  int execute() const {
    Curve diversity{"mean over tokens and pairs of heads", {}, {}};
    double clouds = 0;
    traced.look([&](const ShapeExplanation& found) {
      at::NoGradGuard guard;
      if (found.trace.layers.front().heads < 2) throw UsageError(traced.run + ": the model has one head");
      diversity.y.resize(found.trace.layers.size());
      for (size_t layer = 0; layer < diversity.y.size(); ++layer) {
        diversity.y[layer] += head_diversity(found.trace.layers[layer]).mean().item<double>();
      }
      ++clouds;
    });
    for (size_t layer = 0; layer < diversity.y.size(); ++layer) {
      diversity.x.push_back(static_cast<double>(layer + 1));
      diversity.y[layer] /= clouds;
      std::cout << "layer " << layer + 1 << ": mean distance between the attention of heads " << diversity.y[layer]
                << '\n';
    }
    output.save("layer", "distance", {diversity},
                {{{"distance between the attention of heads", "layer", "mean L2 distance"}, {diversity}}});
    return 0;
  }
};

}  // namespace

Command add_heads_command(CLI::App& subcommand) {
  return add_traced_analysis<HeadsCommand>(subcommand);
}

}  // namespace geosft
