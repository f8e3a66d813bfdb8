// SPDX-License-Identifier: Apache-2.0
// Part segmentation of clouds: trained models, and the logits of parts for every point.
#pragma once

#include <ATen/ATen.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "data/formats/file_shape.h"
#include "data/points/part_dataset.h"
#include "tools/experiment/blocks.h"
#include "tools/experiment/input_files.h"
#include "tools/experiment/segment_settings.h"
#include "tools/experiment/trained_run.h"

namespace geosft {

// Names of the classes and of their parts.
struct PartNames : ClassNames {
  PartList parts;

  // Returns "2 classes with 5 parts".
  std::string size_text() const { return ClassNames::size_text() + " with " + std::to_string(parts.size()) + " parts"; }
  // "parts" as part_list_text and, where labels are not the ids, "part_labels" with one on a line.
  std::map<std::string, std::string> texts() const;
  void read(const Checkpoint& checkpoint, const std::string& program, const std::filesystem::path& file);
  // Returns "Chair/seat".
  std::string part_name(int64_t part) const;
  // Returns the labels of the parts in the files of the dataset that was learned, for ids int64 of any shape.
  at::Tensor labels_of(const at::Tensor& ids) const;
  // Returns bool [classes, parts]: the parts of each class.
  at::Tensor mask() const { return part_mask(parts, static_cast<int64_t>(class_names.size())); }
};

// See TrainedRun.
struct Segmentation : TaskTypes<SegmentSettings, PartNames, PointSegmenter> {
  static constexpr const char* program = "geosft-segment";
  static Model make_model(const Settings& settings, const Outputs& outputs) {
    return Model(settings.segmenter(static_cast<int64_t>(outputs.parts.size()),
                                    static_cast<int64_t>(outputs.class_names.size())));
  }
  static ScoreStyle score(const Settings&, const Outputs&) { return {.name = "instance_iou"}; }
};

using SegmentRun = TrainedRun<Segmentation>;

// Loads a RUN folder (its best checkpoint), a checkpoint file or a pretrained model by its name (zoo.h). Throws
// DataError if another tool wrote it.
inline SegmentRun load_segment_run(const std::filesystem::path& run) {
  return load_trained_run<Segmentation>(run);
}

// Returns the dataset with the numbers of the run's classes and parts, by name. Throws DataError naming the run's data
// for a class or a part that the run does not know.
std::unique_ptr<PartDataset> with_parts_of(const SegmentRun& trained, std::unique_ptr<PartDataset> dataset);

// The splits that can be evaluated.
GEOSFT_ENUM_NAMES(PartSplit, train, validation, test);

struct PackedClouds {
  at::Tensor points, normals;  // float32 or float64 [N, 3], as in the files; normals may be undefined
  at::Tensor ptr;              // int64 [B + 1]
  at::Tensor category;         // int64 [B], or undefined for a model without class input
};

struct CloudLogits {
  at::Tensor logits;   // [N, parts], averaged over the votes, in the order of the points
  at::Tensor choices;  // int64 [N]: equal for two passes if the point's block had the same order and samples
};

// Normalises each block and processes it separately, settings.evaluation.evaluation_batch blocks at a time; memory is
// linear in the points. `progress` receives the points done, of points x votes.
CloudLogits segment_clouds(PointSegmenter& model, const SegmentSettings& settings, const PackedClouds& clouds,
                           BlockKind kind, const std::function<void(int64_t)>& progress = {});

// Masks the logits of parts that are impossible for a shape's class: allowed bool [N, parts] or [1, parts]. Half types
// become float32.
at::Tensor masked_logits(const at::Tensor& logits, const at::Tensor& allowed);

// Returns the index of the class; of an empty name -1 if the model has no class input, and otherwise that of its only
// class. Throws UsageError about `--category`, listing all classes.
int64_t category_of(const SegmentRun& trained, const std::string& name);

// Prepares a shape for the model and adds a sentence to `warnings` for each change: missing normals are estimated if
// the model needs them, and all with `estimated_normals`. Normals that are not finite are missing; others get unit
// length. Throws DataError for a shape without points, of another type than [n, 3] in float32 or float64, with
// coordinates that are not finite, or with normals of another length than the points.
void prepare(const SegmentRun& trained, Shape& shape, std::vector<std::string>& warnings,
             bool estimated_normals = false);
// Reads a file and prepares it for the model, with a sentence in `warnings` for each change: points are sampled from a
// mesh, and missing normals are estimated if the model needs them.
Shape read_prepared(const SegmentRun& trained, const std::filesystem::path& file, std::vector<std::string>& warnings,
                    FileShape* content = nullptr, const FileOptions& options = {});

// Returns logits [n, parts] of a prepared shape, averaged over the votes; if the class is known (`category` >= 0),
// parts of other classes are masked. `progress` receives the points done and the total, points x votes. Throws
// DataError as prepare does, and for normals that are not finite.
at::Tensor part_logits(SegmentRun& trained, const Shape& shape, int64_t category, BlockKind kind,
                       const std::function<void(int64_t, int64_t)>& progress = {});

// Returns double [n, 3]: the parts of a class have distinct colours (Okabe and Ito's palette, safe for colour-blind
// readers, then darker ones), the same in every file, and points without a label (unlabelled_part) are light grey.
at::Tensor part_colours(const at::Tensor& labels, const PartList& parts);

}  // namespace geosft
