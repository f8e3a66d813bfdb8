// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "tools/classify/classify_overrides.h"
#include "tools/classify/commands.h"
#include "tools/classify/report.h"
#include "tools/experiment/eval_options.h"

namespace geosft {
namespace {

struct EvalCommand {
  CloudEvalArguments given;
  ClassifyOverrides overrides;

  int execute() {
    RunModel trained = overrides.load(given.run);
    const EvaluationReport report = evaluate(trained, given.split, given.rotation(), given.turns());
    if (RunFolder::holds_run(given.run)) {
      draw_confusion(report, trained.class_names, RunFolder::open(given.run));
    }
    if (given.json) {
      std::cout << evaluation_json(report).dump() << '\n';
    } else {
      std::cout << evaluation_text(report, trained.class_names);
    }
    return 0;
  }
};

}  // namespace

Command add_eval_command(CLI::App& subcommand) {
  auto command = std::make_shared<EvalCommand>();
  command->given.add_to(subcommand, {"train", "test"});
  command->overrides.add_to(subcommand);
  return [command] { return command->execute(); };
}

}  // namespace geosft
