// SPDX-License-Identifier: Apache-2.0
// The verbs of a tool: each adds itself to the command line and gives back what to run when it is chosen.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace geosft {

using Command = std::function<int()>;  // exit code

struct Verb {
  const char* name;
  const char* help;
  Command (*add)(CLI::App&);
};

// Parses the command line of a tool and runs the verb that it names: the exit code. Throws UsageError.
int run_verbs(const std::string& description, const std::vector<Verb>& verbs, int argc, const char* const* argv,
              const std::string& footer = "");

}  // namespace geosft
