// SPDX-License-Identifier: Apache-2.0
#include "tools/classify/prediction.h"

#include <ATen/core/grad_mode.h>
#include <algorithm>

#include "data/seeds.h"
#include "geometry/augment.h"
#include "geometry/normals.h"
#include "models/summary.h"
#include "models/training/host_copy.h"
#include "tools/classify/clouds.h"

namespace geosft {
namespace {

// A large cloud is thinned to as many points as a mesh gets, so that a scan of millions takes no longer than one.
void thin(Shape& shape, const ClassifySettings& settings, std::vector<std::string>& remarks) {
  const int64_t available = shape.points.size(0);
  const int64_t wanted = std::max(settings.clouds.points_per_mesh, settings.clouds.points);
  if (available <= wanted) return;
  const at::Tensor rows = random_subset(available, wanted, make_generator(settings.seed));
  shape.points = shape.points.index_select(0, rows);
  if (shape.normals.defined()) shape.normals = shape.normals.index_select(0, rows);
  remarks.push_back(shape.name + ": of its " + std::to_string(available) + " points " + std::to_string(wanted) +
                    ", drawn at random, are used");
}

Shape read_prepared(const ClassifySettings& settings, const std::filesystem::path& file,
                    std::vector<std::string>& remarks) {
  Shape shape = read_shape(file, settings.dataset());
  thin(shape, settings, remarks);
  if (settings.clouds.normals && !shape.normals.defined()) {
    shape.normals = estimate_normals(shape.points);
    remarks.push_back(shape.name + ": has no normals: they are estimated");
  }
  return shape;
}

}  // namespace

Prediction predict(RunModel& trained, const std::filesystem::path& file, int64_t top) {
  at::NoGradGuard guard;
  Prediction prediction;
  const Shape shape = read_prepared(trained.settings, file, prediction.remarks);
  const at::Device device = device_of(*trained.model);
  at::Generator unused = make_generator(0);
  at::Tensor logits;
  for (int64_t vote = 0; vote < trained.settings.evaluation.votes; ++vote) {
    const auto transform = evaluation_transform(trained.settings, Rotation::none, static_cast<uint64_t>(vote));
    const Shape seen = transform(shape, unused);
    SamplingContext context = trained.settings.evaluation.context(static_cast<uint64_t>(vote));
    const auto explanation = trained.model->explain(device_copy(seen.points, device), device_copy(seen.normals, device),
                                                    std::nullopt, context);
    logits = vote == 0 ? explanation.logits.cpu() : logits + explanation.logits.cpu();
    prediction.points = seen.points;
    prediction.importance = explanation.importance.cpu();
  }
  const at::Tensor probability =
      (logits[0] / static_cast<double>(trained.settings.evaluation.votes)).softmax(0).to(at::kDouble);
  const int64_t shown = std::min<int64_t>(top, probability.size(0));
  const auto [values, labels] = probability.topk(shown);
  for (int64_t i = 0; i < shown; ++i) {
    prediction.ranking.emplace_back(static_cast<size_t>(labels[i].item<int64_t>()), values[i].item<double>());
  }
  return prediction;
}

}  // namespace geosft
