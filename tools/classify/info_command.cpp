// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

#include "models/summary.h"
#include "tools/classify/commands.h"
#include "tools/classify/run_model.h"
#include "tools/experiment/report_texts.h"
#include "tools/experiment/subcommand.h"

namespace geosft {
namespace {

void describe_run(const std::filesystem::path& run) {
  const RunModel trained = load_run_model(run);
  ClassifySettings settings = trained.settings;
  std::cout << settings.config().to_toml() << "\nclasses (" << trained.class_names.size() << "):";
  for (const std::string& name : trained.class_names) std::cout << ' ' << name;
  std::cout << "\n\n" << summary(*trained.model);
}

struct InfoCommand {
  std::filesystem::path what;
  uint64_t seed = 0;
  RuntimeOptions runtime;

  int execute() const {
    runtime.apply();
    if (std::filesystem::is_directory(what) || what.extension() == ".ckpt") {
      describe_run(what);
    } else {
      std::cout << shape_file_text(what);
    }
    return 0;
  }
};

}  // namespace

Command add_info_command(CLI::App& subcommand) {
  auto command = std::make_shared<InfoCommand>();
  subcommand.add_option("WHAT", command->what, "RUN folder, checkpoint (*.ckpt), or a file with a shape")->required();
  subcommand.add_option("--seed", command->seed, "as for the other commands; this one draws nothing")
      ->check(CLI::NonNegativeNumber);
  command->runtime.add_to(subcommand);
  return [command] { return command->execute(); };
}

}  // namespace geosft
