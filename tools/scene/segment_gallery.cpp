// SPDX-License-Identifier: Apache-2.0
#include "tools/scene/segment_gallery.h"

#include <ATen/core/grad_mode.h>

#include <iomanip>
#include <iostream>
#include <sstream>

#include "data/seeds.h"
#include "geometry/normalize.h"
#include "models/summary.h"
#include "models/training/host_copy.h"
#include "tools/experiment/cloud_transforms.h"
#include "tools/experiment/report_texts.h"
#include "tools/experiment/segmentation.h"
#include "tools/scene/surface.h"

namespace geosft::view {
namespace {

// "5 parts, mean probability 93.1 %", and the share of correct points among those whose label is known.
std::string parts_text(const at::Tensor& logits, const PointLabels& found, const at::Tensor& truth) {
  std::string text = std::to_string(found.names.size()) + " parts, mean probability " +
                     percent(std::get<0>(logits.softmax(1).max(1)).mean().item<double>());
  const at::Tensor labelled = truth.defined() ? truth != unlabelled_part : at::Tensor();
  if (!labelled.defined() || !labelled.any().item<bool>()) return text;
  const at::Tensor right = (found.labels == truth).masked_select(labelled);
  return text + ", " + percent(right.to(at::kDouble).mean().item<double>()) + " of the " +
         (right.size(0) < truth.size(0) ? "labelled points right" : "points right");
}

// Traces the first vote if it is one pass over all points.
void add_trace(SegmentRun& trained, const Shape& shape, int64_t category, Subject& subject) {
  const int64_t block = trained.settings.clouds.block, count = shape.points.size(0);
  if (block > 0 && count > block) {
    subject.untraced = "the model sees these " + std::to_string(count) + " points in blocks of " +
                       std::to_string(block) + "; --points " + std::to_string(block) + " shows as many at once";
    return;
  }
  const at::NoGradGuard guard;
  const bool told = trained.model->options.categories > 0;
  const at::Device device = device_of(*trained.model);
  SamplingContext context = trained.settings.evaluation.context(0);
  ForwardTrace trace;
  context.trace_into(trace);
  const at::Tensor normals = shape.normals.defined() ? shape.normals.to(at::kFloat) : at::Tensor();
  trained.model->forward(overlapping_copy(normalize(shape.points).points.to(at::kFloat), device),
                         overlapping_copy(normals, device), std::nullopt,
                         told ? at::tensor({category}, at::kLong) : at::Tensor(), context);
  subject.trace = on_host(std::move(trace));
}

}  // namespace

PointLabels part_labels(const PartNames& names, const at::Tensor& labels, bool one_class) {
  PointLabels found{labels, part_colours(labels, names.parts), {}};
  const auto count = static_cast<int64_t>(names.parts.size());
  // The first row is of points without a label.
  const at::Tensor shares = at::bincount(labels - unlabelled_part, {}, count + 1).to(at::kDouble) / labels.size(0);
  const at::Tensor colours = part_colours(at::arange(unlabelled_part, count, at::kLong), names.parts);
  for (int64_t part = unlabelled_part; part < count; ++part) {
    const auto share = shares[part - unlabelled_part].item<double>();
    if (share == 0) continue;
    std::string name = "unlabelled";
    if (part != unlabelled_part) {
      name = std::to_string(part) + " " +
             (one_class ? names.parts[static_cast<size_t>(part)].name : names.part_name(part));
    }
    const double* channel = colours[part - unlabelled_part].const_data_ptr<double>();
    found.names.push_back({name + ", " + percent(share), {channel[0], channel[1], channel[2]}});
  }
  return found;
}

std::pair<Subject, at::Tensor> explained_parts(SegmentRun& trained, const Shape& shape, int64_t category) {
  const at::Tensor logits = part_logits(trained, shape, category, BlockKind::spread);
  Subject subject;
  subject.name = shape.name;
  subject.points = file_coordinates(shape).to(at::kDouble);
  subject.normals = shape.normals;
  if (category >= 0) subject.truth = trained.class_names[static_cast<size_t>(category)];
  subject.parts = part_labels(trained, logits.argmax(1), category >= 0);
  if (shape.parts.defined()) subject.true_parts = part_labels(trained, shape.parts, category >= 0);
  subject.prediction = parts_text(logits, *subject.parts, shape.parts);
  add_trace(trained, shape, category, subject);
  return {std::move(subject), logits};
}

SegmentGallery::SegmentGallery(std::vector<std::filesystem::path> files, std::unique_ptr<PartDataset> dataset,
                               SegmentRun trained, const SegmentGalleryOptions& options)
    : files_(std::move(files)),
      dataset_(std::move(dataset)),
      trained_(std::move(trained)),
      points_(options.points),
      reading_(options.reading) {
  if (dataset_) dataset_ = with_parts_of(trained_, std::move(dataset_));
  if (!dataset_) category_ = category_of(trained_, options.category);
}

int64_t SegmentGallery::size() const {
  return dataset_ ? dataset_->size() : static_cast<int64_t>(files_.size());
}

Shape SegmentGallery::shape_of(int64_t item) {
  Shape shape;
  if (dataset_) {
    std::vector<std::string> unsaid;
    shape = dataset_->get(item);
    complete_normals(shape, trained_.settings.clouds, trained_.settings.augment, unsaid);
    prepare_normals(shape, trained_.settings.clouds.normals);
  } else {
    std::vector<std::string> warnings;
    shape = read_prepared(trained_, files_[static_cast<size_t>(item)], warnings, nullptr, reading_);
    for (const std::string& warning : warnings) std::cerr << warning << '\n';
  }
  if (points_) keep_subset(shape, *points_, make_generator(trained_.settings.seed));
  set_precision(shape, at::kDouble);
  return shape;
}

Subject SegmentGallery::get(int64_t item, bool beside) {
  Shape shape = shape_of(item);
  const int64_t category = dataset_ ? dataset_->label(item) : category_;
  auto [subject, logits] = explained_parts(trained_, shape, category);
  if (!dataset_)
    subject.surface = read_surface(files_[static_cast<size_t>(item)], {reading_.columns, reading_.drop_invalid});
  if (!beside) return subject;
  rotate_shape(shape, Rotation::so3, make_generator(trained_.settings.seed));
  auto [copy, copied_logits] = explained_parts(trained_, shape, category);
  subject.beside = std::make_shared<Subject>(std::move(copy));
  subject.logit_difference = (logits - copied_logits).abs().max().item<double>();
  return subject;
}

}  // namespace geosft::view
