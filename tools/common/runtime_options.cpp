// SPDX-License-Identifier: Apache-2.0
#include "tools/common/runtime_options.h"

#include <ATen/Parallel.h>

#include <CLI/CLI.hpp>

#include "tools/common/device.h"

namespace geosft {

void RuntimeOptions::add_to(CLI::App& verb) {
  verb.add_option("--threads", threads,
                  "maximum number of threads; 0: one per core. Training takes fewer where its first steps are faster "
                  "with fewer")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
  verb.add_option("--device", device, "where to compute: auto, cpu, cuda or cuda:NUMBER")->capture_default_str();
}

at::Device RuntimeOptions::apply() const {
  const at::Device chosen = chosen_device(device);
  if (threads > 0) at::set_num_threads(static_cast<int>(threads));
  return chosen;
}

}  // namespace geosft
