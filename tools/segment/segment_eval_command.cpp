// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "tools/experiment/eval_options.h"
#include "tools/segment/commands.h"
#include "tools/segment/segment_overrides.h"
#include "tools/segment/segment_report.h"

namespace geosft {
namespace {

struct SegmentEvalCommand {
  CloudEvalArguments given;
  SegmentOverrides overrides;

  int execute() {
    SegmentRun trained = overrides.load(given.run);
    const SegmentReport report = evaluate(trained, given.split, given.rotation(), given.turns());
    if (given.json) {
      std::cout << segment_json(report, trained.class_names).dump() << '\n';
    } else {
      std::cout << segment_text(report, trained.class_names);
    }
    return 0;
  }
};

}  // namespace

Command add_segment_eval_command(CLI::App& subcommand) {
  auto command = std::make_shared<SegmentEvalCommand>();
  command->given.add_to(subcommand, {"train", "validation", "test"});
  command->overrides.add_to(subcommand);
  return [command] { return command->execute(); };
}

}  // namespace geosft
