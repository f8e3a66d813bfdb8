// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/shape_kernel.h"

#include <catch2/catch.hpp>
#include <mutex>
#include <set>

#include "geometry/pair_histogram.h"
#include "tests/data/files.h"
#include "tests/support.h"
#include "tests/tools/classify/small_classifier.h"
#include "tools/experiment/classify_task.h"

namespace geosft::test::test_shape_kernel {
namespace {

// Returns 15 clouds of 60 points with normals, of three classes: the third axis is the shorter the later the class.
ArrayDataset flattened_clouds() {
  CloudArrays arrays;
  arrays.labels = at::arange(15) % 3;
  const at::Tensor sphere = at::randn({15, 60, 3}, generator(1)), unit = sphere / sphere.norm(2, 2, true);
  at::Tensor axes = at::ones({15, 1, 3});
  axes.select(2, 2).copy_((1 - 0.45 * arrays.labels).unsqueeze(1));
  arrays.points = unit * axes;
  arrays.normals = unit / axes;
  arrays.normals = arrays.normals / arrays.normals.norm(2, 2, true);
  for (int64_t i = 0; i < 15; ++i) arrays.names.push_back(std::to_string(i));
  return ArrayDataset(arrays, {"a", "b", "c"}, "flattened");
}

at::Tensor labels_of(const PointDataset& clouds) {
  std::vector<int64_t> labels;
  for (int64_t i = 0; i < clouds.size(); ++i) labels.push_back(clouds.label(i));
  return at::tensor(labels, at::kLong);
}

ShapeKernel kernel_of(const PointDataset& clouds, double weight) {
  ShapeKernel kernel;
  kernel.regression =
      std::make_shared<const KernelRidge>(fit_shape_kernel(shape_histograms(clouds), labels_of(clouds), 3, 0));
  kernel.weight = weight;
  return kernel;
}

}  // namespace

TEST_CASE("clouds are described by their histograms, which no rotation changes") {
  const ArrayDataset clouds = flattened_clouds();
  const at::Tensor upright = shape_histograms(clouds);
  REQUIRE(upright.sizes() == at::IntArrayRef{15, pair_histogram_parts * pair_histogram_bins});
  const Shape third = clouds.get(2);
  require_equal(upright[2], pair_histogram(third.points.to(at::kDouble), third.normals.to(at::kDouble)), "a row");
  CHECK((upright[2] - upright[3]).abs().max().item<double>() > 0.5);
  require_equal(shape_histograms(clouds, Rotation::so3, 7), upright, "rotated copies");
  // A transform comes first, and is given random numbers of its own for each cloud.
  std::set<double> drawn;
  std::mutex mutex;
  const ShapeTransform invert = [&](Shape shape, at::Generator& generator) {
    const std::lock_guard lock(mutex);
    drawn.insert(at::rand({}, generator, at::kDouble).item<double>());
    shape.normals = -shape.normals;
    return shape;
  };
  const at::Tensor inverted = shape_histograms(clouds, Rotation::none, 7, invert);
  CHECK(drawn.size() == 15);
  require_equal(inverted[2], pair_histogram(third.points.to(at::kDouble), -third.normals.to(at::kDouble)), "a row");
}

TEST_CASE("the logits of a classifier are averaged with those of its regression, in evaluation and prediction") {
  const ArrayDataset clouds = flattened_clouds();
  const ClassifySettings settings = small_settings();
  RunModel run{{{"a", "b", "c"}}, settings, small_model(settings)};
  run.model->eval();
  const at::Tensor alone = run_logits(run, clouds, Rotation::none, 0).logits;
  require_equal(alone, dataset_logits(run.model, clouds, settings, Rotation::none, 0).logits, "without a regression");
  const Shape cloud = clouds.get(4);
  const at::Tensor one_alone = explain_shape(run, cloud, Rotation::none, 0).logits;
  run.companion = kernel_of(clouds, 0.25);
  const at::Tensor of_kernel = run.companion.regression->predict(shape_histograms(clouds));
  CHECK(of_kernel.argmax(1).eq(labels_of(clouds)).sum().item<int64_t>() >= 12);
  // The geometric mean of the probabilities, made a distribution again.
  const auto both = [&](const at::Tensor& logits, const at::Tensor& more) {
    const at::Tensor mean = logits.to(at::kDouble).softmax(-1).pow(0.75) * more.softmax(-1).pow(0.25);
    return mean / mean.sum(-1, true);
  };
  const DatasetLogits found = run_logits(run, clouds, Rotation::none, 0);
  CHECK(found.logits.scalar_type() == alone.scalar_type());
  // Normalised: each row is the logarithm of a distribution.
  require_close(found.logits.to(at::kDouble).exp(), both(alone, of_kernel), 1e-6, "an evaluation");
  require_close(run_logits(run, clouds, Rotation::so3, 1).logits, found.logits, 1e-3, "rotated copies");
  require_close(explain_shape(run, cloud, Rotation::none, 0).logits.to(at::kDouble).exp(),
                both(one_alone, of_kernel[4]), 1e-5, "a prediction");
}

TEST_CASE("the regression of a classifier comes back from its RUN folder") {
  const TemporaryFolder folder;
  const ArrayDataset clouds = flattened_clouds();
  const ShapeKernel kernel = kernel_of(clouds, 0.7);
  kernel.save(folder.path());
  ShapeKernel loaded;
  loaded.load(folder.path());
  REQUIRE(loaded.regression);
  const at::Tensor logits = at::zeros({15, 3}), histograms = shape_histograms(clouds);
  require_equal(loaded.averaged(logits, histograms), kernel.averaged(logits, histograms), "averages");
}

TEST_CASE("the regression of an earlier file has its probabilities averaged, of the histograms that it was fitted to") {
  const ArrayDataset clouds = flattened_clouds();
  const at::Tensor logits = at::randn({15, 3}, generator(2)), histograms = shape_histograms(clouds);
  const at::Tensor first_parts = histograms.narrow(1, 0, 3 * pair_histogram_bins);
  ShapeKernel kernel;
  kernel.regression = std::make_shared<const KernelRidge>(fit_shape_kernel(first_parts, labels_of(clouds), 3, 0));
  kernel.weight = 0.25;
  std::map<std::string, at::Tensor> earlier = kernel.tensors();
  REQUIRE(earlier.erase("average_logits") == 1);
  kernel.take(earlier);
  const at::Tensor of_kernel = kernel.regression->predict(first_parts).softmax(1);
  const at::Tensor mean = 0.75 * logits.to(at::kDouble).softmax(1) + 0.25 * of_kernel;
  require_close(kernel.averaged(logits, histograms).to(at::kDouble).exp(), mean, 1e-6, "averages");
  CHECK(kernel.tensors().size() == earlier.size());
}

}  // namespace geosft::test::test_shape_kernel
