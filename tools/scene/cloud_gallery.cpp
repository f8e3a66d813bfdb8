// SPDX-License-Identifier: Apache-2.0
#include "tools/scene/cloud_gallery.h"

#include <iomanip>
#include <iostream>
#include <sstream>

#include "data/seeds.h"
#include "geometry/rotation.h"
#include "tools/experiment/classification.h"
#include "tools/scene/segment_gallery.h"
#include "tools/scene/surface.h"

namespace geosft::view {
namespace {

at::Tensor doubles(const at::Tensor& rows) {
  return rows.defined() ? rows.to(at::kDouble) : rows;
}

std::string ranked_first(const at::Tensor& logits, const std::vector<std::string>& names) {
  const at::Tensor probability = logits.softmax(0);
  const auto best = probability.argmax().item<int64_t>();
  std::ostringstream text;
  text << names[static_cast<size_t>(best)] << ' ' << std::fixed << std::setprecision(1)
       << 100 * probability[best].item<double>() << " %";
  return text.str();
}

Subject subject_of(const Shape& shape) {
  Subject subject;
  subject.name = shape.name;
  subject.points = doubles(file_coordinates(shape));
  subject.normals = doubles(shape.normals);
  return subject;
}

Subject rotated_copy(Subject subject, uint64_t seed) {
  const at::Tensor rotation = random_rotation(make_generator(seed), at::kDouble);
  subject.points = rotate(subject.points, rotation);
  if (subject.normals.defined()) subject.normals = rotate(subject.normals, rotation);
  return subject;
}

}  // namespace

std::pair<Subject, int64_t> explained_cloud(RunModel& trained, const Shape& shape, bool beside) {
  const auto explain = [&](Rotation rotation) {
    ShapeExplanation found = explain_shape(trained, shape, rotation, trained.settings.seed);
    Subject subject = subject_of(found.seen);
    subject.name = shape.name;
    subject.prediction = ranked_first(found.logits, trained.class_names);
    subject.trace = std::move(found.trace);
    return std::pair{subject, found.logits};
  };
  auto [subject, logits] = explain(Rotation::none);
  if (beside) {
    auto [copy, copied_logits] = explain(Rotation::so3);
    subject.beside = std::make_shared<Subject>(std::move(copy));
    subject.logit_difference = (logits - copied_logits).abs().max().item<double>();
  }
  return {std::move(subject), logits.argmax().item<int64_t>()};
}

CloudGallery::CloudGallery(std::vector<std::filesystem::path> files, std::unique_ptr<PointDataset> dataset,
                           std::optional<RunModel> trained, PointDatasetOptions options)
    : files_(std::move(files)),
      dataset_(std::move(dataset)),
      trained_(std::move(trained)),
      options_(std::move(options)) {}

int64_t CloudGallery::size() const {
  return dataset_ ? dataset_->size() : static_cast<int64_t>(files_.size());
}

Shape CloudGallery::shape_of(int64_t item) {
  std::vector<std::string> warnings;
  Shape shape;
  if (dataset_) {
    shape = dataset_->get(item);
    if (trained_) complete_normals(shape, trained_->settings.clouds, trained_->settings.augment, warnings);
    return shape;
  }
  const std::filesystem::path& file = files_[static_cast<size_t>(item)];
  if (trained_) {
    shape = read_prepared(trained_->settings, file, warnings, {options_.columns, options_.drop_invalid});
  } else {
    shape = read_shape(file, options_, &warnings);
    if (!warnings.empty() && warnings.back().ends_with(" points are sampled")) warnings.pop_back();  // it is shown
  }
  for (const std::string& warning : warnings) std::cerr << warning << '\n';
  return shape;
}

Subject CloudGallery::get(int64_t item, bool beside) {
  const Shape shape = shape_of(item);
  auto [subject, found] =
      trained_ ? explained_cloud(*trained_, shape, beside) : std::pair{subject_of(shape), int64_t{-1}};
  if (!dataset_)
    subject.surface = read_surface(files_[static_cast<size_t>(item)], {options_.columns, options_.drop_invalid});
  const auto* const labelled = dynamic_cast<const PartDataset*>(dataset_.get());
  if (labelled && shape.parts.defined()) {
    subject.true_parts = part_labels({{labelled->class_names()}, labelled->parts()}, shape.parts, /*one_class=*/true);
  }
  if (!trained_ && beside) subject.beside = std::make_shared<Subject>(rotated_copy(subject, options_.seed));
  if (dataset_) subject.truth = dataset_->class_names()[static_cast<size_t>(dataset_->label(item))];
  if (dataset_ && trained_) subject.right = found == dataset_->label(item);
  return subject;
}

}  // namespace geosft::view
