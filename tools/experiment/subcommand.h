// SPDX-License-Identifier: Apache-2.0
// Subcommands of a tool, and their common options.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tools/experiment/enum_names.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace geosft {

using Command = std::function<int()>;  // returns the exit code

// Adds the options of a subcommand, and returns what runs it.
using AddCommand = Command(CLI::App& subcommand);

struct Subcommand {
  const char* name;
  const char* help;
  AddCommand* add;
};

// Parses the command line of a tool, runs the given subcommand and returns its exit code. Without a subcommand, and for
// the subcommand `help [SUBCOMMAND]`, prints the help. Throws UsageError.
int run_subcommands(const std::string& description, const std::vector<Subcommand>& subcommands, int argc,
                    const char* const* argv, const std::string& footer = "");

// Adds an option for a variable of an enumeration, whose value is one of its names; help shows the present value.
CLI::Option* add_named_option(CLI::App& subcommand, const std::string& option, const NamedTarget& target,
                              const std::string& help);
template <class Enum>
CLI::Option* add_enum_option(CLI::App& subcommand, const std::string& option, Enum* target, const std::string& help) {
  return add_named_option(subcommand, option, NamedTarget::of(target), help);
}

// Adds the former name of an option for an integer from `low` to `high`, hidden. It prints a notice to stderr where it
// is used, and is an error beside the present name.
void add_former_name(CLI::App& subcommand, const std::string& former, CLI::Option* option, int64_t& target, int64_t low,
                     int64_t high);

struct RuntimeOptions {
  int64_t threads = 0;          // 0: one per core
  std::string device = "auto";  // see chosen_device

  void add_to(CLI::App& subcommand);
  // Sets LibTorch's number of threads and returns the device. Throws UsageError for a device that cannot be used.
  at::Device apply() const;
};

}  // namespace geosft
