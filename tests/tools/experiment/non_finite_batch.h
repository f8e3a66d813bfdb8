// SPDX-License-Identifier: Apache-2.0
// Trainings whose loss is not finite.
#pragma once

#include <string>

#include "data/checkpoint.h"
#include "tests/tools/experiment/workshop.h"

namespace geosft::test {

// A training of the shop's with far too large a rate, which ends by `--on-non-finite THEN`, and the batch it leaves.
inline Checkpoint non_finite_batch(const Workshop& shop, const std::string& then) {
  const ProcessResult result = shop.run(shop.train(then, {"--lr", "1e30", "--epochs", "50", "--on-non-finite", then}));
  shop.require_failure(result, 1, {then == "skip" ? "20 steps in a row" : "to stop there"});
  CHECK_THAT(result.err, Catch::Contains("its batch is in"));
  Checkpoint batch = load_checkpoint(shop / then / "non_finite_batch.ckpt");
  CHECK(batch.texts.contains("step"));
  return batch;
}

}  // namespace geosft::test
