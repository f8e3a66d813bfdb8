// SPDX-License-Identifier: Apache-2.0
// The subcommands of a tool, and the options that all of them have.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace geosft {

using Command = std::function<int()>;  // exit code

struct Subcommand {
  const char* name;
  const char* help;
  Command (*add)(CLI::App&);
};

// Parses the command line of a tool and runs the subcommand that it names: the exit code. Throws UsageError.
int run_subcommands(const std::string& description, const std::vector<Subcommand>& subcommands, int argc,
                    const char* const* argv, const std::string& footer = "");

struct RuntimeOptions {
  int64_t threads = 0;          // 0: as many as there are cores
  std::string device = "auto";  // see chosen_device

  void add_to(CLI::App& subcommand);
  // Sets LibTorch's threads, and gives the device. Throws UsageError for one that cannot be used.
  at::Device apply() const;
};

}  // namespace geosft
