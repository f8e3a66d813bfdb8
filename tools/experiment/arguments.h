// SPDX-License-Identifier: Apache-2.0
// Parsing of a command line, with messages that name the option that was probably meant.
#pragma once

#include <iosfwd>
#include <stdexcept>
#include <string>

namespace CLI {
class App;
}

namespace geosft {

// The tool was used wrongly (an option, a configuration file): exit code 2. The text is meant for the user.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Parses the command line. False when help or the version was asked for and written to `out`: the tool is done.
// Throws UsageError; an unknown option or subcommand is named with the nearest known one.
bool parse_arguments(CLI::App& app, int argc, const char* const* argv, std::ostream& out);

// "unknown option '--epoch'; the nearest known is '--epochs'", from the options of `app`, or from its subcommands when
// the argument does not begin with a dash.
std::string unknown_option_message(const CLI::App& app, const std::string& argument);

}  // namespace geosft
