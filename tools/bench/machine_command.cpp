// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "tools/bench/bench_options.h"
#include "tools/bench/commands.h"
#include "tools/bench/machine.h"

namespace geosft::bench {
namespace {

struct MachineCommand {
  MachineOptions options;
  bool json = false;

  int execute() const {
    options.apply();
    const Machine machine = measure_machine();
    if (json) {
      std::cout << machine_json(machine).dump() << '\n';
    } else {
      std::cout << machine_text(machine);
    }
    return 0;
  }
};

}  // namespace

Command add_machine_command(CLI::App& subcommand) {
  auto command = std::make_shared<MachineCommand>();
  subcommand.add_flag("--json", command->json, "print one JSON object");
  command->options.add_to(subcommand);
  return [command] { return command->execute(); };
}

}  // namespace geosft::bench
