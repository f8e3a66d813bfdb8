// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/info_command.h"

#include <CLI/CLI.hpp>
#include <memory>

namespace geosft {
namespace {

struct InfoArguments {
  std::filesystem::path what;
  uint64_t seed = 0;
  RuntimeOptions runtime;
};

}  // namespace

Command info_command(CLI::App& subcommand, const std::string& what_help,
                     const std::function<void(const std::filesystem::path&)>& describe,
                     const std::function<void(CLI::App&)>& add_more) {
  auto given = std::make_shared<InfoArguments>();
  subcommand.add_option("WHAT", given->what, what_help)->required();
  subcommand.add_option("--seed", given->seed, "as for the other commands; this one draws nothing")
      ->check(CLI::NonNegativeNumber);
  if (add_more) add_more(subcommand);
  given->runtime.add_to(subcommand);
  return [given, describe] {
    given->runtime.apply();
    describe(given->what);
    return 0;
  };
}

}  // namespace geosft
