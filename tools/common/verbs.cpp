// SPDX-License-Identifier: Apache-2.0
#include "tools/common/verbs.h"

#include <CLI/CLI.hpp>
#include <iostream>

#include "tools/common/arguments.h"
#include "tools/common/run_folder.h"

namespace geosft {

int run_verbs(const std::string& description, const std::vector<Verb>& verbs, int argc, const char* const* argv,
              const std::string& footer) {
  CLI::App app{description};
  app.set_version_flag("--version", version_text());
  app.require_subcommand(1);
  app.footer(footer);
  std::vector<std::pair<CLI::App*, Command>> commands;
  for (const Verb& verb : verbs) {
    CLI::App* sub = app.add_subcommand(verb.name, verb.help);
    commands.emplace_back(sub, verb.add(*sub));
  }
  if (!parse_arguments(app, argc, argv, std::cout)) return 0;
  for (const auto& [verb, run] : commands) {
    if (verb->parsed()) return run();
  }
  throw UsageError("no command given");
}

}  // namespace geosft
