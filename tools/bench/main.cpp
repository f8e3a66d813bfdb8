// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <iostream>
#include <string_view>
#include <vector>

#include "tools/bench/commands.h"
#include "tools/common/arguments.h"
#include "tools/common/main_guard.h"
#include "tools/common/run_folder.h"

namespace {

struct Verb {
  const char* name;
  const char* help;
  geosft::bench::Command (*add)(CLI::App&);
};

constexpr Verb verbs[] = {
    {"run", "measure operators, layers and training steps beside LibTorch's", geosft::bench::add_run_command},
    {"ladder", "the steps that led to the attention kernel, checked and timed", geosft::bench::add_ladder_command},
    {"machine", "what this processor can do, and which vector instructions run", geosft::bench::add_machine_command},
};

int bench(int argc, char** argv) {
  CLI::App app{"Measurements of geosft beside LibTorch, in one process"};
  app.set_version_flag("--version", geosft::version_text());
  app.require_subcommand(1);
  app.footer("geosft-bench --machine is short for geosft-bench machine.");
  std::vector<std::pair<CLI::App*, geosft::bench::Command>> commands;
  for (const Verb& verb : verbs) {
    CLI::App* sub = app.add_subcommand(verb.name, verb.help);
    commands.emplace_back(sub, verb.add(*sub));
  }
  std::vector<const char*> words(argv, argv + argc);
  if (words.size() > 1 && std::string_view(words[1]) == "--machine") words[1] = "machine";
  if (!geosft::parse_arguments(app, argc, words.data(), std::cout)) return 0;
  for (const auto& [verb, run] : commands) {
    if (verb->parsed()) return run();
  }
  throw geosft::UsageError("no command given: run, ladder or machine");
}

}  // namespace

int main(int argc, char** argv) {
  return geosft::run_tool("geosft-bench", [&] { return bench(argc, argv); });
}
