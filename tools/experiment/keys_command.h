// SPDX-License-Identifier: Apache-2.0
// The hidden subcommand `keys` prints the configuration keys of a trainer for tools/configs/reference.py.
#pragma once

#include <CLI/CLI.hpp>

#include <iostream>

#include "tools/experiment/config.h"
#include "tools/experiment/subcommand.h"

namespace geosft {

template <class Settings>
Command add_keys_command(CLI::App& subcommand) {
  subcommand.group("");  // not in the help
  return [] {
    Settings settings;
    std::cout << settings.config().json_lines();
    return 0;
  };
}

}  // namespace geosft
