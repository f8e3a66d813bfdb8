// SPDX-License-Identifier: Apache-2.0
#include <iomanip>
#include <iostream>

#include "data/points/part_dataset.h"
#include "models/summary.h"
#include "tools/experiment/file_options.h"
#include "tools/experiment/info_command.h"
#include "tools/experiment/report_texts.h"
#include "tools/segment/commands.h"
#include "tools/segment/segment_run.h"

namespace geosft {
namespace {

void print_parts(const std::vector<std::string>& class_names, const PartList& parts) {
  std::cout << class_names.size() << " classes, " << parts.size() << " parts:\n";
  for (size_t label = 0; label < class_names.size(); ++label) {
    std::cout << "  " << class_names[label] << ':';
    for (size_t id = 0; id < parts.size(); ++id) {
      if (parts[id].category == static_cast<int64_t>(label)) std::cout << ' ' << id << ' ' << parts[id].name;
    }
    std::cout << '\n';
  }
}

void describe_trained(const std::filesystem::path& run) {
  const SegmentRun trained = load_segment_run(run);
  SegmentSettings settings = trained.settings;
  std::cout << settings.config().to_toml() << '\n';
  print_parts(trained.class_names, trained.parts);
  std::cout << '\n' << summary(*trained.model);
}

void describe_part_dataset(const std::filesystem::path& folder) {
  const auto training = open_part_dataset(folder, PartSplit::train), test = open_part_dataset(folder, PartSplit::test);
  std::cout << training->size() << " shapes to train with";
  if (has_validation_split(folder)) {
    std::cout << ", " << open_part_dataset(folder, PartSplit::validation)->size() << " to validate with";
  }
  std::cout << ", " << test->size() << " to test with, " << (test->has_normals() ? "with" : "without") << " normals\n";
  print_parts(training->class_names(), training->parts());
}

void describe(const std::filesystem::path& what, const FileOptions& options) {
  const bool folder = std::filesystem::is_directory(what);
  if (what.extension() == ".ckpt" || (folder && std::filesystem::exists(what / "config.toml"))) {
    describe_trained(what);
  } else if (folder) {
    describe_part_dataset(what);
  } else {
    std::cout << shape_file_text(what, options.columns);
  }
}

}  // namespace

Command add_segment_info_command(CLI::App& subcommand) {
  const auto options = std::make_shared<FileOptions>();
  return info_command(
      subcommand, "RUN folder, checkpoint (*.ckpt), dataset, or a file with a shape",
      [options](const std::filesystem::path& what) { describe(what, *options); },
      [options](CLI::App& app) { options->add_columns_to(app); });
}

}  // namespace geosft
