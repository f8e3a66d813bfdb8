// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/cloud_commands.h"

#include <CLI/CLI.hpp>

#include <set>

#include "data/data_error.h"
#include "data/formats/point_columns.h"
#include "data/formats/shape_file.h"
#include "tools/experiment/coloured_ply.h"

namespace geosft {

void PredictArguments::add_to(CLI::App& subcommand, const PredictHelp& help, const char* program, bool file_or_data) {
  add_run_to(subcommand);
  subcommand
      .add_option("FILE", files,
                  "meshes or clouds: " + shape_extensions() + "; folders of them, or patterns such as 'a/*.off'")
      ->required(!file_or_data);
  check_run_first(subcommand, {program, "chair.obj", has_shape_extension, file_or_data});
  add_json_to(subcommand, "print one JSON object a file");
  as_output_file(subcommand.add_option("--csv", csv, help.csv));
  subcommand.add_flag("--fail-fast", fail_fast, "stop at the first file that cannot be read");
  subcommand.add_option("--picture", picture, help.picture);
  subcommand.add_option("--ply", ply, help.ply)->check(ply_name_error);
  reading.add_to(subcommand);
  subcommand.add_flag("--estimated-normals", reading.estimated_normals,
                      "estimate the normals of all files: their own, which may not fit or point inward, are not used");
}

void PredictArguments::add_set_to(CLI::App& subcommand, std::vector<std::string> splits) {
  splits.insert(splits.begin(), "all");
  subcommand.add_option("--split", split, "with --data: the split to predict, as in split.csv; all: every split")
      ->check(CLI::IsMember(splits))
      ->capture_default_str();
  const auto describe = [&](const std::string& option, const std::string& help) {
    subcommand.get_option(option)->description(help);
  };
  describe("--data", "dataset: a folder, in place of FILE; each cloud has its own class");
  describe(
      "--other-data",
      "with --data and a --split by name: take clouds that split.csv does not list; none may have been trained on");
  describe("--columns",
           "of tables of text or NumPy, such as x,y,z,r,g,b or x,y,z,nx,ny,nz (default: by header and values; with "
           "--data: as in training)");
  describe("--drop-invalid",
           "leave out points without finite coordinates (default; with --data: as in training, otherwise an error)");
  parsed_ = &subcommand;
}

void PredictArguments::choose_input() {
  if (parsed_ == nullptr) return;
  const auto given = [&](const std::string& option) { return parsed_->count(option) > 0; };
  of_set = given("--data");
  for (const std::string option : {"--split", "--other-data"}) {
    if (!of_set && given(option)) throw UsageError(option + " is about a dataset: name it with --data");
  }
  if (!of_set) return;
  const std::string data = parsed_->get_option("--data")->results().back();
  if (data.starts_with("--")) throw UsageError("--data: expected a value, found the option '" + data + "'");
  for (const std::string replaced : {"FILE", "--category"}) {
    if (!given(replaced)) continue;
    throw UsageError("either " + replaced + " or --data, whose clouds have their own classes, not both");
  }
  if (!given("--drop-invalid")) reading.drop_invalid = false;  // as the training read its dataset
}

void SetClouds::add(std::unique_ptr<PointDataset> split) {
  std::set<std::string> known(names.begin(), names.end());
  for (int64_t row = 0; row < split->size(); ++row) {
    std::string name = split->name(row);
    if (!known.insert(name).second) {
      ++repeated;
      continue;
    }
    clouds.emplace_back(split.get(), row);
    names.push_back(std::move(name));
  }
  splits.push_back(std::move(split));
}

void CloudReading::add_to(CLI::App& subcommand, const ItemWords&) {
  options.drop_invalid = false;  // as a training reads a dataset
  options.add_columns_to(subcommand);
  subcommand.add_flag("--drop-invalid", options.drop_invalid,
                      "with --check: points without finite coordinates are left out, and no error");
  subcommand.add_flag("--check", check, "read all files of a dataset, and name the broken ones");
}

std::string num_samples_note(const PointModelSettings& model, int64_t points) {
  const int64_t samples = model.sampling.num_samples;
  const bool fits = 2 * samples <= points + 1 || model.sampling.with_replacement;
  if (fits || model.kind() != AttentionKind::sampling) return "";
  return "num_samples = " + std::to_string(samples) + " is more than half of the " + std::to_string(points) +
         " points of a cloud: each layer has pairs of all points";
}

void add_skip_broken_to(CLI::App& subcommand, bool& skip_broken) {
  subcommand.add_flag("--skip-broken", skip_broken,
                      "leave out files of the dataset that cannot be read, and name them");
}

void add_other_data_to(CLI::App& subcommand, bool& other_data) {
  subcommand.add_flag("--other-data", other_data,
                      "take clouds that RUN's split.csv does not list; none may have been trained on");
}

void add_test_every_to(CLI::App& subcommand, std::optional<int64_t>& test_every, const std::string& otherwise) {
  subcommand
      .add_option("--test-every", test_every,
                  "folder tree without train and test folders: one in so many files of a class is test; 0: all are "
                  "(default: " +
                      otherwise + ")")
      ->check(CLI::NonNegativeNumber);
}

void DatasetReading::add_to(CLI::App& subcommand) {
  if (subcommand.get_option_no_throw("--columns") != nullptr) return;
  subcommand
      .add_option("--columns", columns,
                  "of tables of text or NumPy, such as x,y,z,r,g,b or x,y,z,nx,ny,nz (default: as in training)")
      ->check(columns_error);
  subcommand.add_flag("--drop-invalid", drop_invalid,
                      "leave out points without finite coordinates (default: as in training)");
}

void DatasetReading::apply(CloudSettings& clouds, const std::string& data, FindReadOptionUse* find) const {
  refuse_unused_reading(columns, drop_invalid, data, find);
  if (!columns.empty()) clouds.columns = columns;
  clouds.drop_invalid = clouds.drop_invalid || drop_invalid;
}

void refuse_dataset_options(CLI::App& subcommand) {
  for (const std::string name : {"--data", "--skip-broken", "--other-data", "--test-every"}) {
    CLI::Option* const option = subcommand.get_option_no_throw(name);
    if (option == nullptr) continue;
    option->group("")->each([&subcommand, name](const std::string&) {
      if (subcommand.get_help_ptr()->count() > 0) return;
      throw UsageError(name + " is about a dataset: predict reads the files that are named, and has no use for it");
    });
  }
}

void require_something_at(const std::filesystem::path& path, const std::string& kinds) {
  std::error_code error;
  if (std::filesystem::exists(path, error)) return;
  throw DataError(path.string(), "one of: " + kinds, "nothing of this name");
}

void print_shape_file(const std::filesystem::path& file, const FileOptions& options, bool json) {
  if (const std::string note = options.columns_note({file.string()}); !note.empty()) std::cerr << note << '\n';
  std::cout << (json ? json_line(shape_file_json(file, options.columns)) : shape_file_text(file, options.columns));
}

void CloudReportArguments::add_to(CLI::App& subcommand, const std::vector<std::string>& splits) {
  ReportArguments::add_to(subcommand);
  add_enum_option(subcommand, "--rotate", &rotation,
                  "rotate the clouds once: not at all, about z, or by any rotation; the page also says how far the "
                  "predictions differ from those of the upright clouds");
  subcommand.add_option("--split", split, "which clouds")->check(CLI::IsMember(splits))->capture_default_str();
}

}  // namespace geosft
