// SPDX-License-Identifier: Apache-2.0
// Training that is interrupted in every way and resumed, against the same training without a break.
#include <catch2/catch.hpp>

#include "tests/places.h"
#include "tests/tools/classify/classify_tool.h"
#include "tests/tools/experiment/earlier_checkpoint.h"
#include "tests/tools/experiment/same_runs.h"

namespace geosft::test::test_train_command_resume {
namespace fs = std::filesystem;

namespace {

// Long enough to be stopped in the middle, with every random part switched on.
const Words long_run = Words{"--epochs", "24", "--batch-size", "2", "--validation-fraction", "0.2"} +
                       Words{"--validate-every", "3", "--checkpoint-every", "3", "--ema-decay", "0.9"} +
                       Words{"--drop-token-rate", "0.1", "--jitter", "0.01", "--rotate-training", "so3"};

ProcessResult train_until(const ClassifyShop& shop, const Words& words, const fs::path& run, size_t lines, int signal) {
  return test::train_until(program_path("geosft-classify"), words, shop.process(), run / "metrics.csv", lines, signal);
}

Words resume(const fs::path& run) {
  return {"train", "--resume", "--out", run.string()};
}

}  // namespace

TEST_CASE("a run that is killed or interrupted resumes bit for bit") {
  const ClassifyShop shop;
  const fs::path whole = shop / "whole", killed = shop / "killed", stopped = shop / "stopped";
  shop.run_well(shop.train("whole", long_run));

  REQUIRE(train_until(shop, shop.train("killed", long_run), killed, 12, SIGKILL).signal == SIGKILL);
  shop.run_well(resume(killed));
  require_same_run(whole, killed);

  const ProcessResult interrupted = train_until(shop, shop.train("stopped", long_run), stopped, 9, SIGINT);
  CHECK(interrupted.exit == 130);
  CHECK_THAT(lines_of(interrupted.err).back(), Catch::Contains("saved in") && Catch::Contains("--resume"));
  CHECK(load_checkpoint(stopped / "last.ckpt").tensors.at("position")[0].item<int64_t>() < 24);
  write_text(shop / "sphere.xyz", sphere_xyz(1.0));
  const std::string warning =
      ": its training has not ended, and what it has so far is used; geosft-classify train --resume --out " +
      stopped.string() + " goes on with it\n";
  for (const std::string& run : {stopped.string(), (stopped / "best.ckpt").string()}) {
    CHECK_THAT(shop.run_well({"predict", run, (shop / "sphere.xyz").string()}).err, Catch::Contains(run + warning));
    CHECK_THAT(shop.run_well({"eval", run}).err, Catch::Contains(run + warning));
  }
  shop.run_well(resume(stopped));
  CHECK_THAT(shop.run_well({"eval", stopped.string()}).err, !Catch::Contains("has not ended"));
  require_same_run(whole, stopped);
}

TEST_CASE("a run that is killed before its first checkpoint begins again") {
  const ClassifyShop shop;
  const Words words = long_run + Words{"--checkpoint-every", "1000", "--validation-fraction", "0"};
  shop.run_well(shop.train("whole", words));
  REQUIRE(train_until(shop, shop.train("killed", words), shop / "killed", 4, SIGKILL).signal == SIGKILL);
  REQUIRE_FALSE(fs::exists(shop / "killed" / "last.ckpt"));
  shop.refuses({"eval", (shop / "killed").string()}, 1, {"best.ckpt"});
  shop.run_well(resume(shop / "killed"));
  require_same_run(shop / "whole", shop / "killed");
}

TEST_CASE("a run whose last checkpoint is lost does not begin anew over its best one") {
  const ClassifyShop shop;
  const fs::path run = shop.trained();
  fs::remove(run / "last.ckpt");
  const std::string best = read_text(run / "best.ckpt"), metrics = read_text(run / "metrics.csv");
  for (const bool finished : {true, false}) {
    INFO(finished);
    shop.require_failure(
        shop.run(resume(run) + Words{"--epochs", "9"}), 1,
        {(run / "last.ckpt").string(), "none", finished ? "has ended" : "has come to epoch 3", "another --out"});
    CHECK((read_text(run / "best.ckpt") == best && read_text(run / "metrics.csv") == metrics));
    fs::remove(run / "result.json");
  }
  // It may not have come to its first checkpoint yet, whatever the interval is now.
  std::string config = read_text(run / "config.toml");
  const size_t place = config.find("checkpoint_every = ");
  write_text(run / "config.toml", config.replace(place, config.find('\n', place) - place, "checkpoint_every = 3"));
  shop.run_well(resume(run) + Words{"--checkpoint-every", "1"});
}

TEST_CASE("a finished run can be given more epochs") {
  const ClassifyShop shop;
  shop.run_well(shop.train("whole", {"--epochs", "4"}));
  const fs::path run = shop.trained();
  CHECK_THAT(shop.run_well(resume(run) + Words{"--epochs", "4"}).err,
             Catch::Contains("--epochs: 4 in place of 3, to which a schedule"));
  require_same_run(shop / "whole", run);
  CHECK(read_text(run / "config.toml") == read_text(shop / "whole" / "config.toml"));
  const ProcessResult fewer = shop.run(resume(run) + Words{"--epochs", "3"});
  shop.require_failure(fewer, 2, {"--epochs 3", "has reached epoch 4"});
  CHECK_THAT(fewer.err, !Catch::Contains("in place of"));
  CHECK(read_text(run / "config.toml") == read_text(shop / "whole" / "config.toml"));
}

TEST_CASE("a finished run whose data have moved is resumed, evaluated and found where they are now") {
  const ClassifyShop shop;
  const fs::path run = shop.trained(), moved = shop / "moved";
  const nlohmann::json before = nlohmann::json::parse(read_text(run / "result.json"));
  fs::rename(shop.data(), moved);
  shop.require_failure(shop.run(resume(run)), 1, {"--data DIR", shop.data().string()});
  const ProcessResult result = shop.run_well(resume(run) + Words{"--data", moved.string(), "--json"});
  CHECK(nlohmann::json::parse(result.out).at("metrics") == before.at("metrics"));
  CHECK_THAT(read_text(run / "config.toml"), Catch::Contains(moved.string()));
  CHECK_THAT(shop.run_well({"eval", run.string()}).out, Catch::Contains("6 clouds of the test set"));
}

TEST_CASE("the number of workers changes nothing") {
  const ClassifyShop shop;
  for (const char* workers : {"0", "3"}) shop.run_well(shop.train(workers, {"--workers", workers, "--jitter", "0.01"}));
  require_same_run(shop / "0", shop / "3");
}

// One of every version of the format: classify_checkpoint_1.ckpt is the last checkpoint of 20 epochs on shapes like
// those of the tiny dataset, with `--points 64 --points-per-mesh 128 --dim 8 --num-heads 2 --depth 1 --num-samples 8
// --head-num-samples 8 --batch-size 4 --lr 1e-2`, and its prediction for a sphere.
TEST_CASE("checkpoints of earlier versions are used and gone on from") {
  const ClassifyShop shop;
  const fs::path file = earlier_checkpoint("classify_checkpoint_1");
  write_text(shop / "sphere.xyz", sphere_xyz(1.0));
  const ProcessResult predicted =
      shop.run_well({"predict", file.string(), (shop / "sphere.xyz").string(), "--device", "cpu", "--json"});
  const nlohmann::json top = nlohmann::json::parse(predicted.out).at("top");
  CHECK(top[0][0] == "tetrahedron");
  CHECK(top[0][1].get<double>() == Approx(0.45465).margin(1e-3));
  CHECK(top[2][1].get<double>() == Approx(0.19128).margin(1e-3));
  require_goes_on(shop, file, 21);
}

TEST_CASE("a resumed run refuses what contradicts it and stays as it was") {
  const ClassifyShop shop;
  const fs::path run = shop.trained();
  const std::string config = read_text(run / "config.toml"), weights = read_text(run / "last.ckpt");
  const auto refused = [&](const Words& words, int exit, const Words& expected) {
    shop.require_failure(shop.run(resume(run) + words), exit, expected);
    CHECK(read_text(run / "config.toml") == config);
    CHECK(read_text(run / "last.ckpt") == weights);
  };
  refused({"--dim", "32"}, 2, {"--resume", "--epochs"});
  refused({"--batch-size", "3"}, 2, {"--resume"});
  refused({"--config", (run / "config.toml").string()}, 2, {"--config"});
  const fs::path other = shop / "other";
  std::string wider = config;
  wider.replace(wider.find("dim = 16"), 8, "dim = 32");
  write_text(run / "config.toml", wider);
  shop.require_failure(shop.run(resume(run)), 1,
                       {(run / "last.ckpt").string() + ":", (run / "config.toml").string(), "tensor ", "[model]"});
  CHECK(read_text(run / "last.ckpt") == weights);
  write_text(run / "config.toml", config);
  fs::copy(shop.data(), other, fs::copy_options::recursive);
  for (const char* split : {"train", "test"}) fs::rename(other / split / "cube", other / split / "box");
  refused({"--data", other.string()}, 1, {other.string(), "classes"});
  std::ofstream(run / "last.ckpt", std::ios::binary) << weights.substr(0, weights.size() / 2);
  shop.require_failure(shop.run(resume(run)), 1, {"last.ckpt"});
  shop.refuses(resume(shop / "nowhere"), 2, {"nowhere"});
}

}  // namespace geosft::test::test_train_command_resume
