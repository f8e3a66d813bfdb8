// SPDX-License-Identifier: Apache-2.0
#include "tools/common/cloud_eval_arguments.h"

#include <CLI/CLI.hpp>

namespace geosft {

void CloudEvalArguments::add_to(CLI::App& verb, const std::vector<std::string>& splits) {
  verb.add_option("RUN", run, "RUN folder, or a checkpoint file")->required();
  verb.add_option("--rotate", rotate, "rotate the clouds: not at all, about z, or by any rotation")
      ->check(CLI::IsMember({"none", "z", "so3"}))
      ->capture_default_str();
  verb.add_option("--repeats", repeats, "rotations a cloud")->check(CLI::Range(1, 1000000))->capture_default_str();
  verb.add_option("--split", split, "which clouds")->check(CLI::IsMember(splits))->capture_default_str();
  verb.add_flag("--json", json, "print one JSON object");
}

}  // namespace geosft
