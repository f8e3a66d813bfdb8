// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/classification.h"

#include <ATen/core/grad_mode.h>
#include <algorithm>

#include "data/data_error.h"
#include "data/seeds.h"
#include "geometry/augment.h"
#include "geometry/normalize.h"
#include "geometry/pair_histogram.h"
#include "models/summary.h"
#include "models/training/autocast.h"
#include "models/training/host_copy.h"
#include "tools/experiment/input_cloud.h"
#include "tools/experiment/main_guard.h"
#include "tools/experiment/progress.h"
#include "tools/experiment/shape_folders.h"

namespace geosft {
namespace {

// Subsamples a large cloud to the number of points sampled from a mesh, which bounds the time for large scans.
void thin(Shape& shape, const ClassifySettings& settings, std::vector<std::string>& warnings) {
  const int64_t available = shape.points.size(0);
  const int64_t sampled = std::max(settings.clouds.points_per_mesh, settings.clouds.points);
  if (available <= sampled) return;
  const at::Tensor rows = random_subset(available, sampled, make_generator(settings.seed));
  keep_rows(shape, rows);
  std::string note = cloud_name(shape) + ": of its " + std::to_string(available) + " points " +
                     std::to_string(sampled) + " are taken at random";
  if (settings.clouds.points < sampled) {
    note += ", of which the model sees " + std::to_string(settings.clouds.points) + " at a time";
  }
  warnings.push_back(note);
}

// See evaluation_transform; in double precision.
ShapeTransform exact_view(const ClassifySettings& settings, Rotation rotation, uint64_t vote) {
  return [clouds = settings.clouds, rotation, vote](Shape shape, at::Generator& generator) {
    prepare_normals(shape, clouds.normals);
    keep_points(shape, clouds, make_generator(vote));
    set_precision(shape, at::kDouble);
    const at::Tensor middle = shape.points.mean(0);
    rotate_shape(shape, rotation, generator);
    const NormalizedPoints normalized = normalize(shape.points);
    shape.points = normalized.points;
    const double scale = normalized.scale[0].item<double>();
    shape.offset = shape.offset.defined() ? shape.offset + middle : middle;
    shape.scale = scale > 0 ? scale : 1.0;
    return shape;
  };
}

// Returns what the model sees of an exact view.
Shape model_input(const ClassifySettings& settings, Shape exact) {
  if (settings.model.canonical_pose()) turn_into_canonical_pose(exact);
  set_precision(exact, at::kFloat);
  return exact;
}

}  // namespace

std::unique_ptr<PointDataset> open_dataset(const ClassifySettings& settings, Split split) {
  PointDatasetOptions options = settings.dataset();
  std::unique_ptr<ProgressBar> bar;
  options.progress = [&](int64_t done, int64_t total) {
    if (!bar) bar = std::make_unique<ProgressBar>("reading shapes", total);
    bar->update(done);
  };
  auto dataset = settings.clouds.skip_broken ? open_readable_shapes(settings.data, split, options)
                                             : open_point_dataset(settings.data, split, options);
  if (bar) bar->finish();
  for (const std::string& warning : dataset->warnings()) stderr_notes().print(warning);
  return dataset;
}

void with_broken_hint(const std::function<void()>& open) {
  try {
    open();
  } catch (const BrokenFiles& broken) {
    throw DataError(std::string(broken.what()) +
                    "; --skip-broken leaves such files out, and geosft-classify info --check names all of them");
  }
}

ShapeTransform evaluation_transform(const ClassifySettings& settings, Rotation rotation, uint64_t vote) {
  return [exact = exact_view(settings, rotation, vote)](Shape shape, at::Generator& generator) {
    shape = exact(std::move(shape), generator);
    set_precision(shape, at::kFloat);
    return shape;
  };
}

ShapeTransform model_input_transform(const ClassifySettings& settings, Rotation rotation, uint64_t vote) {
  return [exact = exact_view(settings, rotation, vote), settings](Shape shape, at::Generator& generator) {
    return model_input(settings, exact(std::move(shape), generator));
  };
}

void prepare(const ClassifySettings& settings, Shape& shape, std::vector<std::string>& warnings,
             bool estimated_normals) {
  repair_cloud(shape);
  warn_of_points(shape, settings.clouds.points, warnings);
  shape.file_normals = shape.normals;
  thin(shape, settings, warnings);
  complete_normals(shape, settings.clouds, settings.augment, warnings, estimated_normals);
}

Shape read_prepared(const ClassifySettings& settings, const std::filesystem::path& file,
                    std::vector<std::string>& warnings, const FileOptions& options) {
  std::vector<std::string> of_file;
  PointDatasetOptions of_shape = settings.dataset();
  options.apply(of_shape);
  Shape shape = read_shape(file, of_shape, &of_file);
  // That points of a mesh are sampled is no news here, where no label of a point is returned.
  for (const std::string& warning : of_file) {
    if (!warning.ends_with(" points are sampled")) warnings.push_back(warning);
  }
  prepare(settings, shape, warnings, options.estimated_normals);
  return shape;
}

ShapeExplanation explain_shape(RunModel& trained, const Shape& input_shape, Rotation rotation, uint64_t seed) {
  TORCH_CHECK(!trained.model.is_empty(), "trained has no model: load_run_model() makes one");
  at::NoGradGuard guard;
  if (trained.model->is_training()) trained.model->eval();  // threads may share a loaded model
  Shape shape = input_shape;
  check_cloud(shape);
  ShapeExplanation found;
  const at::Device device = device_of(*trained.model);
  const EvaluationSettings& evaluation = trained.settings.evaluation;
  const int64_t votes = evaluation.checked_votes();
  const auto view = [&](int64_t vote) {
    at::Generator generator = make_generator(seed);
    return exact_view(trained.settings, rotation, static_cast<uint64_t>(vote))(shape, generator);
  };
  found.seen = view(0);
  {
    const Shape input = model_input(trained.settings, found.seen);
    SamplingContext context = evaluation.context(0);
    context.trace_into(found.trace);
    const Autocast autocast(device.type(), evaluation.autocast());
    const auto explanation = trained.model->explain(overlapping_copy(input.points, device),
                                                    overlapping_copy(input.normals, device), std::nullopt, context);
    found.logits = out_of_autocast(explanation.logits[0]).cpu();
    found.importance = out_of_autocast(explanation.importance).cpu();
  }
  set_precision(found.seen, at::kFloat);
  // The other votes together: a small cloud alone costs mostly the calls of operators.
  for (int64_t first = 1; first < votes; first += evaluation.evaluation_batch) {
    const int64_t count = std::min(evaluation.evaluation_batch, votes - first);
    std::vector<at::Tensor> points, normals;
    std::vector<int64_t> offsets = {0};
    for (int64_t vote = first; vote < first + count; ++vote) {
      const Shape input = model_input(trained.settings, view(vote));
      points.push_back(input.points);
      if (input.normals.defined()) normals.push_back(input.normals);
      offsets.push_back(offsets.back() + input.points.size(0));
    }
    SamplingContext context = evaluation.context(static_cast<uint64_t>(first), count);
    const Autocast autocast(device.type(), evaluation.autocast());
    const at::Tensor logits =
        out_of_autocast(
            trained.model->forward(overlapping_copy(at::cat(points), device),
                                   normals.empty() ? at::Tensor() : overlapping_copy(at::cat(normals), device),
                                   offsets_for(at::tensor(offsets, at::kLong), device), context))
            .cpu();
    for (int64_t row = 0; row < count; ++row) found.logits = found.logits + logits[row];
  }
  found.logits = found.logits / static_cast<double>(votes);
  if (trained.companion.regression) {
    const at::Tensor histogram = pair_histogram(shape.points.cpu(), shape.normals.cpu()).unsqueeze(0);
    found.logits = trained.companion.averaged(found.logits.unsqueeze(0), histogram)[0];
  }
  found.trace = on_host(std::move(found.trace));
  return found;
}

}  // namespace geosft
