// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "tools/common/cloud_eval_arguments.h"
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

Command add_segment_eval_command(CLI::App& verb) {
  auto command = std::make_shared<SegmentEvalCommand>();
  command->given.add_to(verb, {"train", "validation", "test"});
  command->overrides.add_to(verb);
  return [command] { return command->execute(); };
}

}  // namespace geosft
