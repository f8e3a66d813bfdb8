// SPDX-License-Identifier: Apache-2.0
// Two runs that must have done the same to rounding.
#pragma once

#include "tests/tools/experiment/same_runs.h"

namespace geosft::test {

// Their metrics within a share of each number, their weights within a part of the largest of each tensor.
inline void require_like_run(const std::filesystem::path& left, const std::filesystem::path& right, double tolerance) {
  const std::vector<MetricsRow> a = read_metrics(left / "metrics.csv"), b = read_metrics(right / "metrics.csv");
  REQUIRE(a.size() == b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    INFO("row " << i << " of the metrics");
    CHECK((a[i].step == b[i].step && a[i].epoch == b[i].epoch && a[i].split == b[i].split));
    CHECK(a[i].learning_rate == b[i].learning_rate);
    CHECK(a[i].loss == Approx(b[i].loss).epsilon(tolerance));
  }
  const Checkpoint first = load_checkpoint(left / "last.ckpt"), second = load_checkpoint(right / "last.ckpt");
  CHECK(first.texts == second.texts);
  REQUIRE(first.tensors.size() == second.tensors.size());
  for (const auto& [name, tensor] : first.tensors) {
    if (name == "generator" || name == "position") require_equal(second.tensors.at(name), tensor, name);
    if (name.rfind("model.", 0) == 0) require_close(second.tensors.at(name), tensor, tolerance, name, 1e-2);
  }
}

}  // namespace geosft::test
