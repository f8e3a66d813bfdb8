// SPDX-License-Identifier: Apache-2.0
// The verbs of geosft-classify: each adds itself to the command line and gives back what to run when it is chosen.
#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace geosft {

using Command = std::function<int()>;  // exit code

Command add_train_command(CLI::App& verb);
Command add_eval_command(CLI::App& verb);
Command add_predict_command(CLI::App& verb);
Command add_info_command(CLI::App& verb);

}  // namespace geosft
