// SPDX-License-Identifier: Apache-2.0
// Classification as an experiment: its data, its evaluation and report, and what its subcommands print.
#pragma once

#include <nlohmann/json.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tools/classify/predict_output.h"
#include "tools/experiment/classify_task.h"
#include "tools/experiment/cloud_commands.h"

namespace geosft {

struct ClassifyEvaluation {
  ClassificationMetrics metrics;         // of the rotated copies, if any
  std::optional<Invariance> invariance;  // of the rotated copies
};

// For its members see cloud_commands.h.
struct ClassifyExperiment : CloudExperiment<ClassifyExperiment, Classification> {
  using Evaluation = ClassifyEvaluation;
  using Output = ClassifyOutput;
  using Clouds = TrainingClouds<ClassNames>;

  static constexpr TrainerHelp help{
      .description = "Classification of 3D shapes by the Sampling Foundational Transformer",
      .train = "train a classifier on a dataset and leave it in a RUN folder",
      .eval = "accuracy of a trained classifier, upright or rotated",
      .predict = "class of each of some files",
      .info = "what a RUN folder, a checkpoint or a shape file holds"};
  static constexpr const char
      *name = "classification",
      *seed_help = "of the points that are sampled of a mesh, or kept of a large cloud, and of the rotations";
  static constexpr SizeOption size_option{"--points", "points of a cloud that the model sees (default: as in training)",
                                          1};
  static int64_t& size_of(ClassifySettings& settings) { return settings.clouds.points; }
  static std::vector<std::string> splits() { return {"train", "validation", "test"}; }

  static Clouds open_training(const ClassifySettings& settings, const Communicator& processes);
  static std::unique_ptr<TrainingTask> make_task(const PointClassifier& model, const Clouds& clouds,
                                                 const ClassifySettings& settings, const Communicator& processes);

  // Fits the kernel regression of a trained run, unless it has one, to the clouds that it was trained on, and chooses
  // its weight on those that were held out, if any.
  static void fit_companion(const ClassifySettings& settings, const RunFolder& folder, at::Device device);
  static std::unique_ptr<PointDataset> open_files(const RunModel& trained, const std::string& split);
  static std::vector<std::string> recorded_splits(const ClassifySettings& settings, const std::string& split);
  static Evaluation evaluate(RunModel& trained, const PointDataset& clouds, Rotation rotation, int64_t repeats,
                             const std::function<void(int64_t)>& progress);
  static double accuracy(const Evaluation& evaluation) { return evaluation.metrics.accuracy; }
  static const std::vector<ReliabilityBin>& reliability(const Evaluation& evaluation) {
    return evaluation.metrics.reliability;
  }
  static const at::Tensor& confusion(const Evaluation& evaluation) { return evaluation.metrics.confusion; }
  static nlohmann::json metrics_json(const Evaluation& evaluation);
  // Adds the figures of each class, and the confusion matrix: rows are the true classes, columns the predicted ones.
  static void add_json(nlohmann::json& json, const Evaluation& evaluation, const ClassNames& outputs);
  static std::string metrics_text(const Evaluation& evaluation);
  static std::string loss_text(const Evaluation&) { return ""; }
  static std::vector<std::vector<std::string>> table(const Evaluation& evaluation, const ClassNames& outputs);
  // Returns the table of a HTML report: the clouds of each class, its recall, precision and F1.
  static std::vector<std::vector<std::string>> page_table(const Evaluation& evaluation, const ClassNames& outputs);
  // Draws the confusion matrix; prints a line to stderr if gnuplot is missing.
  static void draw(const CloudReport<ClassifyExperiment>& report, const ClassNames& outputs, const RunFolder& folder);

  static Mistakes mistakes(RunModel& trained, const PointDataset& clouds, const std::string& split, int64_t count);

  static std::string outputs_text(const ClassNames& outputs);
  static void add_outputs(nlohmann::json&, const ClassNames&) {}
  static bool holds_data(const std::filesystem::path& path) { return path == "furniture"; }
  // How info reads a dataset.
  struct Reading : CloudReading {
    std::optional<int64_t> test_every;

    void add_to(CLI::App& subcommand, const ItemWords& words) {
      CloudReading::add_to(subcommand, words);
      add_test_every_to(subcommand, test_every, "5");
    }
  };
  static void print_dataset(const std::filesystem::path& data, const Reading& reading, bool json);
};

// Adds the options of export, which writes the clouds of a dataset as arrays.
Command add_export_command(CLI::App& subcommand);

}  // namespace geosft
