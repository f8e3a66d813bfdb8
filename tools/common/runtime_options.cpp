// SPDX-License-Identifier: Apache-2.0
#include "tools/common/runtime_options.h"

#include <ATen/Parallel.h>

#include <CLI/CLI.hpp>

#include "tools/common/arguments.h"

namespace geosft {

void RuntimeOptions::add_to(CLI::App& verb) {
  verb.add_option("--threads", threads, "threads to compute with; 0: one a core")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
  verb.add_option("--device", device, "where to compute")->capture_default_str();
}

void RuntimeOptions::apply() const {
  if (device != "cpu") throw UsageError("--device " + device + ": this build computes on the cpu only");
  if (threads > 0) at::set_num_threads(static_cast<int>(threads));
}

}  // namespace geosft
