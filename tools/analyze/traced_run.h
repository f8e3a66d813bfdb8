// SPDX-License-Identifier: Apache-2.0
// A trained classifier looked into on clouds of its dataset.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "tools/classify/prediction.h"
#include "tools/experiment/eval_options.h"

namespace geosft {

struct TracedRun {
  std::string run;
  int64_t items = 8;
  RunOverrides overrides;

  // RUN, --items, and what may be chosen anew when a model is used (the seed and the threads among it).
  void add_to(CLI::App& subcommand);
  // Tells of `items` clouds, evenly from the test split. Throws Interrupted after a signal.
  void look(const std::function<void(const ShapeExplanation&)>& told) const;
};

}  // namespace geosft
