// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

#include "models/theory/probes.h"
#include "tools/analyze/analysis.h"
#include "tools/analyze/commands.h"
#include "tools/experiment/arguments.h"
#include "tools/experiment/main_guard.h"

namespace geosft {
namespace {

struct GradientsCommand {
  std::vector<int64_t> tokens = {8, 16, 32, 64, 128};
  int64_t width = 256, repeats = 8;
  AnalysisBasics basics;
  AnalysisOutput output;

  int execute() const {
    if (tokens.size() < 2) throw UsageError("--tokens: expected two or more numbers, found one");
    basics.apply_runtime();
    install_interrupt_handler();
    Curve query{"W_Q", {}, {}}, value{"W_V", {}, {}};
    for (const int64_t n : tokens) {
      throw_if_interrupted("before anything was written");
      const GradientNorms norms = gradient_norms(n, width, basics.seed, repeats);
      for (auto& [curve, norm] : {std::pair{&query, norms.query}, std::pair{&value, norms.value}}) {
        curve->x.push_back(static_cast<double>(n));
        curve->y.push_back(norm);
      }
    }
    for (Curve* curve : {&query, &value}) {
      const std::string law = exponent_text(power_law(curve->x, curve->y));
      std::cout << "gradient of " << curve->name << ": grows with the tokens to the power " << law << '\n';
      curve->name += ": power " + law;
    }
    output.save(
        "tokens", "squared_norm", {query, value},
        {{{"squared gradient norms at initialisation", "tokens", "mean squared norm", true, true}, {query, value}}});
    return 0;
  }
};

}  // namespace

Command add_gradients_command(CLI::App& subcommand) {
  auto command = std::make_shared<GradientsCommand>();
  add_integers(subcommand, "--tokens", command->tokens, "numbers of tokens, two or more, separated by commas", 1,
               100000);
  add_integer(subcommand, "--width", command->width, "of the tokens: more than there are", 1, 8192);
  add_integer(subcommand, "--repeats", command->repeats, "random layers to average over", 1, 10000, "--draws");
  command->output.add_to(subcommand);
  command->basics.add_to(subcommand);
  return [command] { return command->execute(); };
}

}  // namespace geosft
