// SPDX-License-Identifier: Apache-2.0
#include <iostream>

#include "models/summary.h"
#include "tools/classify/commands.h"
#include "tools/classify/run_model.h"
#include "tools/experiment/file_options.h"
#include "tools/experiment/info_command.h"
#include "tools/experiment/report_texts.h"

namespace geosft {
namespace {

void describe_run(const std::filesystem::path& run) {
  const RunModel trained = load_run_model(run);
  ClassifySettings settings = trained.settings;
  std::cout << settings.config().to_toml() << "\nclasses (" << trained.class_names.size() << "):";
  for (const std::string& name : trained.class_names) std::cout << ' ' << name;
  std::cout << "\n\n" << summary(*trained.model);
}

void describe(const std::filesystem::path& what, const FileOptions& options) {
  if (std::filesystem::is_directory(what) || what.extension() == ".ckpt") {
    describe_run(what);
  } else {
    std::cout << shape_file_text(what, options.columns);
  }
}

}  // namespace

Command add_info_command(CLI::App& subcommand) {
  const auto options = std::make_shared<FileOptions>();
  return info_command(
      subcommand, "RUN folder, checkpoint (*.ckpt), or a file with a shape",
      [options](const std::filesystem::path& what) { describe(what, *options); },
      [options](CLI::App& app) { options->add_columns_to(app); });
}

}  // namespace geosft
