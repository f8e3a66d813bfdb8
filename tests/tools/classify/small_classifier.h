// SPDX-License-Identifier: Apache-2.0
// A classifier of three classes that runs in milliseconds, and clouds for it.
#pragma once

#include <torch/nn/module.h>

#include <string>

#include "data/points/array_dataset.h"
#include "models/point_classifier.h"
#include "tests/support.h"
#include "tests/tools/experiment/small_cloud_settings.h"
#include "tools/experiment/classify_settings.h"

namespace geosft::test {

inline ClassifySettings small_settings(const std::string& tokens = "radial") {
  auto settings = small_cloud_settings<ClassifySettings>(tokens);
  settings.model.head_num_samples = 16;
  return settings;
}

inline PointClassifier small_model(const ClassifySettings& settings, uint64_t seed = 5) {
  at::manual_seed(seed);
  return PointClassifier(settings.classifier(3));
}

// 10 clouds of 50 points with normals.
inline ArrayDataset random_clouds() {
  CloudArrays arrays;
  arrays.points = at::randn({10, 50, 3}, generator(1));
  arrays.normals = at::randn({10, 50, 3}, generator(2));
  arrays.labels = at::arange(10) % 3;
  for (int64_t i = 0; i < 10; ++i) arrays.names.push_back(std::to_string(i));
  return ArrayDataset(arrays, {"a", "b", "c"}, "random");
}

}  // namespace geosft::test
