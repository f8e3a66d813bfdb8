// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/run_checkpoint.h"

#include <torch/nn/modules/linear.h>

#include <catch2/catch.hpp>

#include "models/training/training_loop.h"
#include "tests/data/files.h"
#include "tests/environment.h"
#include "tests/support.h"
#include "tools/experiment/arguments.h"
#include "tools/experiment/metrics_csv.h"
#include "tools/experiment/run_folder.h"

namespace geosft::test::test_run_checkpoint {
namespace {

Checkpoint example(const std::vector<std::string>& names = {"a chair", "b"}) {
  Checkpoint checkpoint{{}, run_texts("tool", "x = 1\n", names)};
  checkpoint.texts["schema"] = "{}";
  return checkpoint;
}

}  // namespace

TEST_CASE("a checkpoint says what it is of") {
  const Checkpoint checkpoint = example();
  CHECK(run_text(checkpoint, "tool", "config", "f") == "x = 1\n");
  CHECK(run_names(checkpoint, "tool", "f") == std::vector<std::string>{"a chair", "b"});
  CHECK(checkpoint.texts.at("version") == version_text());
  require_error([&] { run_text(checkpoint, "other", "config", "f.ckpt"); }, {"f.ckpt", "of other", "one of tool"});
  require_error([&] { run_text(checkpoint, "tool", "nothing", "f.ckpt"); }, {"f.ckpt", "no text 'nothing'"});
  require_error([&] { run_names({}, "tool", "f.ckpt"); }, {"f.ckpt", "no text 'kind'"});
}

TEST_CASE("a checkpoint of another program is refused by the tool that was called, and names its own") {
  Checkpoint checkpoint = example();
  check_kind(checkpoint, "tool", "f.ckpt", "other-tool");
  require_error([&] { check_kind(checkpoint, "another", "f.ckpt", "the-tool"); },
                {"f.ckpt", "a checkpoint of the-tool", "one of tool"});
  checkpoint.texts["kind"] = "geosft-graph";
  checkpoint.texts["schema"] = R"({"items":"sequences"})";
  require_error([&] { check_kind(checkpoint, "tool", "f.ckpt", "tool"); }, {"one of geosft-sequence"});
}

TEST_CASE("a run without any checkpoint is refused") {
  const TemporaryFolder folder;
  write_text(folder / "config.toml", "");
  std::filesystem::path file;
  require_error([&] { load_run_checkpoint(folder.path(), file); },
                {folder.path().string(), "a run with a best.ckpt", "neither that nor a last.ckpt"});
}

TEST_CASE("a folder of runs names the first of them") {
  const TemporaryFolder folder;
  const std::filesystem::path all = folder / "run";
  for (const char* name : {"", "fold_1", "fold_0", "pictures"}) RunFolder::create(all / name).write_config("");
  std::filesystem::path file;
  require_error([&] { load_run_checkpoint(all, file); }, {all.string(), "2 runs", (all / "fold_0").string()});
  require_error([&] { load_run_checkpoint(all / "fold_0", file); }, {"best.ckpt"});
}

TEST_CASE("a best checkpoint says its epoch, what chose it by which score, and whether the run ended early") {
  const TemporaryFolder folder;
  Checkpoint checkpoint = example();
  CHECK(ChosenCheckpoint().choice(10).empty());
  checkpoint.texts["epoch"] = "5";
  checkpoint.texts["chosen_by"] = "validation";
  save_checkpoint(folder / "best.ckpt", checkpoint);
  CHECK(chosen_checkpoint(folder / "best.ckpt").choice(10) == "epoch 5 of 10, the best on the validation split");
  checkpoint.texts["chosen_score"] = "accuracy 0.0 %";
  save_checkpoint(folder / "best.ckpt", checkpoint);
  MetricsWriter metrics(folder / "metrics.csv", ScoreStyle());
  metrics.append({.step = 7, .epoch = 7});
  CHECK(chosen_checkpoint(folder / "best.ckpt").text(10) ==
        "test figures are of best.ckpt: epoch 5 of 10, the best on the validation split (accuracy 0.0 %); the run "
        "stopped after epoch 7\n");
  metrics.append({.step = 10, .epoch = 10});
  CHECK(chosen_checkpoint(folder / "best.ckpt").choice(10) ==
        "epoch 5 of 10, the best on the validation split (accuracy 0.0 %)");
  checkpoint.texts["chosen_by"] = "last epoch";
  save_checkpoint(folder / "best.ckpt", checkpoint);
  CHECK(chosen_checkpoint(folder / "best.ckpt").choice(10) ==
        "epoch 5 of 10, the last one saved (no validation split)");
  CHECK(chosen_checkpoint(folder / "best.ckpt").choice(5) == "epoch 5 of 5, the last one (no validation split)");
  checkpoint = example();
  checkpoint.tensors["position"] = at::tensor({int64_t{10}, int64_t{0}});
  save_checkpoint(folder / "last.ckpt", checkpoint);
  CHECK(chosen_checkpoint(folder / "last.ckpt").choice(10) == "epoch 10 of 10, from which the run is resumed");
}

TEST_CASE("a name that does not exist is answered with the pretrained models of the tool") {
  const TemporaryFolder zoo;
  const EnvironmentVariable place("GEOSFT_ZOO", zoo.path().string());
  std::filesystem::path file;
  require_error([&] { load_run_checkpoint("parts", file, "geosft-segment"); },
                {"parts", "nothing of this name; geosft-segment has no pretrained models"});
  require_error([&] { load_run_checkpoint("parts", file); }, {"parts", "nothing of this name"});
}

TEST_CASE("a run is resumed with the outputs and texts that it was begun with") {
  const Checkpoint checkpoint = example();
  std::map<std::string, std::string> texts = checkpoint.texts;
  texts["config"] = "x = 2\n";
  texts["version"] = "another";
  check_same_outputs(checkpoint, texts, "f.ckpt", "DATA");
  texts["schema"] = "[]";
  require_error([&] { check_same_outputs(checkpoint, texts, "f.ckpt", "DATA"); }, {"DATA", "schema"});
  require_error([&] { check_same_outputs(checkpoint, example({"a"}).texts, "f.ckpt", "DATA"); }, {"DATA", "classes"});
}

TEST_CASE("weights come back from a folder or a file, and errors are of the file") {
  const TemporaryFolder folder;
  torch::nn::Linear saved(2, 3), loaded(2, 3), wider(4, 3);
  Checkpoint checkpoint = example();
  for (const auto& [name, tensor] : module_state(*saved)) checkpoint.tensors.emplace("model." + name, tensor);
  checkpoint.tensors.emplace("optimizer.x", at::ones({1}));
  const RunFolder run = RunFolder::create(folder / "run");
  run.write_config("");
  save_checkpoint(run.best_checkpoint(), checkpoint);
  std::filesystem::path file;
  for (const std::filesystem::path& where : {run.path(), run.best_checkpoint()}) {
    const Checkpoint found = load_run_checkpoint(where, file);
    CHECK(file == run.best_checkpoint());
    load_run_weights(*loaded, found, file);
    require_equal(loaded->weight, saved->weight, "weight");
  }
  require_error([&] { load_run_weights(*wider, checkpoint, "f.ckpt"); }, {"f.ckpt", "weights", "shape"});
  require_error([] { read_run_config("f.ckpt", [] { throw UsageError("no such key"); }); }, {"f.ckpt", "no such key"});
}

}  // namespace geosft::test::test_run_checkpoint
