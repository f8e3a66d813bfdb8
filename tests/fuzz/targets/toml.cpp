// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/target.h"
#include "tools/experiment/arguments.h"
#include "tools/experiment/config.h"

namespace geosft::fuzz {
namespace {

void read_toml(const std::string& input) {
  int64_t epochs = 3;
  double rate = 0.1;
  bool flag = false;
  uint64_t seed = 1;
  std::string kind = "a", name;
  std::vector<double> list;
  Config config;
  config.add("train", "epochs", &epochs, "passes", {.low = 1})
      .add("train", "learning_rate", &rate, "rate", {.low = 0, .open_low = true});
  config.add("", "flag", &flag, "a flag")
      .add("", "seed", &seed, "a seed")
      .add("model", "scales", &list, "scales", {.low = 0, .high = 10});
  config.add_choice("model", "kind", &kind, {"a", "b"}, "kind").add("model", "name", &name, "a name");
  try {
    config.set_text(input, "input");
  } catch (const UsageError& error) {
    throw DataError("input", "a configuration", error.what());
  }
  const std::string text = config.to_toml();
  config.set_text(text, "its own text");
  TORCH_CHECK(config.to_toml() == text, "a configuration must come back as it was");
}

const Registration toml({"toml", read_toml, [] {
                           return Inputs{"flag = true\nseed = 0x1F\n[train]\nepochs = 5\nlearning_rate = 1e-3\n",
                                         "[model]\nscales = [1, 2.5]\nkind = 'b'\nname = \"\\u00e9\\n\"\n"};
                         }});

}  // namespace
}  // namespace geosft::fuzz
