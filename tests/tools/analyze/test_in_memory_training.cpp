// SPDX-License-Identifier: Apache-2.0
#include "tools/analyze/in_memory_training.h"

#include <catch2/catch.hpp>

#include "models/training/training_loop.h"
#include "tests/tools/classify/small_classifier.h"

namespace geosft::test::test_in_memory_training {

TEST_CASE("a model is trained as its settings say, and looked at after every epoch") {
  ClassifySettings settings = small_settings();
  settings.train.epochs = 2;
  const ArrayDataset clouds = random_clouds();
  std::vector<int64_t> epochs;
  std::vector<at::Tensor> weights;
  const RunModel made = train_in_memory(settings, clouds, at::kCPU, [&](int64_t done, RunModel& model) {
    epochs.push_back(done);
    weights.push_back(model.model->embed->weight.detach().clone());
    CHECK_FALSE(model.model->is_training());
  });
  CHECK(epochs == std::vector<int64_t>{0, 1, 2});
  CHECK_FALSE(at::equal(weights[0], weights[1]));
  CHECK_FALSE(at::equal(weights[1], weights[2]));
  CHECK_FALSE(made.model->is_training());
  CHECK(made.class_names.size() == 3);
  require_equal(train_in_memory(settings, clouds, at::kCPU).model->embed->weight, made.model->embed->weight, "again");
}

}  // namespace geosft::test::test_in_memory_training
