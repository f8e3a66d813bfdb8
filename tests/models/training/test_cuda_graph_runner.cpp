// SPDX-License-Identifier: Apache-2.0
#include "models/training/cuda_graph_runner.h"

#include <catch2/catch.hpp>

#include "models/point_classifier.h"
#include "models/summary.h"
#include "models/training/host_copy.h"
#include "tests/models/training/replayed_runs.h"

namespace geosft::test::test_cuda_graph_runner {

using emulated_gpu::options_of;
using emulated_gpu::Outcome;
using emulated_gpu::outcome_of;
using emulated_gpu::require_same;
using emulated_gpu::trained;

namespace {

constexpr int64_t classes = 3, points_each = 24, steps_an_epoch = 6;

PointClassifierOptions classifier_options(const std::string& attention) {
  PointClassifierOptions options;
  options.classes = classes;
  options.layers = 2;
  LayerOptions& layer = options.layer;
  layer.attention.width = 16;
  layer.attention.heads = 4;
  layer.attention.sampler.num_samples = 6;
  layer.attention.score_dropout = 0.1;
  layer.token_dropout = 0.1;
  layer.feed_forward_dropout = 0.2;
  layer.polynomial.degree = 2;
  choose_attention(layer, attention);
  options.head_sampler.num_samples = 5;
  options.head_dropout = 0.3;
  return options;
}

// Random clouds of one size, fewer of them in the last step of an epoch.
class Clouds : public ReplayableTask {
 public:
  explicit Clouds(at::Device device, const std::string& attention = "sampling") : device_(device) {
    manual_seed(5);
    model_ = PointClassifier(classifier_options(attention));
    model_->to(device);
  }
  torch::nn::Module& module() override { return *model_; }
  int64_t steps_per_epoch() const override { return steps_an_epoch; }
  void start_epoch(int64_t epoch, int64_t first_step) override { batch_ = epoch * steps_an_epoch + first_step; }
  std::optional<MetricSum> validate() override { return std::nullopt; }

  void take_batch() override {
    const int64_t items = batch_ % steps_an_epoch == steps_an_epoch - 1 ? 3 : 4;
    at::Generator random = generator(static_cast<uint64_t>(batch_++));
    points_ = overlapping_copy(at::randn({items * points_each, 3}, random), device_);
    normals_ = overlapping_copy(at::randn({items * points_each, 3}, random), device_);
    labels_ = overlapping_copy(at::randint(classes, {items}, random, at::kLong), device_);
    ptr_ = offsets_for(at::arange(items + 1) * points_each, device_);
  }
  StepInputs inputs() override { return {{ptr_}, {&points_, &normals_, &labels_}, labels_.size(0)}; }
  Step compute(RngBuffer& seeds) override {
    SamplingContext context = SamplingContext::training(seeds);
    const at::Tensor logits = model_->forward(points_, normals_, ptr_, context);
    return measured_step(disturbed(at::cross_entropy_loss(logits, labels_)), (logits.argmax(1) == labels_).sum(),
                         labels_.size(0));
  }

 protected:
  // What a step must not do to its loss.
  virtual at::Tensor disturbed(const at::Tensor& loss) { return loss; }
  int64_t batches_taken() const { return batch_; }

 private:
  at::Device device_;
  PointClassifier model_{nullptr};
  int64_t batch_ = 0;
  at::Tensor points_, normals_, labels_, ptr_;
};

void run_replayed(ReplayableTask&& task) {
  TrainingLoop loop(task, options_of(true));
  training::Notes notes;
  loop.run(notes);
}

}  // namespace

TEST_CASE("steps that are replayed are those that are not, bit for bit", "[cuda_graph_runner]") {
  for (const char* attention : {"sampling", "polynomial"}) {
    const Outcome plain = trained(Clouds(emulated_gpu::device, attention), options_of(false));
    const Outcome replayed = trained(Clouds(emulated_gpu::device, attention), options_of(true));
    CHECK(plain.replayed == 0);
    CHECK(replayed.replayed == 3 * (steps_an_epoch - 1) - 1);  // but the first one and the last ones of the epochs
    require_same(replayed, plain);
  }
}

TEST_CASE("a scaled loss and its scale are replayed", "[cuda_graph_runner]") {
  TrainingOptions plain = options_of(false), replayed = options_of(true);
  for (TrainingOptions* options : {&plain, &replayed}) options->optimization.scale_loss = true;
  require_same(trained(Clouds(emulated_gpu::device), replayed), trained(Clouds(emulated_gpu::device), plain));
}

TEST_CASE("what is replayed computes what the CPU does", "[cuda_graph_runner]") {
  const Outcome here = trained(Clouds(at::kCPU), options_of(false));
  const Outcome there = trained(Clouds(emulated_gpu::device), options_of(true));
  REQUIRE(here.curve.size() == there.curve.size());
  for (size_t i = 0; i < here.curve.size(); ++i) REQUIRE(there.curve[i] == Approx(here.curve[i]).epsilon(1e-3));
}

TEST_CASE("a run that is replayed can be stopped and resumed anywhere", "[cuda_graph_runner]") {
  const Outcome whole = trained(Clouds(emulated_gpu::device), options_of(true));
  for (const int64_t stop : {1, 2, 9}) {
    Clouds first(emulated_gpu::device), second(emulated_gpu::device);
    TrainingLoop begun(first, options_of(true)), resumed(second, options_of(true));
    outcome_of(begun, stop);
    resumed.load_state(begun.state());
    const Outcome rest = outcome_of(resumed);
    for (const auto& [name, tensor] : whole.state) require_equal(rest.state.at(name), tensor, name);
  }
}

TEST_CASE("a host value in a captured step is noticed", "[cuda_graph_runner]") {
  struct WithNumber : Clouds {
    using Clouds::Clouds;
    at::Tensor disturbed(const at::Tensor& loss) override { return loss * static_cast<double>(batches_taken()); }
  };
  const Outcome plain = trained(WithNumber(emulated_gpu::device), options_of(false));
  const Outcome replayed = trained(WithNumber(emulated_gpu::device), options_of(true));
  REQUIRE(replayed.curve != plain.curve);
  REQUIRE(std::equal(plain.curve.begin(), plain.curve.begin() + 6, replayed.curve.begin()));  // not replayed yet
}

TEST_CASE("a captured step can neither copy from the host nor wait for the device", "[cuda_graph_runner]") {
  struct WithCopy : Clouds {
    using Clouds::Clouds;
    at::Tensor disturbed(const at::Tensor& loss) override { return loss * at::ones({1}).to(loss.device()).squeeze(); }
  };
  struct WithWait : Clouds {
    using Clouds::Clouds;
    at::Tensor disturbed(const at::Tensor& loss) override { return loss * loss.item<double>(); }
  };
  struct WithDraw : Clouds {
    using Clouds::Clouds;
    at::Tensor disturbed(const at::Tensor& loss) override { return loss * at::rand_like(loss); }
  };
  require_error([] { run_replayed(WithCopy(emulated_gpu::device)); }, {"copy_", "copies to the device"});
  require_error([] { run_replayed(WithWait(emulated_gpu::device)); }, {"waits for a value"});
  require_error([] { run_replayed(WithDraw(emulated_gpu::device)); }, {"draws on the device"});
}

TEST_CASE("steps of replayable tasks are replayed, in a single process", "[cuda_graph_runner]") {
  training::Regression task;
  require_error([&] { TrainingLoop(task, options_of(true)); }, {"ReplayableTask"});
  struct Second : Communicator {
    int64_t rank() const override { return 1; }
    int64_t size() const override { return 2; }
    std::unique_ptr<Work> all_reduce(const at::Tensor&) const override { throw std::logic_error("not asked for"); }
  };
  Clouds clouds(emulated_gpu::device);
  const Second second;
  require_error([&] { TrainingLoop(clouds, options_of(true), second); }, {"processes", "one", "2"});
}

TEST_CASE("a shape is captured when it comes twice in a row, and others run beside it", "[cuda_graph_runner]") {
  CudaGraphRunner replay(emulated_gpu::graphs(), generator(1), emulated_gpu::device);
  int64_t computed = 0;
  at::Tensor values;
  const auto sum_of = [&](int64_t size, double value, int64_t offset) {
    values = at::full({size}, value).to(emulated_gpu::device);
    const StepInputs inputs{{at::tensor({offset}, at::kLong)}, {&values}, 1};
    return replay
        .run(inputs,
             [&](RngBuffer&) {
               ++computed;
               return values.sum();
             })
        .item<double>();
  };
  CHECK(sum_of(2, 1, 0) == 2);
  CHECK(sum_of(3, 1, 0) == 3);
  CHECK(sum_of(2, 2, 0) == 4);
  CHECK(sum_of(2, 3, 1) == 6);  // other values that the program reads
  CHECK(computed == 4);
  CHECK(sum_of(2, 4, 1) == 8);
  CHECK(computed == 5);
  CHECK(sum_of(3, 5, 1) == 15);
  CHECK(computed == 6);
  CHECK(sum_of(2, 6, 1) == 12);
  CHECK(sum_of(2, 7, 1) == 14);
  CHECK(computed == 6);
  CHECK(replay.replayed() == 3);
}

}  // namespace geosft::test::test_cuda_graph_runner
