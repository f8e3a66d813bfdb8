// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/subcommand.h"

#include <ATen/Parallel.h>
#include <CLI/CLI.hpp>

#include <iostream>

#include "tools/experiment/arguments.h"
#include "tools/experiment/device.h"
#include "tools/experiment/key_names.h"
#include "tools/experiment/run_folder.h"

namespace geosft {
namespace {

// Returns the help of a subcommand. Throws UsageError for an unknown one.
std::string help_on(const CLI::App& app, const std::string& name) {
  const auto found = app.get_subcommands([&](const CLI::App* one) { return one->check_name(name); });
  if (found.empty()) throw UsageError(unknown_option_message(app, name));
  return found.front()->help(app.get_name());
}

}  // namespace

int run_subcommands(const std::string& description, const std::vector<Subcommand>& subcommands, int argc,
                    const char* const* argv, const std::string& footer) {
  CLI::App app{description, argv[0]};
  app.set_version_flag("--version", version_text());
  app.require_subcommand(0, 1);
  app.footer(footer);
  std::vector<std::pair<CLI::App*, Command>> commands;
  for (const Subcommand& subcommand : subcommands) {
    CLI::App* sub = app.add_subcommand(subcommand.name, subcommand.help);
    commands.emplace_back(sub, subcommand.add(*sub));
  }
  std::string about;
  CLI::App* const help = app.add_subcommand("help", "how the program, or one of its subcommands, is used");
  help->add_option("SUBCOMMAND", about, "one of those above");
  const std::string overview = app.help();  // once a subcommand is parsed, help() is that of the subcommand
  if (!parse_arguments(app, argc, argv, std::cout)) return 0;
  if (help->parsed()) {
    std::cout << (about.empty() ? overview : help_on(app, about));
    return 0;
  }
  for (const auto& [subcommand, run] : commands) {
    if (subcommand->parsed()) return run();
  }
  std::cout << overview;  // a bare command
  return 0;
}

CLI::Option* add_named_option(CLI::App& subcommand, const std::string& option, const NamedTarget& target,
                              const std::string& help) {
  return subcommand.add_option_function<std::string>(option, target.set, help)
      ->check(CLI::IsMember(target.names, CLI::ignore_case))
      ->default_str(target.get());
}

void add_former_name(CLI::App& subcommand, const std::string& former, CLI::Option* option, int64_t& target, int64_t low,
                     int64_t high) {
  const auto note = [former, option](const std::string&) {
    if (option->count() > 0) throw CLI::ExcludesError(former, option->get_name());
    std::cerr << renaming_notice(former, option->get_name());
  };
  subcommand.add_option(former, target)->check(CLI::Range(low, high))->each(note)->group("");
}

void RuntimeOptions::add_to(CLI::App& subcommand) {
  subcommand
      .add_option("--threads", threads,
                  "maximum number of threads; 0: one per core. Training takes fewer where its first steps are faster "
                  "with fewer")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
  subcommand.add_option("--device", device, "where to compute: auto, cpu, cuda or cuda:NUMBER")->capture_default_str();
}

at::Device RuntimeOptions::apply() const {
  const at::Device chosen = chosen_device(device);
  if (threads > 0) at::set_num_threads(static_cast<int>(threads));
  return chosen;
}

}  // namespace geosft
