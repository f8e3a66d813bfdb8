// SPDX-License-Identifier: Apache-2.0
#include "tools/segment/segment_overrides.h"

#include <CLI/CLI.hpp>

namespace geosft {

void SegmentOverrides::add_to(CLI::App& subcommand) {
  common_.add_to(subcommand, "dataset: a folder (default: the one trained on)",
                 "of the rotations and of meshes' points");
  subcommand.add_option("--block", block_, "points of a cloud that the model sees at once; 0: all of them")
      ->check(CLI::Range(0, 1 << 30));
}

SegmentRun SegmentOverrides::load(const std::filesystem::path& run) const {
  SegmentRun loaded = common_.load(run, load_segment_run);
  if (block_) loaded.settings.clouds.block = *block_;
  return loaded;
}

}  // namespace geosft
