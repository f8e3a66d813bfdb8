// SPDX-License-Identifier: Apache-2.0
#include "tools/classify/run_overrides.h"

#include <CLI/CLI.hpp>

namespace geosft {

void RunOverrides::add_to(CLI::App& verb) {
  verb.add_option("--data", data_, "dataset: furniture, or a folder (default: the one trained on)");
  verb.add_option("--votes", votes_, "draws whose logits are averaged")->check(CLI::Range(1, 1000000));
  verb.add_option("--points", points_, "points of a cloud that the model sees")->check(CLI::Range(1, 1 << 30));
  verb.add_option("--evaluation", evaluation_, "how the samplers draw")->check(CLI::IsMember({"seeded", "greedy"}));
  verb.add_option("--seed", seed_, "of the rotations")->check(CLI::NonNegativeNumber);
  runtime_.add_to(verb);
}

RunModel RunOverrides::load(const std::filesystem::path& run) const {
  runtime_.apply();
  RunModel loaded = load_run_model(run);
  if (data_) loaded.settings.data = *data_;
  if (evaluation_) loaded.settings.evaluation.evaluation = *evaluation_;
  if (seed_) loaded.settings.seed = *seed_;
  if (votes_) loaded.settings.evaluation.votes = *votes_;
  if (points_) loaded.settings.clouds.points = *points_;
  return loaded;
}

}  // namespace geosft
