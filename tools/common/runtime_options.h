// SPDX-License-Identifier: Apache-2.0
// Options that every verb of every tool has.
#pragma once

#include <cstdint>
#include <string>

namespace CLI {
class App;
}

namespace geosft {

struct RuntimeOptions {
  int64_t threads = 0;  // 0: as many as there are cores
  std::string device = "cpu";

  void add_to(CLI::App& verb);
  // Sets LibTorch's threads. Throws UsageError for a device that this build cannot use.
  void apply() const;
};

}  // namespace geosft
