// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/info_command.h"

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>

#include "models/summary.h"
#include "tools/classify/commands.h"
#include "tools/classify/run_model.h"
#include "tools/experiment/file_options.h"
#include "tools/experiment/report_texts.h"
#include "tools/experiment/zoo.h"

namespace geosft {
namespace {

nlohmann::json json_of_run(const std::filesystem::path& run) {
  RunModel trained = load_run_model(run);
  return run_json(run, trained.settings.config().to_toml(), trained.class_names, parameter_count(*trained.model));
}

void describe_run(const std::filesystem::path& run, bool json) {
  if (json) {
    std::cout << json_line(json_of_run(run));
    return;
  }
  const RunModel trained = load_run_model(run);
  ClassifySettings settings = trained.settings;
  std::cout << settings.config().to_toml() << "\nclasses (" << trained.class_names.size() << "):";
  for (const std::string& name : trained.class_names) std::cout << ' ' << name;
  std::cout << "\n\n" << summary(*trained.model);
}

int64_t total(const std::vector<int64_t>& counts) {
  return std::accumulate(counts.begin(), counts.end(), int64_t{0});
}

void describe_dataset(const std::filesystem::path& data, bool json) {
  const PointDatasetSummary found = summarize_point_dataset(data);
  nlohmann::json classes = nlohmann::json::array();
  std::string lines;
  for (size_t i = 0; i < found.class_names.size(); ++i) {
    classes.push_back({{"name", found.class_names[i]}, {"train", found.train[i]}, {"test", found.test[i]}});
    lines += "  " + found.class_names[i] + ": " + std::to_string(found.train[i]) + " to train with, " +
             std::to_string(found.test[i]) + " to test with\n";
  }
  const bool also_model = names_run(data);  // furniture is a dataset and a pretrained model
  if (json) {
    nlohmann::json object{{"data", data.string()},
                          {"format", found.format},
                          {"train", total(found.train)},
                          {"test", total(found.test)},
                          {"normals", found.normals ? nlohmann::json(*found.normals) : nlohmann::json()},
                          {"classes", classes},
                          {"warnings", found.warnings}};
    if (also_model) object["pretrained"] = json_of_run(data);
    std::cout << json_line(object);
    return;
  }
  for (const std::string& warning : found.warnings) std::cerr << warning << '\n';
  std::cout << data.string() << ": " << found.format << ", " << total(found.train) << " clouds to train with, "
            << total(found.test) << " to test with";
  if (found.normals) std::cout << (*found.normals ? ", with normals" : ", without normals");
  std::cout << '\n' << found.class_names.size() << " classes:\n" << lines;
  if (!also_model) return;
  std::cout << "\nthe pretrained model " << data.string() << ":\n";
  describe_run(data, json);
}

void describe(const std::filesystem::path& what, const FileOptions& options, bool json) {
  const bool folder = std::filesystem::is_directory(what), holds_run = RunFolder::holds_run(what);
  if (what == "furniture" && !holds_run) {
    describe_dataset(what, json);
  } else if (names_run(what)) {
    describe_run(what, json);
  } else if (folder) {
    describe_dataset(what, json);
  } else {
    std::cout << (json ? json_line(shape_file_json(what, options.columns)) : shape_file_text(what, options.columns));
  }
}

}  // namespace

Command add_info_command(CLI::App& subcommand) {
  const auto options = std::make_shared<FileOptions>();
  auto json = std::make_shared<bool>(false);
  return info_command(
      subcommand, "RUN folder, checkpoint (*.ckpt), dataset (furniture, or a folder), or a file with a shape",
      [options, json](const std::filesystem::path& what) { describe(what, *options, *json); },
      [options, json](CLI::App& app) {
        options->add_columns_to(app);
        app.add_flag("--json", *json, "print one JSON object");
      });
}

}  // namespace geosft
