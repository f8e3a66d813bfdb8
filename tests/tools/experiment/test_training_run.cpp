// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/training_run.h"

#include <CLI/CLI.hpp>
#include <catch2/catch.hpp>

#include <sstream>

#include "tests/data/files.h"
#include "tests/models/training/distributed/thread_processes.h"
#include "tests/models/training/replayed_runs.h"
#include "tests/support.h"
#include "tests/tools/classify/small_classifier.h"
#include "tests/tools/experiment/captured_stderr.h"
#include "tests/tools/experiment/small_graph_model.h"
#include "tests/tools/segment/small_segmenter.h"
#include "tools/experiment/arguments.h"
#include "tools/experiment/classify_task.h"
#include "tools/graph/graph_task.h"
#include "tools/segment/segment_task.h"

namespace geosft::test::test_training_run {
namespace {

using emulated_gpu::options_of;
using emulated_gpu::Outcome;
using emulated_gpu::require_same;
using emulated_gpu::trained;

template <class Model>
Model moved(Model model) {
  model->train();
  model->to(emulated_gpu::device);
  return model;
}

// Both ways; task() gives it anew.
template <class Make>
void require_replayed(const Make& task, int64_t replayed, std::optional<at::ScalarType> autocast = std::nullopt) {
  const Outcome plain = trained(task(), options_of(false, autocast)),
                again = trained(task(), options_of(true, autocast));
  CHECK(again.replayed == replayed);
  require_same(again, plain);
}

}  // namespace

TEST_CASE("a training that fails at once leaves no empty folder, and one that wrote something stays") {
  const TemporaryFolder temporary;
  const RunFolder empty = RunFolder::create(temporary / "empty");
  CHECK_THROWS_AS(train_or_clean(empty, one_process(), []() -> bool { throw std::runtime_error("no data"); }),
                  std::runtime_error);
  CHECK_FALSE(std::filesystem::exists(empty.path()));
  const RunFolder begun = RunFolder::create(temporary / "begun");
  begun.write_config("x = 1\n");
  CHECK_THROWS_AS(train_or_clean(begun, one_process(), []() -> bool { throw std::runtime_error("no disk"); }),
                  std::runtime_error);
  CHECK(std::filesystem::exists(begun.config()));
  CHECK_FALSE(train_or_clean(begun, one_process(), [] { return false; }));
}

namespace {

struct Numbers {
  struct {
    int64_t epochs = 1;
  } train;
  int64_t width = 2;

  Config config() {
    Config keys;
    keys.add("", "epochs", &train.epochs, "may change").add("", "dim", &width, "may not");
    return keys;
  }
  void take_resumable(const Numbers& other) { train.epochs = other.train.epochs; }
  static constexpr const char* kResumable = "--epochs";
};

// The configuration refers to the command line that it was parsed from.
std::unique_ptr<CLI::App> parsed(Config& config, const std::vector<const char*>& words) {
  auto app = std::make_unique<CLI::App>();
  config.add_options(*app);
  std::ostringstream out;
  parse_arguments(*app, static_cast<int>(words.size()), words.data(), out);
  return app;
}

}  // namespace

TEST_CASE("a new run reads its file and the command line, a resumed one its own file") {
  const TemporaryFolder temporary;
  write_text(temporary / "new.toml", "epochs = 5\ndim = 6\n");
  TrainArguments arguments;
  arguments.config_file = (temporary / "new.toml").string();
  Numbers numbers;
  Config config = numbers.config();
  const auto line = parsed(config, {"tool", "--dim", "7"});
  arguments.load_new(config);
  CHECK(numbers.train.epochs == 5);
  CHECK(numbers.width == 7);
  const RunFolder folder = RunFolder::create(temporary / "run");
  folder.write_config("epochs = 5\ndim = 6\n");
  const auto resume = [&](const std::vector<const char*>& words) {
    Numbers resumed;
    Config keys = resumed.config();
    const auto given = parsed(keys, words);
    arguments.load_resumed(resumed, keys, folder);
    return resumed;
  };
  require_error([&] { resume({"tool"}); }, {"--resume", "--config"});
  arguments.config_file.clear();
  CHECK(resume({"tool", "--epochs", "9"}).train.epochs == 9);
  CHECK(resume({"tool"}).width == 6);
  require_error([&] { resume({"tool", "--dim", "9"}); }, {"only --epochs may change"});

  Checkpoint last;
  last.texts["config"] = "epochs = 5\ndim = 6\n";
  save_checkpoint(folder.last_checkpoint(), last);
  const auto said = [&](const std::string& toml) {
    folder.write_config(toml);
    const CapturedStderr captured;
    resume({"tool"});
    return captured.text();
  };
  CHECK(said("# a comment\nepochs = 5\n\n  dim = 6\n").empty());
  CHECK_THAT(said("epochs = 5\ndim = 8\n"), Catch::Contains("config.toml: \"dim = 8\" in place of \"dim = 6\""));
  CHECK_THAT(said("epochs = 5\n"), Catch::Contains("\"\" in place of \"dim = 6\""));
}

TEST_CASE("a restarted run of an earlier version goes on with the values that it had then") {
  const TemporaryFolder temporary;
  std::string text;
  std::istringstream now(ClassifySettings().config().to_toml());
  for (std::string line; std::getline(now, line);) {
    bool later = false;
    for (const char* key : {"split_order", "normal_orientation", "head_as_trained"}) later |= line.rfind(key, 0) == 0;
    if (!later) text += line + "\n";
  }
  const RunFolder folder = RunFolder::create(temporary / "run");
  folder.write_config(text);
  TrainArguments arguments;
  const auto restart = [&](const std::vector<const char*>& words) {
    ClassifySettings settings;
    Config config = settings.config();
    const auto line = parsed(config, words);
    arguments.load_new(config);
    arguments.load_begun(settings, config, folder);
    return settings.clouds.split_order;
  };
  for (int again = 0; again < 2; ++again) {  // a launcher may start it several times
    CHECK(restart({"tool"}) == SplitOrder::name);
    CHECK(restart({"tool", "--split-order", "name"}) == SplitOrder::name);
    ClassifySettings begun;
    begun.config().load_run_toml(folder.config());
    folder.write_config(begun.config().to_toml());
  }
  require_error([&] { restart({"tool", "--split-order", "hash"}); }, {"run of another configuration"});
  write_text(temporary / "new.toml", "[clouds]\nsplit_order = 'hash'\n");
  arguments.config_file = (temporary / "new.toml").string();
  require_error([&] { restart({"tool"}); }, {"run of another configuration"});
}

TEST_CASE("a run whose data have no normals goes on with estimated ones, restarted or resumed") {
  const TemporaryFolder temporary;
  const RunFolder folder = RunFolder::create(temporary / "run");
  ClassifySettings begun;
  begun.augment.estimated_normals = 1.0;
  folder.write_config(begun.config().to_toml());
  const TrainArguments arguments;
  for (const std::vector<const char*>& words :
       {std::vector<const char*>{"tool"}, std::vector<const char*>{"tool", "--estimated-normals", "0.5"}}) {
    ClassifySettings restarted, resumed;
    Config config = restarted.config(), keys = resumed.config();
    const auto line = parsed(config, words), again = parsed(keys, words);
    arguments.load_new(config);
    arguments.load_begun(restarted, config, folder);
    arguments.load_resumed(resumed, keys, folder);
    CHECK(restarted.augment.estimated_normals == 1.0);
    CHECK(resumed.augment.estimated_normals == 1.0);
  }
}

TEST_CASE("a resumed run refuses another configuration") {
  refuse_changes("x = 1\n", "x = 1\n", "--epochs");
  require_error([] { refuse_changes("x = 1\n", "x = 2\n", "--epochs"); }, {"--resume", "only --epochs may change"});
  CHECK_THROWS_AS(refuse_changes("a", "b", "c"), UsageError);
}

TEST_CASE("trainings of classifiers are the same when their steps are replayed", "[replay]") {
  for (const std::string tokens : {"radial", "local"}) {
    ClassifySettings settings = small_settings(tokens);
    settings.train.label_smoothing = 0.2;
    const ArrayDataset clouds = random_clouds();
    require_replayed([&] { return ClassifyTask(moved(small_model(settings)), clouds, nullptr, settings); }, 5);
  }
}

TEST_CASE("trainings of segmenters are the same when their steps are replayed", "[replay]") {
  SegmentSettings settings = small_segment_settings();
  settings.model.category = true;
  const ArrayDataset shapes = part_dataset(10);
  const at::Tensor mask = part_mask(small_parts(), 2);
  require_replayed([&] { return SegmentTask(moved(small_segmenter(settings)), shapes, nullptr, settings, mask); }, 5);
}

TEST_CASE("trainings on graphs and sequences are the same when their steps are replayed", "[replay]") {
  for (const GraphTask kind :
       {GraphTask::classification, GraphTask::multi_label, GraphTask::regression, GraphTask::node_classification}) {
    for (const NodePositions positions : {NodePositions::none, NodePositions::added, NodePositions::relative}) {
      const PackedItems graphs = small_graphs(kind);
      const DatasetSplit split{{1, 1, 1, 1, 1, 1, 1}, {4}, {5, 6}};
      GraphSettings settings = small_graph_settings();
      settings.model.positions = positions;
      INFO(task_name(kind) << ", positions " << name_of(positions));
      require_replayed(
          [&] { return GraphTraining(moved(small_graph_run(graphs.schema, settings).model), graphs, split, settings); },
          5);
    }
  }
}

TEST_CASE("trainings in half types are the same when their steps are replayed", "[replay]") {
  const ArrayDataset clouds = random_clouds(), shapes = part_dataset(10);
  const PackedItems graphs = small_graphs(GraphTask::classification);
  const DatasetSplit split{{1, 1, 1, 1, 1, 1, 1}, {4}, {5, 6}};
  const at::Tensor mask = part_mask(small_parts(), 2);
  for (const at::ScalarType half : {at::kHalf, at::kBFloat16}) {
    INFO(half);
    const ClassifySettings classify = small_settings("radial");
    require_replayed([&] { return ClassifyTask(moved(small_model(classify)), clouds, nullptr, classify); }, 5, half);
    SegmentSettings segment = small_segment_settings();
    segment.model.category = true;
    require_replayed([&] { return SegmentTask(moved(small_segmenter(segment)), shapes, nullptr, segment, mask); }, 5,
                     half);
    for (const NodePositions positions : {NodePositions::none, NodePositions::added, NodePositions::relative}) {
      GraphSettings settings = small_graph_settings();
      settings.model.positions = positions;
      INFO("positions " << name_of(positions));
      require_replayed(
          [&] { return GraphTraining(moved(small_graph_run(graphs.schema, settings).model), graphs, split, settings); },
          5, half);
    }
  }
}

TEST_CASE("replay is refused where steps cannot be replayed", "[replay]") {
  TrainSettings train;
  EncoderSettings model;
  const at::Device gpu(at::kCUDA, 0);
  check_replay(train, model, at::kCPU, one_process());
  CHECK_FALSE(step_graphs(train, at::kCPU));
  train.replay_steps = true;
  check_replay(train, model, gpu, one_process());
  require_error([&] { check_replay(train, model, at::kCPU, one_process()); },
                {"--replay-steps", "a GPU", "--device cuda"});
  ThreadProcesses(2).run([&](const Communicator& all) {
    if (!all.is_root()) return;
    require_error([&] { check_replay(train, model, gpu, all); }, {"--replay-steps", "one process", "2"});
  });
  model.attention = "bn";
  require_error([&] { check_replay(train, model, gpu, one_process()); }, {"--replay-steps", "not bn"});
  model.attention = "polynomial";
  check_replay(train, model, gpu, one_process());
  model.polynomial.tolerance = 0.1;
  require_error([&] { check_replay(train, model, gpu, one_process()); }, {"--replay-steps", "tolerance"});
}

TEST_CASE("replay is refused for graphs that every batch is looked up in", "[replay]") {
  GraphSettings settings = small_graph_settings();
  settings.train.replay_steps = true;
  settings.check();
  settings.config().assign("encoding", "lappe");
  require_error([&] { settings.check(); }, {"replay_steps", "lappe"});
  settings.config().assign("encoding", "none");
  settings.model.distance_channels = 2;
  require_error([&] { settings.check(); }, {"replay_steps", "distance_channels"});
  settings.model.distance_channels = 0;
  settings.model.score = ScoreKind::dot;
  require_error([&] { settings.check(); }, {"replay_steps", "score maxout"});
  settings.model.relative = false;
  settings.check();
}

}  // namespace geosft::test::test_training_run
