// SPDX-License-Identifier: Apache-2.0
// Checkpoints that earlier versions have left: tests/fixtures/<tool>_checkpoint_<version of the format>.ckpt.
#pragma once

#include <string>

#include "data/checkpoint.h"
#include "tests/places.h"
#include "tests/tools/experiment/workshop.h"

namespace geosft::test {

inline std::filesystem::path earlier_checkpoint(const std::string& name) {
  return fixture_path(name + ".ckpt");
}

// As the last checkpoint of a run on data like the shop's, it must be trained on for the `epoch` that comes next.
inline void require_goes_on(const Workshop& shop, const std::filesystem::path& file, int64_t epoch) {
  const std::filesystem::path run = shop / "old";
  write_text(run / "config.toml", load_checkpoint(file).texts.at("config"));
  std::filesystem::copy_file(file, run / "last.ckpt");
  const std::string number = std::to_string(epoch);
  const ProcessResult resumed = shop.run_well({"train", "--resume", "--out", run.string(), "--data",
                                               shop.data().string(), "--epochs", number, "--device", "cpu"});
  CHECK_THAT(resumed.err, Catch::Contains("epoch " + number + "/" + number));
  CHECK(load_checkpoint(run / "last.ckpt").tensors.at("position")[0].item<int64_t>() == epoch);
}

// The checkpoint `name` must predict for `item`, the option and number of one of the shop's items, this class and
// probability, and be gone on with in that epoch.
inline void require_used_and_gone_on(const Workshop& shop, const std::string& name, const Words& item,
                                     const std::string& class_name, double probability, int64_t epoch) {
  const std::filesystem::path file = earlier_checkpoint(name);
  const Words words = Words{"predict", file.string(), "--data", shop.data().string(), "--device", "cpu", "--json"};
  const nlohmann::json predicted = nlohmann::json::parse(shop.run_well(words + item).out);
  CHECK(predicted.at("class") == class_name);
  CHECK(predicted.at("probability").get<double>() == Approx(probability).margin(1e-3));
  require_goes_on(shop, file, epoch);
}

}  // namespace geosft::test
