// SPDX-License-Identifier: Apache-2.0
#include "tools/classify/classify_overrides.h"

#include <CLI/CLI.hpp>

namespace geosft {

void ClassifyOverrides::add_to(CLI::App& subcommand) {
  common_.add_to(subcommand, "dataset: furniture, or a folder (default: the one trained on)", "of the rotations");
  subcommand.add_option("--points", points_, "points of a cloud that the model sees")->check(CLI::Range(1, 1 << 30));
}

RunModel ClassifyOverrides::load(const std::filesystem::path& run) const {
  RunModel loaded = common_.load(run, load_run_model);
  if (points_) loaded.settings.clouds.points = *points_;
  return loaded;
}

}  // namespace geosft
