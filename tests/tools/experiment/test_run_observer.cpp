// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/run_observer.h"

#include <torch/nn/modules/linear.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <csignal>
#include <functional>
#include <memory>

#include "data/checkpoint.h"
#include "tests/support.h"
#include "tests/tools/classify/tiny_shapes.h"
#include "tests/tools/experiment/captured_stderr.h"
#include "tools/experiment/classification.h"
#include "tools/experiment/main_guard.h"

namespace geosft::test::test_run_observer {
namespace fs = std::filesystem;

namespace {

// Two steps of regression an epoch; validation gives the scores in turn.
class Regression : public TrainingTask {
 public:
  torch::nn::Module& module() override { return *linear; }
  int64_t steps_per_epoch() const override { return 2; }
  void start_epoch(int64_t, int64_t) override {}
  double seconds_waited() const override { return 0.25; }
  Step step(at::Generator& generator) override {
    x = at::randn({8, 4}, generator);
    const at::Tensor loss = linear->forward(x).square().mean() * factor;
    return {loss, {8 * loss.item<double>(), right, 8}};
  }
  std::optional<MetricSum> validate() override {
    if (scores.empty()) return std::nullopt;
    return MetricSum{1.0, scores[validations++ % scores.size()], 1};
  }

  std::map<std::string, at::Tensor> last_batch() const override { return {{"x", x}}; }

  torch::nn::Linear linear{4, 1};
  at::Tensor x;
  std::vector<double> scores;
  double factor = 1.0, right = 4;  // of the loss; of the 8 rows of a step
  size_t validations = 0;
};

const std::vector<std::string> classes = {"a", "b"};

// Calls `seen` after each epoch.
class Watched : public RunObserver {
 public:
  using RunObserver::RunObserver;
  void on_epoch(const EpochReport& report) override {
    RunObserver::on_epoch(report);
    seen();
  }
  std::function<void()> seen;
};

// A run of the regression in a folder.
struct Run {
  TemporaryFolder temporary;
  RunFolder folder = RunFolder::create(temporary / "run");
  ClassifySettings settings;
  Regression task;

  explicit Run(int64_t epochs) {
    settings.train.epochs = epochs;
    settings.train.validate_every = 1;
  }

  RunDescription description(std::vector<std::string> names = classes) const {
    return describe_run<Classification>(settings, {std::move(names)}, settings.clouds.validation_fraction > 0);
  }
  // Trains what is left, from the last checkpoint if `resume`.
  bool train(bool resume = false, std::vector<std::string> names = classes) {
    const CapturedStderr quiet;
    TrainingLoop loop(task, settings.training());
    RunObserver observer(loop, *task.linear, folder, description(std::move(names)));
    if (resume) observer.resume();
    const bool done = loop.run(observer);
    observer.finish(done);
    return done;
  }
  std::vector<std::string> splits() const {
    std::vector<std::string> found;
    for (const MetricsRow& row : read_metrics(folder.metrics())) found.push_back(row.split);
    return found;
  }
  at::Tensor best_weight() const { return load_checkpoint(folder.best_checkpoint()).tensors.at("model.weight"); }
  int64_t epochs_saved() const {
    return load_checkpoint(folder.last_checkpoint()).tensors.at("position")[0].item<int64_t>();
  }
};

}  // namespace

TEST_CASE("an epoch leaves its rows, named by what was validated on") {
  for (const bool held_out : {false, true}) {
    Run run(2);
    run.settings.clouds.validation_fraction = held_out ? 0.2 : 0.0;
    run.task.scores = {0.25, 0.5};
    CHECK(run.train());
    const std::string split = held_out ? "validation" : "test";
    CHECK(run.splits() == std::vector<std::string>{"train", split, "train", split});
    const std::vector<MetricsRow> rows = read_metrics(run.folder.metrics());
    CHECK((rows[0].step == 2 && rows[0].epoch == 1 && rows[0].score == 0.5));
    CHECK((rows[3].step == 4 && rows[3].epoch == 2 && rows[3].score == 0.5 && rows[3].loss == 1.0));
    CHECK(rows[2].learning_rate > 0);
    CHECK(rows[2].seconds >= rows[0].seconds);
    // 0.25 s of the epoch, in which 16 rows are trained on: both are shares of the same time, whatever that was.
    for (const size_t i : {0, 2}) CHECK(rows[i].waiting / rows[i].items_per_second == Approx(0.25 / 16));
    CHECK((rows[1].waiting == 0.0 && rows[3].waiting == 0.0));
  }
}

TEST_CASE("the best checkpoint is the best on the held-out split, else the last") {
  Run run(3);
  run.settings.clouds.validation_fraction = 0.2;
  run.task.scores = {0.5, 0.9, 0.1};
  run.train();
  const at::Tensor held_out_best = run.best_weight().clone();
  CHECK_FALSE(at::equal(held_out_best, run.task.linear->weight));
  CHECK(run.epochs_saved() == 3);

  Run monitored(3);
  monitored.task.scores = run.task.scores;
  monitored.train();
  require_equal(monitored.best_weight(), monitored.task.linear->weight.detach(), "the last weights");
}

TEST_CASE("the best checkpoint of a resumed run is that of the same run without a break, after each epoch") {
  // Trains what is left until `stop_after` steps are done; the weights in best.ckpt after each epoch.
  const auto best_weights = [](Run& run, bool resume, int64_t stop_after) {
    class Stopped : public Watched {
     public:
      using Watched::Watched;
      void on_step(const StepReport& report) override {
        Watched::on_step(report);
        stop = report.step == stop_after;
      }
      bool stop_requested() override { return stop; }
      int64_t stop_after = 0;
      bool stop = false;
    };
    const CapturedStderr quiet;
    TrainingLoop loop(run.task, run.settings.training());
    Stopped observer(loop, *run.task.linear, run.folder, run.description());
    observer.stop_after = stop_after;
    std::vector<at::Tensor> found;
    observer.seen = [&] { found.push_back(run.best_weight().clone()); };
    if (resume) observer.resume();
    observer.finish(loop.run(observer));
    return found;
  };
  const auto begun = [] {
    auto run = std::make_unique<Run>(5);
    run->settings.clouds.validation_fraction = 0.2;
    run->task.scores = {0.5, 0.9, 0.6, 0.7, 0.9};  // the maximum comes before the stops
    at::NoGradGuard guard;
    for (at::Tensor& weight : run->task.linear->parameters()) weight.fill_(0.5);
    return run;
  };
  const auto whole = begun();
  const std::vector<at::Tensor> expected = best_weights(*whole, false, -1);
  REQUIRE(expected.size() == 5);
  CHECK_FALSE(at::equal(expected[0], expected[1]));
  for (const size_t worse : {2, 3}) require_equal(expected[worse], expected[1], "an epoch that is not the best");
  CHECK_FALSE(at::equal(expected[4], expected[1]));  // equal scores: the later one
  for (const int64_t stop : {4, 5, 8}) {             // two steps an epoch
    INFO("stopped after " << stop << " steps");
    const auto run = begun();
    std::vector<at::Tensor> found = best_weights(*run, false, stop);
    CHECK(static_cast<int64_t>(found.size()) == stop / 2);
    for (const at::Tensor& weight : best_weights(*run, true, -1)) found.push_back(weight);
    REQUIRE(found.size() == 5);
    for (size_t epoch = 0; epoch < 5; ++epoch) {
      require_equal(found[epoch], expected[epoch], "epoch " + std::to_string(epoch));
    }
  }
}

TEST_CASE("checkpoints are due every few epochs and at the end") {
  Run run(5);
  run.settings.train.checkpoint_every = 2;
  std::vector<int64_t> saved;
  const CapturedStderr quiet;
  TrainingLoop loop(run.task, run.settings.training());
  Watched observer(loop, *run.task.linear, run.folder, run.description());
  observer.seen = [&] { saved.push_back(fs::exists(run.folder.last_checkpoint()) ? run.epochs_saved() : 0); };
  loop.run(observer);
  CHECK(saved == std::vector<int64_t>{0, 2, 2, 4, 5});
}

TEST_CASE("weights that diverge do not replace those before them, and every epoch has its row") {
  Run run(2);
  CHECK(run.train());
  const std::string best = read_text(run.folder.best_checkpoint()), last = read_text(run.folder.last_checkpoint());
  run.settings.train.epochs = 5;
  run.task.factor = std::nan("");
  require_error([&] { run.train(/*resume=*/true); }, {"diverged in epoch 5", "6 steps"});
  CHECK(read_text(run.folder.best_checkpoint()) == best);
  CHECK(read_text(run.folder.last_checkpoint()) == last);
  const std::vector<MetricsRow> rows = read_metrics(run.folder.metrics());
  REQUIRE(rows.size() == 5);
  for (size_t i = 2; i < 5; ++i) {
    CHECK((rows[i].step == 4 && rows[i].epoch == static_cast<int64_t>(i) + 1 && std::isnan(rows[i].loss)));
  }
  run.task.factor = 1.0;
  CHECK(run.train(/*resume=*/true));
  CHECK(read_metrics(run.folder.metrics()).size() == 5);
  CHECK(read_metrics(run.folder.metrics()).back().step == 10);
}

TEST_CASE("the first batch of a row whose losses are not finite is left in the folder, with the weights") {
  Run run(2);
  CHECK(run.train());
  const std::string last = read_text(run.folder.last_checkpoint());
  CHECK_FALSE(fs::exists(run.folder.non_finite_batch()));
  run.settings.train.epochs = 4;
  run.settings.train.on_non_finite = NonFiniteStepAction::stop;
  run.task.factor = std::nan("");
  require_error([&] { run.train(/*resume=*/true); }, {"step 1 of epoch 3", "stop"});
  CHECK(read_text(run.folder.last_checkpoint()) == last);
  const Checkpoint shown = load_checkpoint(run.folder.non_finite_batch());
  CHECK(shown.texts.at("step") == "step 1 of epoch 3");
  CHECK(shown.texts.at("kind") == "geosft-classify");
  CHECK(shown.tensors.at("batch.x").sizes() == at::IntArrayRef({8, 4}));
  require_equal(shown.tensors.at("model.weight"), run.task.linear->weight.detach(), "weights");
  run.task.factor = 1.0;
  CHECK(run.train(/*resume=*/true));
}

TEST_CASE("a resumed run goes on from the last checkpoint and its seconds") {
  Run run(2);
  run.train();
  Checkpoint last = load_checkpoint(run.folder.last_checkpoint());
  const double before = 1e6;  // more than this test can take
  last.tensors.at("seconds").fill_(before);
  save_checkpoint(run.folder.last_checkpoint(), last);
  run.settings.train.epochs = 3;
  CHECK(run.train(/*resume=*/true));
  const std::vector<MetricsRow> rows = read_metrics(run.folder.metrics());
  REQUIRE(rows.size() == 3);
  CHECK(rows.back().seconds >= before);
  CHECK(rows[1].seconds < before);
  CHECK(run.epochs_saved() == 3);
  require_error([&] { run.train(true, {"a", "c"}); }, {"classes or targets that the run was begun with, b", "found c"});
  run.settings.train.epochs = 2;
  require_error([&] { run.train(/*resume=*/true); }, {"--epochs 2", "has reached epoch 3"});
  Run fresh(1);
  CHECK(fresh.train(/*resume=*/true));  // there is no checkpoint yet: from the beginning
  CHECK(fresh.epochs_saved() == 1);
}

TEST_CASE("the last line of the bar has the validation of the last epoch") {
  Run run(3);
  run.task.scores = {0.25, 0.5, 0.75};
  CapturedStderr shown;
  TrainingLoop loop(run.task, run.settings.training());
  RunObserver observer(loop, *run.task.linear, run.folder, run.description());
  observer.finish(loop.run(observer));
  const std::string text = shown.text(), last = text.substr(text.rfind("training 100 %"));
  CHECK_THAT(last, Catch::Contains("6/6  epoch 3/3") && Catch::Contains("test 75.0 %"));
}

TEST_CASE("the validation names its metric where the training has no score") {
  Run run(1);
  run.task.scores = {0.75};
  run.task.right = std::numeric_limits<double>::quiet_NaN();
  CapturedStderr shown;
  TrainingLoop loop(run.task, run.settings.training());
  RunObserver observer(loop, *run.task.linear, run.folder, run.description());
  observer.finish(loop.run(observer));
  CHECK_THAT(shown.text(), Catch::Contains("  test accuracy 75.0 %  "));
  CHECK_THAT(read_text(run.folder.log().string()), Catch::Contains("  test accuracy 75.0 %  "));
}

TEST_CASE("a loss that rises, or stays above that of guessing, is told at the end") {
  const auto told = [](double factor, double later) {
    Run run(3);
    run.task.factor = factor;
    CapturedStderr shown;
    TrainingLoop loop(run.task, run.settings.training());
    Watched observer(loop, *run.task.linear, run.folder, run.description());
    observer.seen = [&] { run.task.factor *= later; };
    observer.finish(loop.run(observer));
    const std::string text = shown.text();
    CHECK((text.find("the training loss") == std::string::npos) ==
          (read_text(run.folder.log().string()).find("the training loss") == std::string::npos));
    return text;
  };
  const std::string advice = ": the learning rate may be too high (--lr)";
  const std::string rose = told(1.0, 5.0);
  CHECK_THAT(rose, Catch::Contains("the training loss rose from ") && Catch::EndsWith(advice + "\n"));
  CHECK_THAT(told(1e3, 1.0),
             Catch::Contains(", is above that of equal probabilities, 0.693" + advice + ", or the epochs too few\n"));
  CHECK_THAT(told(1e-3, 1.0), !Catch::Contains("the training loss"));
  CHECK_THAT(told(1e-3, 2.0), !Catch::Contains("the training loss"));  // small numbers
}

TEST_CASE("a signal stops the run, which is then saved where it is") {
  Run run(3);
  install_interrupt_handler();
  std::raise(SIGINT);
  const bool done = run.train();
  clear_interrupt();
  std::signal(SIGINT, SIG_DFL);
  CHECK_FALSE(done);
  CHECK(run.epochs_saved() == 0);
  CHECK_FALSE(fs::exists(run.folder.best_checkpoint()));
  CHECK(run.train(/*resume=*/true));
  CHECK(run.epochs_saved() == 3);
}

TEST_CASE("of several processes rank 0 leaves the run, and another one only its own bad batch") {
  struct Second : Communicator {
    int64_t rank() const override { return 1; }
    int64_t size() const override { return 2; }
    std::unique_ptr<Work> all_reduce(const at::Tensor&) const override { throw std::logic_error("not asked for"); }
  };
  Run run(2);
  const Second second;
  TrainingLoop loop(run.task, run.settings.training(), second);
  RunObserver observer(loop, *run.task.linear, run.folder, run.description());
  const StepReport step{0, 1, 1, {1.0, 1.0, 8}, 1e-3, 1.0};
  NonFiniteStep bad{step, 1, "", {{"x", at::ones({2})}}, /*here=*/false};
  const CapturedStderr quiet;
  observer.on_step(step);
  observer.on_epoch({0, 2, {1.0, 1.0, 16}, std::nullopt, 1e-3, true, false, 0.0});
  observer.on_non_finite(bad);
  observer.finish(false);
  CHECK(fs::is_empty(run.folder.path()));
  bad.here = true;
  observer.on_non_finite(bad);
  CHECK(fs::exists(run.folder.non_finite_batch()));
}

TEST_CASE("a checkpoint can be used without the folder that it came from") {
  Run run(1);
  run.train();
  for (const fs::path& file : {run.folder.best_checkpoint(), run.folder.last_checkpoint()}) {
    const Checkpoint saved = load_checkpoint(file);
    CHECK(saved.texts.at("kind") == "geosft-classify");
    CHECK(saved.texts.at("classes") == "a\nb\n");
    CHECK(saved.texts.at("config") == run.settings.config().to_toml());
  }
}

}  // namespace geosft::test::test_run_observer
