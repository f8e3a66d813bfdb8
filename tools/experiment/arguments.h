// SPDX-License-Identifier: Apache-2.0
// Parses command lines; error messages suggest the option that was probably meant.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <stdexcept>
#include <string>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace geosft {

// Wrong usage of a tool (an option, a configuration file): exit code 2. The text is meant for the user.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Parses the command line. Returns false if help or the version was requested and written to `out`: the tool is done.
// Throws UsageError; for an unknown option or subcommand the message suggests the nearest known one.
bool parse_arguments(CLI::App& app, int argc, const char* const* argv, std::ostream& out);

// Adds the former name of an option for an integer from `low` to `high`, hidden. It prints a notice to stderr where it
// is used, and is an error beside the present name.
void add_former_name(CLI::App& subcommand, const std::string& former, CLI::Option* option, int64_t& target, int64_t low,
                     int64_t high);

// Returns "unknown option '--epoch'; the nearest known is '--epochs'". Candidates are the options of `app`, or its
// subcommands if the argument does not begin with a dash.
std::string unknown_option_message(const CLI::App& app, const std::string& argument);

}  // namespace geosft
