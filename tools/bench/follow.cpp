// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/follow.h"

#include <ATen/CPUGeneratorImpl.h>
#include <torch/optim/adam.h>
#include <torch/utils.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>

#include "models/training/training_loop.h"
#include "tools/bench/attention_inputs.h"
#include "tools/bench/byte_classifier.h"

namespace geosft::bench {
namespace {

// One of the two classifiers compared; trains all weights, or a prompt with frozen weights.
class Learner {
 public:
  Learner(const FollowOptions& options, const std::string& attention) : model_(classifier(options, attention)) {
    optimizer_ = std::make_unique<torch::optim::Adam>(model_->parameters(), options.learning_rate);
  }

  // Copies the weights of `trained`, freezes them, and creates a prompt to train.
  void tune_prompt(const Learner& trained, const FollowOptions& options) {
    load_module_state(*model_, module_state(*trained.model_));
    for (at::Tensor& weight : model_->parameters()) weight.requires_grad_(false);
    // From zeros, the prompt's tokens would stay equal.
    const at::Generator generator = at::make_generator<at::CPUGeneratorImpl>(options.seed);
    prompt_ = (0.1 * normal({options.prompt_tokens, options.width}, generator)).requires_grad_(true);
    optimizer_ = std::make_unique<torch::optim::Adam>(std::vector<at::Tensor>{prompt_}, options.prompt_rate);
  }

  void step(const ByteDocuments& batch, LossCurve& curve) {
    const auto start = std::chrono::steady_clock::now();
    const at::Tensor loss = at::cross_entropy_loss(model_->forward(batch.bytes, prompt_), batch.labels);
    optimizer_->zero_grad();
    loss.backward();
    optimizer_->step();
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    curve.seconds = curve.losses.empty() ? seconds : std::min(curve.seconds, seconds);
    curve.losses.push_back(loss.item<double>());
  }

  std::vector<PolynomialDegree> degrees(const ByteDocuments& batch) {
    const at::NoGradGuard guard;
    model_->eval();
    model_->forward(batch.bytes);
    model_->train();
    return worst_degrees(*model_);
  }

 private:
  static ByteClassifier classifier(const FollowOptions& options, const std::string& attention) {
    torch::manual_seed(options.seed);
    LayerOptions layer;
    layer.attention.width = options.width;
    layer.attention.heads = options.heads;
    layer.polynomial = options.polynomial;
    choose_attention(layer, attention);
    return ByteClassifier(layer, options.layers);
  }

  ByteClassifier model_;
  std::unique_ptr<torch::optim::Adam> optimizer_;
  at::Tensor prompt_;
};

ByteDocuments batch_of(const ByteDocuments& documents, int64_t step, int64_t batch) {
  const int64_t count = documents.labels.size(0);
  const at::Tensor rows = (at::arange(batch, at::kLong) + step * batch).remainder(count);
  return {documents.bytes.index_select(0, rows), documents.labels.index_select(0, rows)};
}

}  // namespace

double Followed::largest_difference() const {
  double maximum = 0;
  for (size_t i = 0; i < exact.losses.size(); ++i) {
    const double difference = std::abs(polynomial.losses[i] - exact.losses[i]);
    if (!(difference <= maximum)) maximum = difference;
    if (std::isnan(maximum)) return maximum;
  }
  return maximum;
}

FollowResult follow(const ByteDocuments& documents, const FollowOptions& options,
                    const std::function<void(int64_t)>& progress) {
  Learner polynomial(options, "polynomial"), exact(options, "softmax");
  FollowResult result;
  int64_t done = 0;
  const auto run = [&](int64_t steps, Followed& curves) {
    for (int64_t step = 0; step < steps; ++step) {
      progress(done++);
      const ByteDocuments batch = batch_of(documents, step, options.batch);
      polynomial.step(batch, curves.polynomial);
      exact.step(batch, curves.exact);
    }
  };
  run(options.steps, result.training);
  result.degrees = polynomial.degrees(batch_of(documents, options.steps, options.batch));
  if (options.prompt_steps == 0) return result;
  exact.tune_prompt(polynomial, options);
  polynomial.tune_prompt(polynomial, options);
  run(options.prompt_steps, result.prompt);
  return result;
}

}  // namespace geosft::bench
