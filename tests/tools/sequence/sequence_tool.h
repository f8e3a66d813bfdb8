// SPDX-License-Identifier: Apache-2.0
// geosft-sequence on a tiny dataset.
#pragma once

#include <cmath>
#include <sstream>

#include "tests/places.h"
#include "tests/tools/experiment/workshop.h"

namespace geosft::test {

// Slow and fast waves of different lengths, of `shortest` steps or up to six more, in two dimensions.
inline std::string waves(int count, int first, int shortest) {
  std::ostringstream text;
  text
      << "@problemName Waves\n@timeStamps false\n@missing false\n@univariate false\n@dimensions 2\n@equalLength false\n"
         "@classLabel true slow fast\n@data\n";
  for (int i = first; i < first + count; ++i) {
    const bool fast = i % 2 == 1;
    for (const double shift : {0.0, 1.5}) {
      for (int t = 0; t < shortest + i % 7; ++t)
        text << (t > 0 ? "," : "") << std::sin((fast ? 2.0 : 0.5) * t + i + shift);
      text << ':';
    }
    text << (fast ? "fast\n" : "slow\n");
  }
  return text.str();
}

inline void write_waves(const std::filesystem::path& folder, int shortest = 12) {
  write_text(folder / "Waves_TRAIN.ts", waves(40, 0, shortest));
  write_text(folder / "Waves_TEST.ts", waves(20, 40, shortest));
}

class SequenceShop : public Workshop {
 public:
  SequenceShop()
      : Workshop(
            "geosft-sequence", program_path("geosft-sequence"), [](const auto& folder) { write_waves(folder); },
            Words{"--seed", "1", "--epochs", "40", "--batch-size", "8", "--lr", "3e-3"} +
                Words{"--dim", "16", "--num-heads", "4", "--depth", "1", "--beta2", "0.9"} +
                Words{"--no-relative", "--positions", "added"}) {}
};

}  // namespace geosft::test
