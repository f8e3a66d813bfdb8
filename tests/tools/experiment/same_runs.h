// SPDX-License-Identifier: Apache-2.0
// Two runs that must have done the same, bit for bit.
#pragma once

#include "data/checkpoint.h"
#include "tests/support.h"
#include "tests/tools/experiment/command_line.h"
#include "tools/experiment/metrics_csv.h"

namespace geosft::test {

inline void require_same_tensors(const std::filesystem::path& left, const std::filesystem::path& right) {
  const Checkpoint a = load_checkpoint(left), b = load_checkpoint(right);
  REQUIRE(a.tensors.size() == b.tensors.size());
  for (const auto& [name, tensor] : a.tensors) {
    if (name != "seconds") require_equal(b.tensors.at(name), tensor, name);
  }
}

// NaN, in both runs, is the same.
inline bool same_number(double a, double b) {
  return a == b || (a != a && b != b);
}

inline void require_same_run(const std::filesystem::path& left, const std::filesystem::path& right) {
  require_same_tensors(left / "best.ckpt", right / "best.ckpt");
  require_same_tensors(left / "last.ckpt", right / "last.ckpt");
  const std::vector<MetricsRow> a = read_metrics(left / "metrics.csv"), b = read_metrics(right / "metrics.csv");
  REQUIRE(a.size() == b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    CHECK((a[i].step == b[i].step && a[i].epoch == b[i].epoch && a[i].split == b[i].split));
    CHECK((same_number(a[i].loss, b[i].loss) && same_number(a[i].score, b[i].score)));
    CHECK(a[i].learning_rate == b[i].learning_rate);
  }
}

}  // namespace geosft::test
