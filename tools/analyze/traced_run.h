// SPDX-License-Identifier: Apache-2.0
// Traces a trained classifier on clouds of its dataset.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "tools/analyze/analysis.h"
#include "tools/experiment/classification.h"
#include "tools/experiment/eval_options.h"

namespace geosft {

struct TracedRun {
  std::string run;
  int64_t items = 8;
  RunOverrides overrides;

  // Adds RUN, --items, and the settings that may change when a model is used (such as the seed and the threads).
  void add_to(CLI::App& subcommand);
  // Traces `items` clouds, evenly spaced in the test split. Throws Interrupted after a signal.
  void look(const std::function<void(const ShapeExplanation&)>& told) const;
  // The same with the class of each cloud, by name.
  void look_at_classes(const std::function<void(const ShapeExplanation&, const std::string&)>& told) const;
};

// Adds the options of a subcommand that traces a run and saves curves: Analysis has the members `traced`, `output` and
// execute().
template <class Analysis>
Command add_traced_analysis(CLI::App& subcommand) {
  auto command = std::make_shared<Analysis>();
  command->traced.add_to(subcommand);
  command->output.add_to(subcommand);
  return [command] { return command->execute(); };
}

}  // namespace geosft
