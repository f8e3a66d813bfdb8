// SPDX-License-Identifier: Apache-2.0
// Parses command lines; error messages suggest the option that was probably meant.
#pragma once

#include <iosfwd>
#include <stdexcept>
#include <string>

namespace CLI {
class App;
}

namespace geosft {

// Wrong usage of a tool (an option, a configuration file): exit code 2. The text is meant for the user.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Returns a word as a shell takes it: quoted if it has other characters than letters, digits and those of paths.
std::string shell_word(const std::string& word);

// Returns a message up to its first line break.
std::string first_line(const std::string& message);

// Parses the command line. Returns false if help or the version was requested and written to `out`: the tool is done.
// Throws UsageError; for an unknown option or subcommand the message suggests the nearest known one.
bool parse_arguments(CLI::App& app, int argc, const char* const* argv, std::ostream& out);

// Returns "unknown option '--epoch'; the nearest known is '--epochs'". Candidates are the options of `app`, or its
// subcommands if the argument does not begin with a dash.
std::string unknown_option_message(const CLI::App& app, const std::string& argument);

}  // namespace geosft
