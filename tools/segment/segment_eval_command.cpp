// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "tools/segment/commands.h"
#include "tools/segment/segment_overrides.h"
#include "tools/segment/segment_report.h"

namespace geosft {
namespace {

struct SegmentEvalCommand {
  std::string run, rotate = "none", split = "test";
  int64_t repeats = 1;
  bool json = false;
  SegmentOverrides overrides;

  int execute() {
    SegmentRun trained = overrides.load(run);
    const Rotation rotation = rotation_of(rotate);
    const SegmentReport report = evaluate(trained, split, rotation, rotation == Rotation::none ? 1 : repeats);
    if (json) {
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
  verb.add_option("RUN", command->run, "RUN folder, or a checkpoint file")->required();
  verb.add_option("--rotate", command->rotate, "rotate the clouds: not at all, about z, or by any rotation")
      ->check(CLI::IsMember({"none", "z", "so3"}))
      ->capture_default_str();
  verb.add_option("--repeats", command->repeats, "rotations a cloud")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  verb.add_option("--split", command->split, "which clouds")
      ->check(CLI::IsMember({"train", "validation", "test"}))
      ->capture_default_str();
  verb.add_flag("--json", command->json, "print one JSON object");
  command->overrides.add_to(verb);
  return [command] { return command->execute(); };
}

}  // namespace geosft
