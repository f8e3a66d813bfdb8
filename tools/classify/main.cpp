// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <iostream>
#include <vector>

#include "tools/classify/commands.h"
#include "tools/common/arguments.h"
#include "tools/common/main_guard.h"
#include "tools/common/run_folder.h"

namespace {

struct Verb {
  const char* name;
  const char* help;
  geosft::Command (*add)(CLI::App&);
};

constexpr Verb verbs[] = {
    {"train", "train a classifier on a dataset and leave it in a RUN folder", geosft::add_train_command},
    {"eval", "accuracy of a trained classifier, upright or rotated", geosft::add_eval_command},
    {"predict", "class of each of some files", geosft::add_predict_command},
    {"info", "what a RUN folder, a checkpoint or a shape file holds", geosft::add_info_command},
};

int classify(int argc, char** argv) {
  CLI::App app{"Classification of 3D shapes by the Sampling Foundational Transformer"};
  app.set_version_flag("--version", geosft::version_text());
  app.require_subcommand(1);
  std::vector<std::pair<CLI::App*, geosft::Command>> commands;
  for (const Verb& verb : verbs) {
    CLI::App* sub = app.add_subcommand(verb.name, verb.help);
    commands.emplace_back(sub, verb.add(*sub));
  }
  if (!geosft::parse_arguments(app, argc, argv, std::cout)) return 0;
  for (const auto& [verb, run] : commands) {
    if (verb->parsed()) return run();
  }
  throw geosft::UsageError("no command given: train, eval, predict or info");
}

}  // namespace

int main(int argc, char** argv) {
  return geosft::run_tool("geosft-classify", [&] { return classify(argc, argv); });
}
