// SPDX-License-Identifier: Apache-2.0
// Wrong use and bad input: one line on stderr, the right exit code, nothing half-written.
#include <catch2/catch.hpp>

#include "data/checkpoint.h"
#include "tests/tools/classify_tool.h"

namespace geosft::test::test_classify_errors {
namespace fs = std::filesystem;

namespace {

void require_no_leftovers(const fs::path& folder) {
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    INFO(entry.path().string());
    CHECK(entry.path().extension() != ".tmp");
  }
}

}  // namespace

TEST_CASE("wrong use is named and ends with 2") {
  const Workshop shop;
  const auto refused = [&](const Words& words, const Words& expected) {
    require_one_line_failure(shop.run(words), 2, expected);
  };
  const fs::path out = shop / "run";
  refused({}, {"subcommand"});
  refused({"trian"}, {"trian", "train"});
  refused(shop.train("run", {"--epoch", "3"}), {"'--epoch'", "'--epochs'"});
  refused(shop.train("run", {"--epochs", "0"}), {"--epochs", "at least 1", "'0'"});
  refused(shop.train("run", {"--learning-rate", "fast"}), {"--learning-rate", "'fast'"});
  refused(shop.train("run", {"--score", "max"}), {"--score", "maxout", "'max'"});
  refused(shop.train("run", {"--heads", "3"}), {"heads", "width", "3", "16"});
  refused(shop.train("run", {"--scale-low", "2"}), {"scale_low", "scale_high"});
  refused(shop.train("run", {"--device", "cuda"}), {"cuda", "cpu"});
  refused({"train", "--data", shop.data().string()}, {"--out"});
  refused({"eval"}, {"RUN"});
  refused({"eval", shop.data().string()}, {shop.data().string(), "no run"});
  refused({"eval", shop.trained(), "--rotate", "x"}, {"--rotate"});
  refused({"eval", shop.trained(), "--repeats", "0"}, {"--repeats"});
  refused({"eval", shop.trained(), "--device", "cuda"}, {"cuda", "cpu"});
  refused({"predict", shop.trained()}, {"FILE"});
  refused(shop.train("trained"), {"trained", "holds a run already"});
  CHECK_FALSE(fs::exists(out));
}

TEST_CASE("a wrong configuration file is named with its line") {
  const Workshop shop;
  const fs::path file = shop / "wrong.toml";
  const auto refused = [&](const std::string& toml, const Words& expected) {
    write_text(file, toml);
    require_one_line_failure(shop.run(shop.train("run", {"--config", file.string()})), 2, expected);
    CHECK_FALSE(fs::exists(shop / "run"));
  };
  refused("seed = 1\n[train]\nepoch = 3\n", {"wrong.toml:3", "'epoch'", "'epochs'"});
  refused("[training]\nepochs = 3\n", {"wrong.toml:1", "[training]", "[train]"});
  refused("[train]\nepochs = -1\n", {"wrong.toml:2", "'epochs'", "-1"});
  refused("[train]\nepochs = \n", {"wrong.toml:2"});
}

TEST_CASE("data that cannot be trained on leave no run behind") {
  const Workshop shop;
  const auto refused = [&](const Words& words, int exit, const Words& expected) {
    require_failure(shop.run(shop.train("run", words)), exit, expected);
    CHECK_FALSE(fs::exists(shop / "run"));
  };
  refused({"--data", (shop / "nothing").string()}, 1, {"nothing"});
  refused({"--validation-fraction", "0.001"}, 2, {"validation_fraction", "15"});
  const fs::path bare = shop / "bare";
  for (const char* split : {"train", "test"}) {
    for (const char* name : {"a", "b"})
      write_text(bare / split / name / "1.xyz", sphere_xyz(1.0, 50, /*normals=*/false));
  }
  refused({"--data", bare.string()}, 1, {bare.string(), "--no-normals"});
  fs::remove_all(bare / "test");
  refused({"--data", bare.string()}, 1, {"shapes to test with"});
  write_text(bare / "test" / "a" / "1.xyz", "");
  refused({"--data", bare.string()}, 1, {"1.xyz", "empty file"});
}

TEST_CASE("files that hold no shape are refused by predict") {
  const Workshop shop;
  const auto refused = [&](const std::string& name, const std::string& text, const Words& expected) {
    write_text(shop / name, text);
    const std::string file = (shop / name).string();
    require_one_line_failure(shop.run({"predict", shop.trained(), file}), 1, Words{file} + expected);
  };
  refused("empty.xyz", "", {"empty file"});
  refused("nan.xyz", "0 0 0\nnan 1 2\n1 1 1\n", {"nan"});
  refused("flat.off", "OFF\n3 1 0\n0 0 0\n1 1 1\n2 2 2\n3 0 1 2\n", {"area"});
  refused("cut.off", cube_off(1.0).substr(0, 60), {"found"});
  refused("shape.step", "x", {".off"});
  const std::string absent = (shop / "absent.off").string();
  require_one_line_failure(shop.run({"predict", shop.trained(), absent}), 1, {absent});
}

TEST_CASE("checkpoints that are broken or of something else are refused") {
  const Workshop shop;
  const fs::path run = shop.trained(), file = shop / "wrong.ckpt";
  const Checkpoint good = load_checkpoint(run / "best.ckpt");
  const auto refused = [&](const Words& expected) {
    require_one_line_failure(shop.run({"eval", file.string()}), 1, Words{"wrong.ckpt"} + expected);
  };
  const std::string bytes = read_text(run / "best.ckpt");
  for (const size_t kept : {size_t{0}, size_t{10}, bytes.size() / 2, bytes.size() - 1}) {
    write_text(file, bytes.substr(0, kept));
    refused({"expected"});
  }
  std::string damaged = bytes;
  damaged[bytes.size() / 2] = static_cast<char>(damaged[bytes.size() / 2] ^ 1);
  write_text(file, damaged);
  refused({"expected"});
  Checkpoint other = good;
  other.texts.at("kind") = "geosft-graph";
  save_checkpoint(file, other);
  refused({"geosft-classify", "geosft-graph"});
  other = good;
  std::string& config = other.texts.at("config");
  config.replace(config.find("width = 16"), 10, "width = 32");
  save_checkpoint(file, other);
  refused({"shape"});
  other = good;
  other.texts.at("config") = "[model]\nwitdh = 16\n";
  save_checkpoint(file, other);
  refused({"'witdh'"});
}

TEST_CASE("a model is not evaluated on data of other classes") {
  const Workshop shop;
  const std::string run = shop.trained();
  const fs::path other = shop / "other";
  fs::copy(shop.data(), other, fs::copy_options::recursive);
  for (const char* split : {"train", "test"}) fs::remove_all(other / split / "cube");
  require_failure(shop.run({"eval", run, "--data", other.string()}), 1, {other.string(), "classes"});
}

TEST_CASE("a full disk ends a run with a line and no half-written file") {
  const Workshop shop;
  ProcessOptions full = shop.process();
  full.file_bytes = 4096;  // room for the configuration, not for a checkpoint
  const ProcessResult result = run_process(GEOSFT_CLASSIFY, shop.train("run"), full);
  require_failure(result, 1, {".ckpt", "room", "File too large"});
  CHECK_FALSE(fs::exists(shop / "run" / "best.ckpt"));
  CHECK_FALSE(fs::exists(shop / "run" / "last.ckpt"));
  require_no_leftovers(shop / "run");
  shop.run_well({"train", "--resume", "--out", (shop / "run").string()});
}

TEST_CASE("a folder that cannot be written to is named") {
  if (::geteuid() == 0) {
    WARN("root may write everywhere: skipped");
    return;
  }
  const Workshop shop;
  fs::create_directory(shop / "locked");
  fs::permissions(shop / "locked", fs::perms::owner_read | fs::perms::owner_exec);
  require_failure(shop.run(shop.train("locked/run")), 2, {"locked/run", "ermission denied"});
  fs::permissions(shop / "locked", fs::perms::owner_all);
}

}  // namespace geosft::test::test_classify_errors
