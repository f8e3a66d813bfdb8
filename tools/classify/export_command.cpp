// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <optional>

#include "data/atomic_file.h"
#include "data/data_error.h"
#include "data/formats/hdf5_file.h"
#include "data/formats/point_columns.h"
#include "data/seeds.h"
#include "tools/classify/classify_experiment.h"
#include "tools/experiment/arguments.h"

namespace geosft {
namespace {

struct ExportCommand {
  ClassifySettings settings;
  std::string out;
  std::optional<int64_t> points;
  RuntimeOptions runtime;

  // Returns a split as the arrays of one file. Throws DataError for clouds of different size.
  std::map<std::string, at::Tensor> arrays(const PointDataset& dataset) const {
    std::vector<at::Tensor> clouds, normals;
    std::vector<int64_t> labels;
    for (int64_t i = 0; i < dataset.size(); ++i) {
      Shape shape = dataset.get(i);
      if (points) {
        keep_subset(shape, *points, make_generator(combine_seeds({settings.seed, static_cast<uint64_t>(i)})));
      }
      const int64_t count = points.value_or(clouds.empty() ? shape.points.size(0) : clouds.front().size(0));
      if (shape.points.size(0) != count) {
        throw DataError(shape.name, std::to_string(count) + " points, as other clouds have (or a smaller --points)",
                        std::to_string(shape.points.size(0)));
      }
      clouds.push_back(shape.points);
      if (dataset.has_normals()) normals.push_back(shape.normals);
      labels.push_back(shape.label);
    }
    std::map<std::string, at::Tensor> result{{"data", at::stack(clouds)},
                                             {"label", at::tensor(labels, at::kLong).unsqueeze(1)}};
    if (!normals.empty()) result["normal"] = at::stack(normals);
    return result;
  }

  // Returns whether a dataset has normals; names the first file without any.
  static std::string normals_text(const PointDataset& dataset) {
    if (dataset.has_normals()) return "with normals";
    const std::string file = dataset.file_without_normals();
    return "without normals" + (file.empty() ? "" : ": " + file + " has none");
  }

  int execute() {
    runtime.apply();
    refuse_unused_reading(settings.clouds.columns, settings.clouds.drop_invalid, settings.data,
                          ClassifySettings::kReadOptionUse);
    const std::filesystem::path folder = out;
    std::error_code absent;
    if (std::filesystem::equivalent(folder, settings.data, absent)) {
      throw UsageError("--out: " + out + " is the dataset that is read: name another folder");
    }
    std::filesystem::create_directories(folder);
    std::string names;
    for (const Split split : {Split::train, Split::test}) {
      std::unique_ptr<PointDataset> dataset;
      with_broken_hint([&] { dataset = open_dataset(settings, split); });
      const std::string name = split == Split::train ? "train" : "test", file = "ply_data_" + name + "0.h5";
      const auto written = arrays(*dataset);
      write_hdf5(folder / file, written);
      write_file_atomically(folder / (name + "_files.txt"), file + "\n");
      names.clear();
      for (const std::string& label : dataset->class_names()) names += label + "\n";
      std::cout << (folder / file).string() << ": " << dataset->size() << " clouds of " << written.at("data").size(1)
                << " points, " << normals_text(*dataset) << '\n';
    }
    write_file_atomically(folder / "shape_names.txt", names);
    return 0;
  }
};

}  // namespace

Command add_export_command(CLI::App& subcommand) {
  auto command = std::make_shared<ExportCommand>();
  ClassifySettings& settings = command->settings;
  subcommand.add_option("DATA", settings.data, "dataset: furniture, or a folder")->required();
  subcommand.add_option("--out", command->out, "folder to write to")->required();
  subcommand.add_option("--points", command->points, "random points of each cloud (default: all)")
      ->check(CLI::Range(1, 1 << 30));
  subcommand.add_option("--points-per-mesh", settings.clouds.points_per_mesh, "points sampled from each mesh")
      ->check(CLI::Range(1, 1 << 30))
      ->capture_default_str();
  subcommand.add_option("--seed", settings.seed, "of the points; the default is that of train")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  ClassifyCloudSettings& clouds = settings.clouds;
  subcommand
      .add_option(
          "--test-every", clouds.test_every,
          "folder tree without train and test folders: one in so many files of a class is test; 0: all are both")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  add_enum_option(subcommand, "--split-order", &clouds.split_order,
                  "which files these are: by a hash of their names, or every so many-th by name");
  subcommand.add_option("--columns", clouds.columns, "of tables of text, such as x,y,z,r,g,b")->check(columns_error);
  subcommand.add_flag("--drop-invalid", clouds.drop_invalid, "leave out points without finite coordinates");
  add_skip_broken_to(subcommand, clouds.skip_broken);
  command->runtime.add_to(subcommand);
  return [command] { return command->execute(); };
}

}  // namespace geosft
