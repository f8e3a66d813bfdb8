// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <iomanip>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "data/points/part_dataset.h"
#include "models/summary.h"
#include "tools/experiment/file_options.h"
#include "tools/experiment/info_command.h"
#include "tools/experiment/report_texts.h"
#include "tools/experiment/zoo.h"
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

nlohmann::json parts_json(const std::vector<std::string>& class_names, const PartList& parts) {
  nlohmann::json list = nlohmann::json::array();
  for (size_t id = 0; id < parts.size(); ++id) {
    list.push_back(
        {{"id", id}, {"class", class_names.at(static_cast<size_t>(parts[id].category))}, {"part", parts[id].name}});
  }
  return list;
}

void describe_trained(const std::filesystem::path& run, bool json) {
  const SegmentRun trained = load_segment_run(run);
  SegmentSettings settings = trained.settings;
  if (json) {
    nlohmann::json object =
        run_json(run, settings.config().to_toml(), trained.class_names, parameter_count(*trained.model));
    object["parts"] = parts_json(trained.class_names, trained.parts);
    std::cout << json_line(object);
    return;
  }
  std::cout << settings.config().to_toml() << '\n';
  print_parts(trained.class_names, trained.parts);
  std::cout << '\n' << summary(*trained.model);
}

void describe_part_dataset(const std::filesystem::path& folder, bool json) {
  const auto training = open_part_dataset(folder, PartSplit::train), test = open_part_dataset(folder, PartSplit::test);
  if (json) {
    nlohmann::json object{{"data", folder.string()},
                          {"train", training->size()},
                          {"test", test->size()},
                          {"normals", test->has_normals()},
                          {"classes", training->class_names()},
                          {"parts", parts_json(training->class_names(), training->parts())}};
    if (has_validation_split(folder)) {
      object["validation"] = open_part_dataset(folder, PartSplit::validation)->size();
    }
    std::cout << json_line(object);
    return;
  }
  std::cout << training->size() << " shapes to train with";
  if (has_validation_split(folder)) {
    std::cout << ", " << open_part_dataset(folder, PartSplit::validation)->size() << " to validate with";
  }
  std::cout << ", " << test->size() << " to test with, " << (test->has_normals() ? "with" : "without") << " normals\n";
  print_parts(training->class_names(), training->parts());
}

void describe(const std::filesystem::path& what, const FileOptions& options, bool json) {
  const bool folder = std::filesystem::is_directory(what);
  if (names_run(what)) {
    describe_trained(what, json);
  } else if (folder) {
    describe_part_dataset(what, json);
  } else {
    std::cout << (json ? json_line(shape_file_json(what, options.columns)) : shape_file_text(what, options.columns));
  }
}

}  // namespace

Command add_segment_info_command(CLI::App& subcommand) {
  const auto options = std::make_shared<FileOptions>();
  auto json = std::make_shared<bool>(false);
  return info_command(
      subcommand, "RUN folder, checkpoint (*.ckpt), dataset, or a file with a shape",
      [options, json](const std::filesystem::path& what) { describe(what, *options, *json); },
      [options, json](CLI::App& app) {
        options->add_columns_to(app);
        app.add_flag("--json", *json, "print one JSON object");
      });
}

}  // namespace geosft
