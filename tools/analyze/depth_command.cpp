// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

#include "models/theory/probes.h"
#include "tools/analyze/analysis.h"
#include "tools/analyze/commands.h"
#include "tools/analyze/traced_run.h"

namespace geosft {
namespace {

// Means over clouds per layer; layer 0 is the input of the first.
struct DepthCommand {
  TracedRun traced;
  AnalysisOutput output;

  int execute() const {
    Curve rank{"rank", {}, {}}, cosine{"mean cosine", {}, {}};
    double clouds = 0;
    int64_t width = 0;
    traced.look([&](const ShapeExplanation& found) {
      const std::vector<at::Tensor>& tokens = found.trace.tokens;
      width = tokens.front().size(1);
      for (Curve* curve : {&rank, &cosine}) curve->y.resize(tokens.size());
      for (size_t layer = 0; layer < tokens.size(); ++layer) {
        rank.y[layer] += static_cast<double>(numerical_rank(tokens[layer]));
        cosine.y[layer] += mean_cosine(tokens[layer]);
      }
      ++clouds;
    });
    for (Curve* curve : {&rank, &cosine}) {
      for (size_t layer = 0; layer < curve->y.size(); ++layer) {
        curve->x.push_back(static_cast<double>(layer));
        curve->y[layer] /= clouds;
      }
    }
    std::cout << "width " << width << "\nlayer  rank  mean cosine\n";
    for (size_t layer = 0; layer < rank.y.size(); ++layer) {
      std::cout << layer << "  " << rank.y[layer] << "  " << cosine.y[layer] << '\n';
    }
    output.save("layer", "value", {rank, cosine},
                {{{"rank of the tokens, width " + std::to_string(width), "layer", "mean rank"}, {rank}},
                 {{"similarity of the tokens", "layer", "mean cosine of pairs"}, {cosine}}});
    return 0;
  }
};

}  // namespace

Command add_depth_command(CLI::App& subcommand) {
  return add_traced_analysis<DepthCommand>(subcommand);
}

}  // namespace geosft
