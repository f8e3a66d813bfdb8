// SPDX-License-Identifier: Apache-2.0
// Options that every verb of every tool has.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <string>

namespace CLI {
class App;
}

namespace geosft {

struct RuntimeOptions {
  int64_t threads = 0;          // 0: as many as there are cores
  std::string device = "auto";  // see chosen_device

  void add_to(CLI::App& verb);
  // Sets LibTorch's threads, and gives the device. Throws UsageError for one that cannot be used.
  at::Device apply() const;
};

}  // namespace geosft
