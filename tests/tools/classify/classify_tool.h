// SPDX-License-Identifier: Apache-2.0
// geosft-classify on the tiny dataset.
#pragma once

#include <nlohmann/json.hpp>

#include "tests/places.h"
#include "tests/tools/classify/tiny_shapes.h"
#include "tests/tools/experiment/workshop.h"

namespace geosft::test {

class ClassifyShop : public Workshop {
 public:
  ClassifyShop()
      : Workshop(
            "geosft-classify", program_path("geosft-classify"), write_tiny_dataset,
            Words{"--preset", "paper", "--seed", "3", "--points", "64", "--points-per-mesh", "128", "--epochs", "3"} +
                Words{"--batch-size", "4", "--lr", "3e-3", "--dim", "16", "--num-heads", "2", "--depth", "1"} +
                Words{"--num-samples", "8", "--head-num-samples", "16"}) {}
};

// An evaluation of the tiny test set as JSON.
inline void check_evaluation(const nlohmann::json& result, const std::string& rotation, int64_t repeats) {
  CHECK(result.at("task") == "classification");
  CHECK(result.at("split") == "test");
  CHECK(result.at("count") == 6);
  CHECK(result.at("rotation") == rotation);
  CHECK(result.at("repeats") == repeats);
  for (const char* share : {"accuracy", "mean_class_accuracy"}) {
    CHECK(result.at("metrics").at(share) >= 0.0);
    CHECK(result.at("metrics").at(share) <= 1.0);
  }
  CHECK(result.at("metrics").at("loss") > 0.0);
  CHECK(result.at("metrics").at("expected_calibration_error") >= 0.0);
  CHECK(result.at("max_logit_difference").is_number());
}

}  // namespace geosft::test
