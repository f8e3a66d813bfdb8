// SPDX-License-Identifier: Apache-2.0
// A classifier trained on data that no reader knows: balls and shells, made here, by the library's own training loop.
#include <cstdio>

#include "data/seeds.h"
#include "models/point_classifier.h"
#include "models/training/training_loop.h"

namespace {

constexpr int64_t clouds_a_step = 16, new_clouds = 200, points = 128;

struct Batch {
  at::Tensor points, ptr, labels;
};

// Label 0: points all over a ball; label 1: on its surface.
Batch balls_and_shells(int64_t count, at::Generator& generator) {
  const at::Tensor labels = at::randint(0, 2, {count}, generator, at::kLong);
  at::Tensor cloud = at::randn({count, points, 3}, generator);
  cloud = cloud / cloud.norm(2, -1, true);
  const at::Tensor radius = at::rand({count, points, 1}, generator).pow(1.0 / 3);
  cloud = at::where(labels.view({-1, 1, 1}) == 0, cloud * radius, cloud);
  return {cloud.reshape({-1, 3}), at::arange(0, count + 1) * points, labels};
}

class BallTask final : public geosft::TrainingTask {
 public:
  explicit BallTask(geosft::PointClassifier model) : model_(std::move(model)) {}
  torch::nn::Module& module() override { return *model_; }
  int64_t steps_per_epoch() const override { return 20; }
  void start_epoch(int64_t, int64_t) override {}

  Step step(at::Generator& generator) override {
    geosft::SamplingContext context = geosft::SamplingContext::training(generator);
    const Batch batch = balls_and_shells(clouds_a_step, generator);
    const at::Tensor logits = model_->forward(batch.points, {}, batch.ptr, context);
    const at::Tensor loss = at::cross_entropy_loss(logits, batch.labels);
    return {loss, metric_sum(logits, batch.labels, loss)};
  }

  std::optional<geosft::MetricSum> validate() override {
    at::NoGradGuard guard;
    at::Generator generator = geosft::make_generator(1);
    geosft::SamplingContext context = geosft::SamplingContext::seeded();
    const Batch batch = balls_and_shells(new_clouds, generator);
    const at::Tensor logits = model_->forward(batch.points, {}, batch.ptr, context);
    return metric_sum(logits, batch.labels, at::cross_entropy_loss(logits, batch.labels));
  }

 private:
  static geosft::MetricSum metric_sum(const at::Tensor& logits, const at::Tensor& labels, const at::Tensor& loss) {
    const double correct = logits.argmax(1).eq(labels).sum().item<double>();
    const int64_t clouds = labels.size(0);
    return {loss.item<double>() * static_cast<double>(clouds), correct, clouds};
  }
  geosft::PointClassifier model_;
};

class Printer final : public geosft::TrainingObserver {
 public:
  double accuracy = 0;
  void on_step(const geosft::StepReport&) override {}
  void on_epoch(const geosft::EpochReport& report) override {
    accuracy = report.validation->mean_score();
    std::printf("epoch %lld: loss %.3f, accuracy of new clouds %.2f\n", static_cast<long long>(report.epoch),
                report.training.mean_loss(), accuracy);
  }
  bool stop_requested() override { return false; }
};

}  // namespace

int main() {
  geosft::PointClassifierOptions options;
  options.normals = false;
  options.layer.attention.width = 32;
  options.layer.attention.sampler.num_samples = 16;
  options.layers = 2;
  options.head_sampler.num_samples = 32;
  BallTask task{geosft::PointClassifier(options)};
  geosft::TrainingOptions training;
  training.epochs = 12;
  training.optimization.learning_rate = 2e-3;
  geosft::TrainingLoop loop(task, training);
  Printer printer;
  loop.run(printer);
  return printer.accuracy > 0.8 ? 0 : 1;
}
