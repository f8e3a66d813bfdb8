// SPDX-License-Identifier: Apache-2.0
// Part segmentation as an experiment: its data, its report, and what its subcommands print.
#pragma once

#include <nlohmann/json.hpp>

#include <memory>
#include <string>
#include <vector>

#include "tools/experiment/cloud_commands.h"
#include "tools/segment/predict_output.h"
#include "tools/segment/segment_evaluation.h"

namespace geosft {

// For its members see cloud_commands.h.
struct SegmentExperiment : CloudExperiment<SegmentExperiment, Segmentation> {
  using Evaluation = SegmentEvaluation;
  using Output = SegmentOutput;
  using Clouds = TrainingClouds<PartNames>;

  static constexpr TrainerHelp help{.description = "Parts of 3D shapes by the Sampling Foundational Transformer",
                                    .train = "train a model of the parts of shapes and leave it in a RUN folder",
                                    .eval = "how well a trained model finds the parts, upright or rotated",
                                    .predict = "the part of every point of some files, or of a dataset",
                                    .info = "what a RUN folder, a checkpoint, a dataset or a shape file holds"};
  static constexpr const char *name = "segmentation",
                              *seed_help = "of the rotations and of the points that are sampled of a mesh";
  static constexpr SizeOption size_option{
      "--block", "points of a cloud that the model sees at once; 0: all of them (default: as in training)", 0};
  static int64_t& size_of(SegmentSettings& settings) { return settings.clouds.block; }
  static std::vector<std::string> splits() { return enum_names<PartSplit>(); }

  static Clouds open_training(const SegmentSettings& settings, const Communicator& processes);
  static std::unique_ptr<TrainingTask> make_task(const PointSegmenter& model, const Clouds& clouds,
                                                 const SegmentSettings& settings, const Communicator& processes);

  static std::unique_ptr<PointDataset> open_files(const SegmentRun& trained, const std::string& split);
  static SetClouds open_set(const SegmentRun& trained, const std::string& split);
  static std::vector<std::string> recorded_splits(const SegmentSettings& settings, const std::string& split);
  static Evaluation evaluate(SegmentRun& trained, const PointDataset& clouds, Rotation rotation, int64_t repeats,
                             const std::function<void(int64_t)>& progress);
  static nlohmann::json metrics_json(const Evaluation& evaluation);
  static void add_json(nlohmann::json& json, const Evaluation& evaluation, const PartNames& outputs);
  static constexpr const char* score_name = "instance IoU";
  static MeanScore mean_score(const Evaluation& evaluation) {
    const PartScores& parts = evaluation.scores.parts;
    return {parts.instance_iou, parts.instance_iou_error, parts.shapes()};
  }
  static std::string metrics_text(const Evaluation& evaluation);
  static std::string loss_text(const Evaluation& evaluation);
  static std::string evaluation_note(const Evaluation& evaluation, const std::string& source) {
    return unlabelled_warning(evaluation.labels, source);
  }
  static std::vector<std::vector<std::string>> table(const Evaluation& evaluation, const PartNames& outputs);
  static void draw(const CloudReport<SegmentExperiment>&, const PartNames&, const RunFolder&) {}

  static Mistakes mistakes(SegmentRun& trained, const PointDataset& clouds, const std::string& split, int64_t count);

  static std::string outputs_text(const PartNames& outputs);
  static void add_outputs(nlohmann::json& json, const PartNames& outputs);
  static bool holds_data(const std::filesystem::path&) { return false; }
  static void print_dataset(const std::filesystem::path& data, const CloudReading& reading, bool json);
};

}  // namespace geosft
