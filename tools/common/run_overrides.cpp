// SPDX-License-Identifier: Apache-2.0
#include "tools/common/run_overrides.h"

#include <CLI/CLI.hpp>

namespace geosft {

void RunOverrides::add_to(CLI::App& verb, const std::string& data_help, const std::string& seed_help, bool votes) {
  verb.add_option("--data", data_, data_help);
  if (votes) {
    verb.add_option("--votes", votes_, "draws whose logits are averaged")->check(CLI::Range(1, 1000000));
  }
  verb.add_option("--evaluation", evaluation_, "how the samplers draw")->check(CLI::IsMember({"seeded", "greedy"}));
  verb.add_option("--seed", seed_, seed_help)->check(CLI::NonNegativeNumber);
  runtime_.add_to(verb);
}

void RunOverrides::apply(std::string& data, uint64_t& seed, EvaluationSettings& evaluation) const {
  if (data_) data = *data_;
  if (seed_) seed = *seed_;
  if (evaluation_) evaluation.evaluation = *evaluation_;
  if (votes_) evaluation.votes = *votes_;
}

}  // namespace geosft
