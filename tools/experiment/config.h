// SPDX-License-Identifier: Apache-2.0
// One description of a configuration; TOML reading, command-line options, the saved copy and the help come from it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tools/experiment/arguments.h"
#include "tools/experiment/config_entry.h"

namespace geosft {

// Keys that only some values of other keys make use of.
struct KeyUse {
  std::vector<std::string> keys;
  bool used;            // by the present values
  std::string purpose;  // "the bn attentions"
  std::string instead;  // what there is where they are not used: "attention softmax"
};

// Precedence: the targets' values when they were added < TOML < command line. So:
//     config.add("train", "epochs", &options.epochs, "passes over the training set", {.low = 1});
//     config.add_options(app);
//     if (!parse_arguments(app, argc, argv, std::cout)) return 0;
//     config.load_toml(file);
//     config.apply_options();
class Config {
 public:
  // A key in snake_case, unique over all sections; an empty section is the top of the file. The target must outlive the
  // configuration. Throws std::logic_error for a key that is taken.
  Config& add(const std::string& section, const std::string& key, ConfigTarget target, const std::string& help,
              Range range = {});
  // A string that is one of `choices`.
  Config& add_choice(const std::string& section, const std::string& key, std::string* target,
                     std::vector<std::string> choices, const std::string& help);

  // Sets what the file names and leaves the rest; keys may have their former names (key_names.h). Throws UsageError
  // naming file, line and key: for an unknown section or key (with the nearest known one), a value of another type or
  // not permitted (with what was expected), broken TOML.
  void load_toml(const std::filesystem::path& path);
  // The same from text; `source` stands for the file in messages.
  void set_text(const std::string& toml, const std::string& source = "configuration");

  // Sets one key from the text that its option would take. Throws UsageError for an unknown key (with the nearest known
  // one) and for a value that is not permitted.
  void assign(const std::string& key, const std::string& text) const;

  // Gives `app` an option --kebab-case for every key (and a hidden one where a key was renamed, with a notice on stderr
  // once it is applied), grouped by section, with its present value as the default shown.
  // Bools are flags --key and --no-key; lists are comma-separated. Options that are not listed work but stay out of
  // the help of `app`.
  void add_options(CLI::App& app, bool listed = true);
  // Sets what the parsed command line named. Throws UsageError naming option, value and what was expected.
  void apply_options() const;
  // Throws UsageError for an option that the parsed command line named and nothing uses: "--beta is for the bn
  // attentions, not for attention softmax". Keys in TOML may be there for another value to come.
  void refuse_unused(const std::vector<KeyUse>& uses) const;

  // The present values; loads back to exactly the same ones.
  std::string to_toml() const;
  // A line a key: option, present value, meaning, permitted values; with a heading a section.
  std::string help() const;

 private:
  void insert(ConfigEntry entry);
  // Throws UsageError for an unknown key, with the nearest known one.
  const ConfigEntry& entry_of(const std::string& key) const;

  std::vector<ConfigEntry> entries_;
};

}  // namespace geosft
