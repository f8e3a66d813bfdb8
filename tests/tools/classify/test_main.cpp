// SPDX-License-Identifier: Apache-2.0
// What all subcommands of geosft-classify share: help, and wrong use.
#include <catch2/catch.hpp>

#include "tests/tools/classify/classify_tool.h"

namespace geosft::test::test_main {
namespace fs = std::filesystem;

TEST_CASE("help fits a screen for each subcommand but train, which lists every key") {
  const ClassifyShop shop;
  shop.require_help({"train", "eval", "predict", "info"}, {"--lr", "--points-per-mesh", "--votes"});
  for (const std::string subcommand : {"train", "eval", "predict", "info"}) {
    CHECK(shop.run_well({"help", subcommand}).out == shop.run_well({subcommand, "--help"}).out);
  }
  for (const Words& bare : {Words{}, Words{"help"}}) {
    CHECK(shop.run_well(bare).out == shop.run_well({"--help"}).out);
  }
  const std::string train = shop.run_well({"train", "--help"}).out;
  for (const char* text : {"clouds:", "augment:", "model:", "train:", "evaluation:", "--epochs=\"auto\"",
                           "--validation-fraction,--validation", "--rotate-training,--rotate", "--preset"}) {
    CHECK_THAT(train, Catch::Contains(text));
  }
  CHECK_THAT(shop.run_well({"--version"}).out, Catch::StartsWith("geosft "));
}

TEST_CASE("wrong use is named and ends with 2") {
  const ClassifyShop shop;
  const auto refused = [&](const Words& words, const Words& expected) { shop.refuses(words, 2, expected); };
  const fs::path out = shop / "run";
  refused({"help", "trian"}, {"trian", "train"});
  refused({"trian"}, {"trian", "train"});
  refused(shop.train("run", {"--epoch", "3"}), {"'--epoch'", "'--epochs'"});
  refused(shop.train("run", {"--epochs", "0"}), {"--epochs", "at least 1", "'0'"});
  refused(shop.train("run", {"--lr", "fast"}), {"--lr", "'fast'"});
  refused(shop.train("run", {"--score", "max"}), {"--score", "maxout", "'max'"});
  refused(shop.train("run", {"--num-heads", "3"}), {"num_heads", "dim", "3", "16"});
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

}  // namespace geosft::test::test_main
