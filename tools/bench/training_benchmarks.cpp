// SPDX-License-Identifier: Apache-2.0
// Benchmarks training steps of the point classifier on random clouds: forward, loss, backward, optimiser.
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/Reduction.h>
#include <torch/utils.h>

#include "models/point_classifier.h"
#include "models/training/optimization.h"
#include "tools/bench/attention_inputs.h"
#include "tools/bench/catalogue.h"

namespace geosft::bench {
namespace {

constexpr int64_t classes = 40;

struct Configuration {
  const char* name;
  const char* about;
  PointClassifierOptions model;
  int64_t batch, points;
};

PointClassifierOptions classifier(int64_t width, int64_t heads, int64_t layers, int64_t num_samples,
                                  int64_t head_num_samples) {
  PointClassifierOptions options;
  options.classes = classes;
  options.layers = layers;
  options.layer.attention.width = width;
  options.layer.attention.heads = heads;
  options.layer.attention.sampler.num_samples = num_samples;
  options.head_sampler.num_samples = head_num_samples;
  return options;
}

// The model of tools/configs/furniture.toml.
PointClassifierOptions small_classifier() {
  PointClassifierOptions options = classifier(64, 4, 3, 32, 128);
  options.tokens = PointTokens::local;
  options.layer.norm = NormPlacement::pre;
  options.layer.feed_forward_dropout = 0.1;
  return options;
}

// The paper's model for ModelNet40 (SFT table of hyperparameters).
PointClassifierOptions paper_classifier() {
  PointClassifierOptions options = classifier(256, 16, 8, 256, 512);
  options.layer.attention.score_dropout = 0.1;
  options.layer.token_dropout = 0.1;
  options.layer.feed_forward_dropout = 0.2;
  return options;
}

// Runs training steps; each step changes the weights.
class Trainer {
 public:
  Trainer(const Configuration& configuration, uint64_t seed)
      : generator_(at::make_generator<at::CPUGeneratorImpl>(seed)), model_(configuration.model) {
    const int64_t rows = configuration.batch * configuration.points;
    points_ = at::rand({rows, 3}, generator_, at::TensorOptions().dtype(at::kFloat)) - 0.5;
    const at::Tensor directions = normal({rows, 3}, generator_);
    normals_ = directions / directions.norm(2, 1, /*keepdim=*/true);
    ptr_ = equal_offsets(configuration.batch, configuration.points);
    labels_ = at::arange(configuration.batch, ptr_.options()).remainder(classes);
    model_->train();
    optimization_ = std::make_unique<Optimization>(*model_, OptimizationOptions{.beta2 = 0.98, .average_decay = 0.99});
  }

  Tensors step() {
    SamplingContext context = SamplingContext::training(generator_);
    const at::Tensor logits = model_->forward(points_, normals_, ptr_, context);
    const at::Tensor loss = at::cross_entropy_loss(logits, labels_, {}, at::Reduction::Mean, -100, 0.1);
    loss.backward();
    optimization_->step(0.0);
    return {loss.detach()};
  }

 private:
  at::Generator generator_;
  PointClassifier model_;
  std::unique_ptr<Optimization> optimization_;
  at::Tensor points_, normals_, ptr_, labels_;
};

Benchmark make_training(const Configuration& configuration, uint64_t seed, const std::string& name) {
  torch::manual_seed(seed);
  const auto trainer = std::make_shared<Trainer>(configuration, seed);
  Benchmark benchmark{name, {{"geosft", [trainer] { return trainer->step(); }}}};
  benchmark.items = static_cast<double>(configuration.batch);
  benchmark.items_are = "clouds";
  return benchmark;
}

}  // namespace

Entries training_entries(const Sizes& sizes) {
  const std::vector<Configuration> configurations = {
      {"small", "a step at 256 points, width 64, 3 layers, 32 keys, batch 16", small_classifier(), 16, 256},
      {"paper", "a step at 1024 points, width 256, 8 layers, 256 keys, batch 4", paper_classifier(), 4, 1024}};
  Entries entries;
  for (const Configuration& configuration : configurations) {
    const std::string name = std::string("training/") + configuration.name;
    entries.push_back({name, configuration.about, [=] { return make_training(configuration, sizes.seed, name); }});
  }
  return entries;
}

}  // namespace geosft::bench
