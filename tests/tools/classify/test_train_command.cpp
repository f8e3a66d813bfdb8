// SPDX-License-Identifier: Apache-2.0
// geosft-classify train, end to end.
#include <catch2/catch.hpp>
#include <chrono>
#include <cmath>
#include <thread>

#include "data/checkpoint.h"
#include "tests/data/points/installed_furniture.h"
#include "tests/places.h"
#include "tests/support.h"
#include "tests/tools/classify/classify_tool.h"
#include "tests/tools/experiment/same_runs.h"

namespace geosft::test::test_train_command {
namespace fs = std::filesystem;

namespace {

void require_no_leftovers(const fs::path& folder) {
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    INFO(entry.path().string());
    CHECK(entry.path().extension() != ".tmp");
  }
}

}  // namespace

TEST_CASE("train leaves a complete run and prints the evaluation") {
  const ClassifyShop shop;
  const auto [json, said] = shop.require_complete_run({"--validation-fraction", "0.2"}, "cube\nsphere\ntetrahedron\n");
  check_evaluation(json, "none", 1);
  const fs::path run = shop / "run";
  const std::string split = read_text(run / "split.csv");
  CHECK(lines_of(split).size() == 1 + 15 + 6);
  CHECK(count_of(split, "validation,") == 3);
  CHECK_THAT(split, Catch::StartsWith("split,item,name,label\ntrain,") && Catch::Contains("\ntest,0,"));
  CHECK_THAT(split, Catch::Contains("/cube_5.off,cube\n") && Catch::Contains("/sphere_4.xyz,sphere\n"));
  CHECK_THAT(read_text(run / "config.toml"), Catch::Contains("dim = 16") && Catch::Contains("seed = 3"));
  CHECK(lines_of(read_text(run / "metrics.csv")).size() == 1 + 3 + 1);
  const bool drawn = has_gnuplot();
  for (const char* name : {"learning_curves.png", "learning_curves.svg", "confusion_none.png", "confusion_none.svg"}) {
    CHECK(fs::exists(run / name) == drawn);
  }
}

TEST_CASE("a run needs its folder alone to be trained again") {
  const ClassifyShop shop;
  const fs::path config = fs::path(shop.trained()) / "config.toml";
  shop.run_well({"train", "--config", config.string(), "--out", (shop / "again").string()});
  CHECK(read_text(shop / "again" / "config.toml") == read_text(config));
  CHECK(read_text(shop / "again" / "best.ckpt") == read_text(fs::path(shop.trained()) / "best.ckpt"));
}

TEST_CASE("train works on the furniture set") {
  if (!has_furniture()) return;
  const TemporaryFolder folder;
  const Words model = {"--dim",         "16", "--num-heads",        "2", "--depth", "1",
                       "--num-samples", "16", "--head-num-samples", "32"};
  const ProcessResult result = run_process(
      program_path("geosft-classify"),
      Words{"train", "--out", (folder / "run").string(), "--epochs", "2", "--points", "64", "--json"} + model);
  INFO(result.err);
  REQUIRE(result.exit == 0);
  CHECK(nlohmann::json::parse(result.out).at("count") > 50);
}

TEST_CASE("a wrong configuration file is named with its line") {
  const ClassifyShop shop;
  const fs::path file = shop / "wrong.toml";
  const auto refused = [&](const std::string& toml, const Words& expected) {
    write_text(file, toml);
    shop.refuses(shop.train("run", {"--config", file.string()}), 2, expected);
    CHECK_FALSE(fs::exists(shop / "run"));
  };
  refused("seed = 1\n[train]\nepoch = 3\n", {"wrong.toml:3", "'epoch'", "'epochs'"});
  refused("[training]\nepochs = 3\n", {"wrong.toml:1", "[training]", "[train]"});
  refused("[train]\nepochs = -1\n", {"wrong.toml:2", "'epochs'", "-1"});
  refused("[train]\nepochs = \n", {"wrong.toml:2"});
}

TEST_CASE("data that cannot be trained on leave no run behind") {
  const ClassifyShop shop;
  const auto refused = [&](const Words& words, int exit, const Words& expected) {
    shop.require_failure(shop.run(shop.train("run", words)), exit, expected);
    CHECK_FALSE(fs::exists(shop / "run"));
  };
  refused({"--data", (shop / "nothing").string()}, 1, {"nothing"});
  refused({"--validation-fraction", "0.001"}, 2, {"validation_fraction", "15"});
  const fs::path bare = shop / "bare";
  for (const char* name : {"a", "b"}) {
    write_text(bare / "train" / name / "1.xyz", sphere_xyz(1.0, 50, /*normals=*/false));
  }
  refused({"--data", bare.string()}, 1, {"shapes to test with"});
  write_text(bare / "test" / "a" / "1.xyz", "");
  refused({"--data", bare.string()}, 1, {"1.xyz", "empty file"});
  write_text(bare / "train" / "b" / "2.off", "OFF\n");
  refused({"--data", bare.string()}, 1, {"2 broken files: ", "train/b/2.off", "test/a/1.xyz", "empty file"});
  const fs::path few = shop / "few";
  for (const char* file : {"a/1.off", "a/2.off", "b/1.off"}) write_text(few / file, cube_off(1.0));
  refused({"--data", few.string()}, 1, {few.string(), "at most 2 files per class", "--test-every 2"});
}

TEST_CASE("clouds without normals are trained on with estimated ones, which is said once") {
  const ClassifyShop shop;
  const fs::path bare = shop / "bare";
  for (int i = 0; i < 5; ++i) {
    for (const char* name : {"a", "b"}) {
      write_text(bare / name / (std::to_string(i) + ".xyz"), sphere_xyz(1.0 + 0.1 * i, 60, /*normals=*/false));
    }
  }
  const ProcessResult estimated = shop.run_well(shop.train("run", {"--data", bare.string()}));
  CHECK(count_of(estimated.err, "normals are estimated") == 1);
  CHECK_THAT(read_text(shop / "run" / "config.toml"), Catch::Contains("normals = true"));
  CHECK_THAT(shop.run_well({"eval", (shop / "run").string()}).err, Catch::Contains("normals are estimated"));
  const ProcessResult without = shop.run_well(shop.train("bare_run", {"--data", bare.string(), "--normals", "false"}));
  CHECK(count_of(without.err, "estimated") == 0);
  // One among others that have them.
  write_text(shop.data() / "train" / "sphere" / "bare.xyz", sphere_xyz(1.0, 50, /*normals=*/false));
  const std::string mixed = shop.run_well(shop.train("mixed")).err;
  CHECK_THAT(mixed,
             Catch::Contains(": 1 of 16 clouds have coordinates alone") && Catch::Contains("train/sphere/bare.xyz\n"));
}

TEST_CASE("without a configuration the sizes fit the data, and a tenth of it chooses the checkpoint") {
  const ClassifyShop shop;
  const auto train = [&](const std::string& out, const Words& more) {
    const Words words = {"train", "--data", shop.data().string(), "--out", (shop / out).string(), "--epochs", "2"};
    return shop.run_well(words + more);
  };
  const Words tiny = {"--points", "64", "--points-per-mesh", "128", "--dim", "16", "--depth", "1"};
  const ProcessResult small = train("small", tiny);
  CHECK_THAT(small.err, Catch::Contains("sizes that fit the data: num_heads 1, num_samples 32, head_num_samples 128, "
                                        "batch_size 4, ema_decay 0.0 (--preset paper"));
  CHECK(lines_of(small.err.substr(0, small.err.find("epoch 1/2"))).size() <= 10);
  const std::string config = read_text(shop / "small" / "config.toml");
  CHECK_THAT(config, Catch::Contains("batch_size = 4\n") && Catch::Contains("tokens = \"local\"") &&
                         Catch::Contains("validation_fraction = 0.0\n") && !Catch::Contains("auto\""));
  // The paper's sizes by name.
  const std::string paper = read_text(fs::path(shop.trained()) / "config.toml");
  CHECK_THAT(paper, Catch::Contains("tokens = \"radial\"") && Catch::Contains("schedule = \"step\""));
  // A file gives the values that it names, and all others are the paper's.
  write_text(shop / "some.toml", "[model]\nattention = 'sampling'\nnum_heads = 2\n");
  train("file", tiny + Words{"--config", (shop / "some.toml").string()});
  CHECK_THAT(read_text(shop / "file" / "config.toml"),
             Catch::Contains("tokens = \"radial\"") && Catch::Contains("batch_size = 32\n"));
  for (int i = 10; i < 290; ++i) {
    write_text(shop.data() / "train" / "cube" / (std::to_string(i) + ".off"), cube_off(0.01 * i));
  }
  const ProcessResult held = train("held", tiny + Words{"--validate-every", "1", "--json"});
  CHECK_THAT(held.err, Catch::Contains("training on 264 clouds of 3 classes, 31 more choose the best checkpoint"));
  CHECK(nlohmann::json::parse(held.out).at("checkpoint").at("chosen_by") == "validation");
  const ProcessResult all = train("all", tiny + Words{"--validation", "0"});
  CHECK_THAT(all.err, Catch::Contains("training on 295 clouds"));
  CHECK_THAT(all.out, Catch::Contains("test figures are of best.ckpt: epoch 2 of 2, the last one"));
}

TEST_CASE("a training leaves its log, a line per epoch, and events for TensorBoard") {
  const ClassifyShop shop;
  const ProcessResult result = shop.run_well(shop.train("run", {"--tensorboard", "--validation", "0.2"}));
  const std::string log = read_text(shop / "run" / "train.log");
  for (const std::string epoch : {"epoch 1/3  loss ", "epoch 2/3  loss ", "epoch 3/3  loss "}) {
    CHECK(count_of(result.err, epoch) >= 1);
    CHECK(count_of(log, epoch) == 1);
  }
  CHECK_THAT(log, Catch::Contains("geosft ") && Catch::Contains("epochs = 3") && Catch::Contains("training on 12"));
  size_t files = 0;
  for (const auto& entry : fs::directory_iterator(shop / "run" / "tensorboard")) {
    ++files;
    const std::string events = read_text(entry.path());
    for (const char* tag : {"brain.Event:2", "loss/train", "accuracy/train", "loss/validation", "learning_rate"}) {
      CHECK(count_of(events, tag) >= 1);
    }
  }
  CHECK(files == 1);
  CHECK_FALSE(fs::exists(fs::path(shop.trained()) / "tensorboard"));
}

TEST_CASE("train and eval take the same words for rotations, in any case") {
  const ClassifyShop shop;
  shop.run_well(shop.train("run", {"--rotate", "SO3"}));
  CHECK_THAT(read_text(shop / "run" / "config.toml"), Catch::Contains("rotate_training = \"so3\""));
  const std::string out = shop.run_well({"eval", (shop / "run").string(), "--rotate", "SO3", "--json"}).out;
  CHECK(nlohmann::json::parse(out).at("rotation") == "so3");
}

TEST_CASE("clouds of one point and of equal points are trained on and evaluated like others") {
  const ClassifyShop shop;
  for (const char* split : {"train", "test"}) {
    write_text(shop.data() / split / "sphere" / "one.xyz", "1 2 3 0 0 1\n");
    write_text(shop.data() / split / "cube" / "equal.xyz", "1 2 3 0 0 1\n1 2 3 0 1 0\n1 2 3 1 0 0\n");
  }
  for (const Words& words : {Words{"--no-normals"}, Words{"--tokens", "local"}, Words{"--tokens", "absolute"}}) {
    const fs::path run = shop / words.back();
    shop.run_well(shop.train(words.back(), words + Words{"--epochs", "2"}));
    for (const MetricsRow& row : read_metrics(run / "metrics.csv")) CHECK(std::isfinite(row.loss));
    const std::string out = shop.run_well({"eval", run.string(), "--rotate", "so3", "--json"}).out;
    const nlohmann::json result = nlohmann::json::parse(out);
    CHECK(result.at("count") == 8);
    CHECK(result.at("metrics").at("loss").is_number());
    CHECK(result.at("max_logit_difference").is_number());
  }
}

TEST_CASE("a full disk ends a run with a line and no half-written file") {
  const ClassifyShop shop;
  ProcessOptions full = shop.process();
  full.file_bytes = 4096;  // room for the configuration, not for a checkpoint
  const ProcessResult result = run_process(program_path("geosft-classify"), shop.train("run"), full);
  shop.require_failure(result, 1, {".ckpt", "room", "File too large"});
  CHECK_FALSE(fs::exists(shop / "run" / "best.ckpt"));
  CHECK_FALSE(fs::exists(shop / "run" / "last.ckpt"));
  require_no_leftovers(shop / "run");
  shop.run_well({"train", "--resume", "--out", (shop / "run").string()});
}

TEST_CASE("a dataset that is deleted in the middle ends the run, which goes on when it is back") {
  const ClassifyShop shop;
  const Words words = {"--epochs", "16", "--checkpoint-every", "2"};
  shop.run_well(shop.train("whole", words));
  const fs::path run = shop / "run", away = shop / "away";
  const auto remove_data = [&](const Process&) {
    fs::rename(shop.data(), away);
    fs::rename(shop / "cache", shop / "cache_away");
  };
  const ProcessResult ended = train_until(program_path("geosft-classify"), shop.train("run", words), shop.process(),
                                          run / "metrics.csv", 5, remove_data);
  shop.require_failure(ended, 1, {shop.data().string(), "found nothing of this name"});
  CHECK_NOTHROW(load_checkpoint(run / "last.ckpt"));
  require_no_leftovers(run);
  fs::rename(away, shop.data());
  shop.run_well({"train", "--resume", "--out", run.string()});
  require_same_run(shop / "whole", run);
}

TEST_CASE("a loss that is not finite is passed over or ends the run, and its batch can be looked at") {
  const ClassifyShop shop;
  const fs::path run = shop / "run";
  const Words diverging = {"--lr", "1e30", "--epochs", "50", "--on-non-finite", "stop"};
  shop.require_failure(shop.run(shop.train("run", diverging)), 1, {"not finite in step", "to stop there"});
  const Checkpoint shown = load_checkpoint(run / "non_finite_batch.ckpt");
  CHECK_THAT(shown.texts.at("step"), Catch::StartsWith("step "));
  CHECK(shown.tensors.at("batch.points").sizes() == at::IntArrayRef({4 * 64, 3}));
  CHECK(shown.tensors.at("batch.labels").sizes() == at::IntArrayRef{4});
  CHECK(shown.tensors.count("model.embed.weight") == 1);
  CHECK_THAT(shop.run_well({"info", (run / "non_finite_batch.ckpt").string()}).out, Catch::Contains("dim = 16"));
  require_no_leftovers(run);
}

TEST_CASE("a run folder that cannot be made or written to is named before anything is done") {
  const ClassifyShop shop;
  ProcessOptions bound = shop.process();
  bound.bound = true;
  const auto refused = [&](const fs::path& out, const Words& expected) {
    const Words words = {"train", "--data", shop.data().string(), "--out", out.string()};
    require_one_line_failure(shop.tool(), run_process(program_path("geosft-classify"), words, bound), 1,
                             Words{out.string()} + expected);
  };
  refused("/dev/null/run", {"cannot make the run folder", "Not a directory"});
  for (const char* name : {"locked", "locked_run"}) {
    fs::create_directory(shop / name);
    fs::permissions(shop / name, fs::perms::owner_read | fs::perms::owner_exec);
  }
  if (run_process("/bin/true", {}, bound).exit == not_started) {
    leave_out("root may not give up its rights here (CAP_SETPCAP): a locked folder is not tested");
    return;
  }
  refused(shop / "locked" / "run", {"cannot make the run folder", "ermission denied"});
  refused(shop / "locked_run", {"a folder that can be written to", "ermission denied"});
}

TEST_CASE("the data of a run are found from any folder") {
  const ClassifyShop shop;
  ProcessOptions beside = shop.process(), elsewhere = shop.process();
  beside.folder = shop.data().parent_path();
  elsewhere.folder = "/";
  const ProcessResult trained =
      run_process(program_path("geosft-classify"), shop.train("run", {"--epochs", "1", "--data", "data"}), beside);
  INFO(trained.err);
  REQUIRE(trained.exit == 0);
  CHECK_THAT(read_text(shop / "run" / "config.toml"), Catch::Contains("data = '" + shop.data().string() + "'") ||
                                                          Catch::Contains("data = \"" + shop.data().string() + "\""));
  const ProcessResult evaluated =
      run_process(program_path("geosft-classify"), {"eval", (shop / "run").string(), "--json"}, elsewhere);
  INFO(evaluated.err);
  REQUIRE(evaluated.exit == 0);
  CHECK(nlohmann::json::parse(evaluated.out).at("count") == 6);
}

TEST_CASE("a run that diverges says so, and keeps what it had") {
  const ClassifyShop shop;
  const ProcessResult result = shop.run(shop.train("run", {"--lr", "1e30", "--epochs", "50"}));
  shop.require_failure(result, 1, {"diverged in epoch", "20 steps in a row", "learning rate"});
  CHECK(lines_of(read_text(shop / "run" / "metrics.csv")).size() > 4);
  CHECK_THAT(result.err, Catch::Contains("its batch is in"));
  CHECK(load_checkpoint(shop / "run" / "non_finite_batch.ckpt").tensors.at("batch.points").size(1) == 3);
  require_no_leftovers(shop / "run");
}

TEST_CASE("a signal while the data are read leaves nothing, and says so") {
  const ClassifyShop shop;
  const fs::path above = shop / "deep";
  // Sampling so many points takes seconds.
  const Words words = shop.train("deep/run", {"--points-per-mesh", "2000000"});
  Process process(program_path("geosft-classify"), words, shop.process());
  // Before it is the program, the process catches what the tests do; with its folder it is.
  for (int tries = 0; !fs::exists(above / "run") || !process.catches(SIGINT); ++tries) {
    REQUIRE(tries < 60000);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  process.send(SIGINT);
  const ProcessResult stopped = process.wait();
  CHECK(stopped.exit == 130);
  CHECK_THAT(stopped.err, Catch::EndsWith("interrupted: before the first step; nothing was trained\n"));
  CHECK_FALSE(fs::exists(above));
}

TEST_CASE("a training that its data refuse leaves no folders") {
  const ClassifyShop shop;
  write_text(shop.data() / "train" / "cube" / "broken.off", "OFF\n1 0 0\n");
  const ProcessResult result = shop.run(shop.train("deep/run"));
  shop.require_failure(result, 1, {"broken.off"});
  CHECK_FALSE(fs::exists(shop / "deep"));
}

TEST_CASE("a signal in the final evaluation stops it at once, and the run is complete") {
  const ClassifyShop shop;
  // Checkpoints only at the end, and an evaluation that would take hours.
  const Words words = shop.train("run", {"--checkpoint-every", "1000", "--votes", "1000000"});
  Process process(program_path("geosft-classify"), words, shop.process());
  const fs::path run = shop / "run";
  for (int tries = 0; !fs::exists(run / "last.ckpt"); ++tries) {
    REQUIRE(tries < 60000);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  process.send(SIGINT);
  const ProcessResult stopped = process.wait();
  INFO(stopped.err);
  CHECK(stopped.exit == 130);
  CHECK(stopped.out.empty());
  CHECK_THAT(lines_of(stopped.err).back(), Catch::StartsWith("geosft-classify: interrupted: ") &&
                                               Catch::Contains("evaluation") &&
                                               Catch::Contains("eval " + run.string()));
  CHECK_FALSE(fs::exists(run / "result.json"));
  shop.run_well({"eval", run.string(), "--votes", "1"});
}

TEST_CASE("a single class is refused with its folder") {
  const ClassifyShop shop;
  for (const char* split : {"train", "test"}) {
    for (const auto& entry : fs::directory_iterator(shop.data() / split)) {
      if (entry.path().filename() != "cube") fs::remove_all(entry.path());
    }
  }
  shop.require_failure(shop.run(shop.train("run")), 1,
                       {shop.data().string(), "at least two classes", "found one: cube"});
  CHECK_FALSE(fs::exists(shop / "run"));
}

TEST_CASE("a training starts from another run, with its model, for other classes") {
  const ClassifyShop shop;
  const std::string first = shop.trained();
  fs::remove_all(shop.data() / "train" / "cube");
  fs::remove_all(shop.data() / "test" / "cube");
  const auto tune = [&](const std::string& out, const Words& more) {
    const Words words = {"train",    "--data", shop.data().string(), "--init-from", first,          "--epochs", "2",
                         "--points", "48",     "--points-per-mesh",  "128",         "--batch-size", "4",        "--lr",
                         "1e-3",     "--out",  (shop / out).string()};
    return shop.run_well(words + more);
  };
  const ProcessResult result = tune("tuned", {"--head-lr-factor", "10", "--max-per-class", "3"});
  REQUIRE_THAT(result.err, Catch::Contains("training on 6 clouds of 2 classes") &&
                               Catch::Contains("from " + first + " with the outputs of 2 of its 2 classes"));
  const std::string config = read_text(shop / "tuned" / "config.toml");
  REQUIRE_THAT(config, Catch::Contains("dim = 16") && Catch::Contains("points = 48") &&
                           Catch::Contains("head_lr_factor = 10") && Catch::Contains("init_from = \"" + first));
  tune("frozen", {"--freeze-encoder"});
  const Checkpoint before = load_checkpoint(fs::path(first) / "best.ckpt"),
                   frozen = load_checkpoint(shop / "frozen" / "best.ckpt"),
                   tuned = load_checkpoint(shop / "tuned" / "best.ckpt");
  bool moved = false;
  for (const auto& [name, tensor] : before.tensors) {
    if (name.rfind("model.head.", 0) == 0) continue;
    require_equal(frozen.tensors.at(name), tensor, name);
    moved = moved || !at::equal(tuned.tensors.at(name), tensor);
  }
  REQUIRE(moved);
  shop.refuses(shop.train("none", {"--freeze-encoder"}), 2, {"--freeze-encoder", "--init-from"});
  shop.refuses(shop.train("none", {"--head-lr-factor", "5"}), 2, {"--head-lr-factor", "--init-from"});
  shop.refuses(shop.train("none", {"--init-from", "nothing"}), 1, {"nothing"});
  shop.refuses(shop.train("none", {"--init-from", first, "--dim", "32"}), 2, {"--dim", "dim = 16"});
  shop.refuses(shop.train("none", {"--init-from", first, "--no-normals"}), 2, {"--normals", "normals = true"});
}

TEST_CASE("with the seed of the run to begin with, new outputs begin with other numbers than those of the run") {
  const ClassifyShop shop;
  const std::string first = (shop / "first").string();
  const Words still = {"--epochs", "1", "--lr", "1e-12"};
  shop.run_well(shop.train("first", still));
  for (const char* split : {"train", "test"}) {
    for (const char* name : {"cube", "sphere", "tetrahedron"}) {
      fs::rename(shop.data() / split / name, shop.data() / split / (std::string("new_") + name));
    }
  }
  const ProcessResult tuned = shop.run_well(shop.train("tuned", still + Words{"--init-from", first}));
  CHECK_THAT(tuned.err, Catch::Contains(" with a new output layer"));
  const auto weight = [&](const char* run, const std::string& layer) {
    return load_checkpoint(shop / run / "best.ckpt").tensors.at("model." + layer + ".weight");
  };
  CHECK(at::allclose(weight("tuned", "embed"), weight("first", "embed")));
  CHECK_FALSE(at::allclose(weight("tuned", "head.linear"), weight("first", "head.linear")));
}

TEST_CASE("a classifier is averaged with a kernel regression, which its RUN keeps") {
  const ClassifyShop shop;
  const fs::path run = shop / "run";
  const auto [json, said] =
      shop.require_complete_run({"--kernel-ridge", "--validation-fraction", "0.2"}, "cube\nsphere\ntetrahedron\n");
  CHECK_THAT(said, Catch::Contains("fitting a kernel ridge regression to 12 clouds") &&
                       Catch::Contains("loss on the validation split") && Catch::Contains("; weight 0."));
  CHECK_THAT(read_text(run / "train.log"), Catch::Contains("kernel ridge regression: ridge"));
  CHECK_THAT(read_text(run / "config.toml"), Catch::Contains("kernel_ridge = true"));
  REQUIRE(fs::exists(run / "kernel.ckpt"));
  const auto metrics = [&](const std::string& of) {
    return nlohmann::json::parse(shop.run_well({"eval", of, "--json"}).out).at("metrics");
  };
  CHECK(metrics(run.string()) == json.at("metrics"));
  CHECK(metrics((run / "best.ckpt").string()) != json.at("metrics"));
  const nlohmann::json turned =
      nlohmann::json::parse(shop.run_well({"eval", run.string(), "--rotate", "so3", "--json"}).out);
  CHECK(turned.at("max_logit_difference") < 1e-3);
  CHECK_THAT(shop.run_well({"eval", run.string()}).out, Catch::Contains(", averaged with a kernel ridge regression\n"));
  const std::string file = (shop.data() / "test" / "cube" / "cube_5.off").string();
  const auto predicted = [&](const std::string& of) { return shop.run_well({"predict", of, file}); };
  CHECK(predicted(run.string()).out != predicted((run / "best.ckpt").string()).out);
  CHECK_THAT(predicted((run / "best.ckpt").string()).err, Catch::Contains("without the kernel ridge regression"));
  shop.run_well({"report", run.string()});
  fs::copy(run, shop / "bare", fs::copy_options::recursive);
  fs::remove(shop / "bare" / "kernel.ckpt");
  CHECK_THAT(predicted((shop / "bare").string()).err, Catch::Contains("kernel.ckpt is missing"));
  // A training that goes on keeps the regression, and a run without a validation split its weight.
  const std::string kept = read_text(run / "kernel.ckpt");
  shop.run_well({"train", "--resume", "--out", run.string(), "--epochs", "4"});
  CHECK(read_text(run / "kernel.ckpt").size() == kept.size());
  CHECK_THAT(shop.run_well(shop.train("all", {"--kernel-ridge", "--validation-fraction", "0"})).err,
             Catch::Contains("to 15 clouds") && Catch::Contains("; weight 0.6\n"));
  // Fitted to normals as those of the training: here a half of them estimated.
  CHECK_THAT(shop.run_well(shop.train("half", {"--kernel-ridge", "--validation-fraction", "0", "--estimated-normals",
                                               "0.5", "--num-samples", "1000"}))
                 .err,
             Catch::Contains("; weight 0.6\n") && Catch::Contains("num_samples = 1000 is more than half of the "));
  CHECK(read_text(shop / "half" / "kernel.ckpt") != read_text(shop / "all" / "kernel.ckpt"));
  const std::string told = shop.run_well(shop.train("none", {"--kernel-ridge", "--normals", "false"})).err;
  CHECK_THAT(told, Catch::Contains("kernel_ridge is left out: it needs normals") && Catch::Contains("epoch 1/"));
  CHECK(told.find("kernel_ridge is left out") < told.find("epoch 1/"));
  CHECK_FALSE(fs::exists(shop / "none" / "kernel.ckpt"));
}

TEST_CASE("broken files are left out of a training when asked, which is said, kept in the run and its result") {
  const ClassifyShop shop;
  write_text(shop.data() / "train" / "cube" / "cube_1.off", "OFF\n");
  write_text(shop.data() / "test" / "sphere" / "sphere_5.xyz", "");
  shop.require_failure(shop.run(shop.train("run")), 1, {"2 broken files", "--skip-broken", "info --check"});
  const ProcessResult result = shop.run_well(shop.train("run", {"--skip-broken", "--json"}));
  CHECK_THAT(result.err, Catch::Contains("training on 14 clouds of 3 classes, 2 broken files are left out"));
  CHECK(count_of(result.err, "left out: " + (shop.data() / "train" / "cube" / "cube_1.off").string()) == 1);
  CHECK(count_of(result.err, "left out: " + (shop.data() / "test" / "sphere" / "sphere_5.xyz").string()) == 1);
  const nlohmann::json json = nlohmann::json::parse(result.out);
  CHECK(json.at("count") == 5);
  CHECK(json.at("left_out").size() == 1);
  const std::string run = (shop / "run").string();
  CHECK_THAT(read_text(shop / "run" / "config.toml"), Catch::Contains("skip_broken = true"));
  CHECK_THAT(shop.run_well({"eval", run}).out, Catch::Contains("5 clouds of the test set, upright; 1 broken file"));
  const std::string strict = (shop / "strict").string();
  fs::remove(shop.data() / "test" / "sphere" / "sphere_5.xyz");
  fs::remove(shop.data() / "train" / "cube" / "cube_1.off");
  shop.run_well(shop.train("strict"));
  write_text(shop.data() / "test" / "sphere" / "sphere_6.xyz", "");
  shop.require_failure(shop.run({"eval", strict}), 1, {"sphere_6.xyz", "--skip-broken"});
  shop.run_well({"eval", strict, "--skip-broken"});
  shop.run_well({"report", strict, "--skip-broken"});
}

}  // namespace geosft::test::test_train_command
