// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/segmentation.h"

#include <ATen/core/grad_mode.h>
#include <algorithm>
#include <array>

#include "data/formats/text_lines.h"
#include "data/points/point_dataset.h"
#include "geometry/canonical_pose.h"
#include "geometry/normalize.h"
#include "models/summary.h"
#include "models/training/autocast.h"
#include "models/training/host_copy.h"
#include "tools/experiment/batch_size_finder.h"
#include "tools/experiment/class_subset.h"
#include "tools/experiment/cloud_transforms.h"
#include "tools/experiment/colour_map.h"
#include "tools/experiment/input_cloud.h"
#include "tools/experiment/key_names.h"
#include "tools/experiment/main_guard.h"
#include "tools/experiment/part_subset.h"

namespace geosft {
namespace {

// Finite, so that differences of logits are finite too.
constexpr double impossible = -1e30;

// The model's inputs for the blocks first … last - 1; `turn`: in a pose of their own.
struct BlockBatch {
  at::Tensor rows, points, normals, ptr, category;

  BlockBatch(const PackedClouds& clouds, const Blocks& blocks, int64_t first, int64_t last, bool turn) {
    const int64_t begin = blocks.ptr[first].item<int64_t>(), end = blocks.ptr[last].item<int64_t>();
    rows = blocks.rows.slice(0, begin, end);
    ptr = (blocks.ptr.slice(0, first, last + 1) - begin).contiguous();
    points = normalize(clouds.points.index_select(0, rows).to(at::kDouble), ptr).points;
    if (clouds.normals.defined()) normals = clouds.normals.index_select(0, rows);
    if (turn) {
      const PosedClouds posed = canonical_pose(points, normals, ptr);
      points = posed.points;
      normals = posed.normals;
    }
    points = points.to(at::kFloat);
    if (normals.defined()) normals = normals.to(at::kFloat);
    if (clouds.category.defined()) {
      category = clouds.category.index_select(0, blocks.item.slice(0, first, last));
    }
  }
};

struct VotePass {
  PointSegmenter& model;
  const SegmentSettings& settings;
  const PackedClouds& clouds;
  BlockKind kind;
  int64_t batch;  // blocks per forward pass
  const BatchProgress& progress;

  void add_to(CloudLogits& total, uint64_t vote) const {
    const Blocks blocks = make_blocks(clouds.points, clouds.ptr, settings.clouds.block, kind, vote);
    const at::Device device = device_of(*model);
    const int64_t count = blocks.item.size(0);
    for (int64_t first = 0; first < count; first += batch) {
      const int64_t last = std::min(first + batch, count);
      const BlockBatch seen(clouds, blocks, first, last, settings.model.canonical_pose());
      SamplingContext context = settings.evaluation.context(vote);
      context.record_choices(last - first);
      const Autocast autocast(device.type(), settings.evaluation.autocast());
      const at::Tensor logits =
          out_of_autocast(model->forward(overlapping_copy(seen.points, device), overlapping_copy(seen.normals, device),
                                         seen.ptr, seen.category, context));
      total.logits.index_add_(0, seen.rows, logits.cpu());
      const at::Tensor choices = context.choices().cpu().repeat_interleave(seen.ptr.diff());
      total.choices.index_copy_(0, seen.rows, total.choices.index_select(0, seen.rows) * 0x2545F4914F6CDD1D + choices);
      progress(static_cast<int64_t>(vote) * clouds.points.size(0) + blocks.ptr[last].item<int64_t>());
    }
  }
};

constexpr std::array<Colour, 8> distinct_colours = {{{0.00, 0.45, 0.70},
                                                     {0.90, 0.62, 0.00},
                                                     {0.00, 0.62, 0.45},
                                                     {0.80, 0.47, 0.65},
                                                     {0.94, 0.89, 0.26},
                                                     {0.34, 0.71, 0.91},
                                                     {0.84, 0.37, 0.00},
                                                     {0.50, 0.50, 0.50}}};

constexpr Colour unlabelled_colour = {0.78, 0.78, 0.78};

// Returns the index of every part within its class.
std::vector<int64_t> places_of(const PartList& parts) {
  std::vector<int64_t> places;
  for (size_t id = 0; id < parts.size(); ++id) {
    const auto same = [&](const ShapePart& part) { return part.category == parts[id].category; };
    places.push_back(std::count_if(parts.begin(), parts.begin() + static_cast<int64_t>(id), same));
  }
  return places;
}

}  // namespace

void PartNames::read(const Checkpoint& checkpoint, const std::string& program, const std::filesystem::path& file) {
  ClassNames::read(checkpoint, program, file);
  parts = parse_part_list(run_text(checkpoint, program, "parts", file), class_names, file.string());
  if (!checkpoint.texts.contains("part_labels")) return;
  const std::string text = run_text(checkpoint, program, "part_labels", file);
  TextLines lines(text, file.string());
  for (ShapePart& part : parts) {
    if (!lines.next()) throw DataError(file.string(), "a label of each part", "fewer");
    part.label = lines.integer("the label of a part");
  }
}

std::map<std::string, std::string> PartNames::texts() const {
  std::map<std::string, std::string> texts = {{"parts", part_list_text(parts, class_names)}};
  std::string labels;
  bool are_ids = true;
  for (size_t id = 0; id < parts.size(); ++id) {
    labels += std::to_string(parts[id].label) + "\n";
    are_ids = are_ids && parts[id].label == static_cast<int64_t>(id);
  }
  if (!are_ids) texts["part_labels"] = labels;
  return texts;
}

std::string PartNames::part_name(int64_t part) const {
  const ShapePart& found = parts.at(static_cast<size_t>(part));
  return class_names.at(static_cast<size_t>(found.category)) + "/" + found.name;
}

at::Tensor PartNames::labels_of(const at::Tensor& ids) const {
  std::vector<int64_t> labels;
  for (const ShapePart& part : parts) labels.push_back(part.label);
  return at::tensor(labels, at::kLong).index_select(0, ids.flatten()).view_as(ids);
}

std::unique_ptr<PartDataset> with_parts_of(const SegmentRun& trained, std::unique_ptr<PartDataset> dataset) {
  const PartNames found{{dataset->class_names()}, dataset->parts()};
  if (found.class_names == trained.class_names && found.parts == trained.parts) return dataset;
  const std::string& data = trained.settings.data;
  std::vector<std::string> known, unknown = unknown_parts(*dataset, trained.class_names, trained.parts);
  for (size_t id = 0; id < trained.parts.size(); ++id) known.push_back(trained.part_name(static_cast<int64_t>(id)));
  if (!unknown.empty()) throw unknown_outputs(data, trained.size_text(), known, found.size_text(), unknown);
  stderr_notes().print(data + ": its " + found.size_text() + " are among those of the model, by name");
  return std::make_unique<PartSubset>(std::move(dataset), trained.class_names, trained.parts);
}

CloudLogits segment_clouds(PointSegmenter& model, const SegmentSettings& settings, const PackedClouds& clouds,
                           BlockKind kind, const std::function<void(int64_t)>& progress) {
  const at::NoGradGuard guard;
  if (model->is_training()) model->eval();  // threads may share a loaded model
  const int64_t points = clouds.points.size(0), votes = settings.evaluation.checked_votes();
  return evaluate_within_memory(
      settings.evaluation.evaluation_batch, progress, [&](int64_t batch_size, const BatchProgress& heard) {
        CloudLogits total{at::zeros({points, model->options.parts}), at::zeros({points}, at::kLong)};
        const VotePass pass{model, settings, clouds, kind, batch_size, heard};
        for (int64_t vote = 0; vote < votes; ++vote) pass.add_to(total, static_cast<uint64_t>(vote));
        total.logits.div_(static_cast<double>(votes));
        return total;
      });
}

at::Tensor masked_logits(const at::Tensor& logits, const at::Tensor& allowed) {
  const at::Tensor wide = logits.to(at::promote_types(logits.scalar_type(), at::kFloat));  // float16 max is 65504
  return wide.masked_fill(allowed.logical_not(), impossible);
}

int64_t category_of(const SegmentRun& trained, const std::string& name) {
  const std::vector<std::string>& known = trained.class_names;
  const auto found = std::find(known.begin(), known.end(), name);
  if (found != known.end()) return found - known.begin();
  if (name.empty() && trained.model->options.categories == 0) return -1;
  if (name.empty() && known.size() == 1) return 0;
  std::string names;
  for (const std::string& one : known) names += " " + one;
  throw UsageError((name.empty() ? "--category is required: the model is told the class of a shape, one of"
                                 : "unknown class '" + name + "' for --category; the model knows") +
                   names + " (in a program: the argument category)" + (name.empty() ? "" : nearest_hint(name, known)));
}

void prepare(const SegmentRun& trained, Shape& shape, std::vector<std::string>& warnings, bool estimated_normals) {
  repair_cloud(shape);
  warn_of_points(shape, trained.settings.clouds.points, warnings);
  complete_normals(shape, trained.settings.clouds, trained.settings.augment, warnings, estimated_normals);
  prepare_normals(shape, trained.settings.clouds.normals);
}

Shape read_prepared(const SegmentRun& trained, const std::filesystem::path& file, std::vector<std::string>& warnings,
                    FileShape* content, const FileOptions& of_file) {
  const SegmentSettings& settings = trained.settings;
  PointDatasetOptions options;
  options.points_per_mesh = settings.clouds.points_per_mesh;
  options.seed = settings.seed;
  of_file.apply(options);
  Shape shape = read_shape(file, options, &warnings, content);
  prepare(trained, shape, warnings, of_file.estimated_normals);
  return shape;
}

at::Tensor part_logits(SegmentRun& trained, const Shape& input_shape, int64_t category, BlockKind kind,
                       const std::function<void(int64_t, int64_t)>& progress) {
  Shape shape = input_shape;
  check_cloud(shape);
  const int64_t count = shape.points.size(0), total = count * trained.settings.evaluation.votes;
  PackedClouds clouds{shape.points, shape.normals, at::tensor({int64_t{0}, count}, at::kLong), {}};
  if (trained.model->options.categories > 0) clouds.category = at::tensor({category}, at::kLong);
  const auto advance = [&](int64_t done) {
    if (progress) progress(done, total);
  };
  at::Tensor logits = segment_clouds(trained.model, trained.settings, clouds, kind, advance).logits;
  if (category < 0) return logits;
  return masked_logits(logits, trained.mask().slice(0, category, category + 1));
}

at::Tensor part_colours(const at::Tensor& labels, const PartList& parts) {
  const auto count = static_cast<int64_t>(parts.size());
  at::Tensor palette = at::empty({count + 1, 3}, at::kDouble);  // the last row is of points without a label
  double* channel = palette.mutable_data_ptr<double>();
  for (const int64_t number : places_of(parts)) {
    const auto place = static_cast<size_t>(number);
    const size_t round = place / distinct_colours.size();
    for (const double value : distinct_colours[place % distinct_colours.size()]) {
      *channel++ = value / static_cast<double>(1 + round);
    }
  }
  std::copy(unlabelled_colour.begin(), unlabelled_colour.end(), channel);
  return palette.index_select(0, labels.masked_fill(labels == unlabelled_part, count));
}

}  // namespace geosft
