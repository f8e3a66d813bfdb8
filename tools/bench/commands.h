// SPDX-License-Identifier: Apache-2.0
// The verbs of geosft-bench: each adds itself to the command line and gives back what to run when it is chosen.
#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace geosft::bench {

using Command = std::function<int()>;  // exit code

Command add_run_command(CLI::App& verb);
Command add_ladder_command(CLI::App& verb);
Command add_machine_command(CLI::App& verb);

}  // namespace geosft::bench
