// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "tools/classify/classify_overrides.h"
#include "tools/classify/commands.h"
#include "tools/classify/report.h"
#include "tools/common/arguments.h"

namespace geosft {
namespace {

struct EvalCommand {
  std::string run, rotate = "none", split = "test";
  int64_t repeats = 1;
  bool json = false;
  ClassifyOverrides overrides;

  int execute() {
    RunModel trained = overrides.load(run);
    const Rotation rotation = rotation_of(rotate);
    const EvaluationReport report = evaluate(trained, split, rotation, rotation == Rotation::none ? 1 : repeats);
    if (std::filesystem::is_directory(run)) draw_confusion(report, trained.class_names, RunFolder::open(run));
    if (json) {
      std::cout << evaluation_json(report).dump() << '\n';
    } else {
      std::cout << evaluation_text(report, trained.class_names);
    }
    return 0;
  }
};

}  // namespace

Command add_eval_command(CLI::App& verb) {
  auto command = std::make_shared<EvalCommand>();
  verb.add_option("RUN", command->run, "RUN folder, or a checkpoint file")->required();
  verb.add_option("--rotate", command->rotate, "rotate the clouds: not at all, about z, or by any rotation")
      ->check(CLI::IsMember({"none", "z", "so3"}))
      ->capture_default_str();
  verb.add_option("--repeats", command->repeats, "rotations a cloud")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  verb.add_option("--split", command->split, "which clouds")
      ->check(CLI::IsMember({"train", "test"}))
      ->capture_default_str();
  verb.add_flag("--json", command->json, "print one JSON object");
  command->overrides.add_to(verb);
  return [command] { return command->execute(); };
}

}  // namespace geosft
