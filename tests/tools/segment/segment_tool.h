// SPDX-License-Identifier: Apache-2.0
// geosft-segment on a tiny dataset.
#pragma once

#include <nlohmann/json.hpp>

#include "tests/data/points/part_files.h"
#include "tests/places.h"
#include "tests/tools/experiment/workshop.h"

namespace geosft::test {

class SegmentShop : public Workshop {
 public:
  SegmentShop()
      : Workshop(
            "geosft-segment", program_path("geosft-segment"), [](const auto& folder) { write_part_set(folder, 8, 4); },
            Words{"--preset", "paper", "--seed", "3", "--points", "48", "--epochs", "3", "--batch-size", "4"} +
                Words{"--lr", "3e-3", "--dim", "16", "--num-heads", "2", "--depth", "1", "--num-samples", "8"}) {}
};

}  // namespace geosft::test
