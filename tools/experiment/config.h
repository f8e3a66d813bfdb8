// SPDX-License-Identifier: Apache-2.0
// Defines configuration keys once, for TOML files, command-line options, the saved copy and the help.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tools/experiment/arguments.h"
#include "tools/experiment/config_entry.h"

namespace geosft {

// Keys that are used only with some values of other keys.
struct KeyUse {
  std::vector<std::string> keys;
  bool used;            // with the present values
  std::string purpose;  // "the bn attentions"
  std::string instead;  // the present choice that does not use them: "attention softmax"

  // Returns "NAME is for the bn attentions, not for attention softmax", of a key or its option.
  std::string unused_text(const std::string& name) const {
    return name + " is for " + purpose + ", not for " + instead;
  }
};

// Precedence: values of the targets when they were added < TOML < command line. Usage:
//     config.add("train", "epochs", &options.epochs, "passes over the training set", {.low = 1});
//     config.add_options(app);
//     if (!parse_arguments(app, argc, argv, std::cout)) return 0;
//     config.load_toml(file);
//     config.apply_options();
class Config {
 public:
  // Adds a key in snake_case, unique over all sections; an empty section is the top of the file. The target must
  // outlive the configuration. Throws std::logic_error if the key exists.
  Config& add(const std::string& section, const std::string& key, ConfigTarget target, const std::string& help,
              Range range = {});
  // Adds a string key whose value is one of `choices`.
  Config& add_choice(const std::string& section, const std::string& key, std::string* target,
                     std::vector<std::string> choices, const std::string& help);
  // Adds a key for a variable of an enumeration, whose value is one of its names.
  template <class Enum>
  Config& add_enum(const std::string& section, const std::string& key, Enum* target, const std::string& help) {
    return add(section, key, NamedTarget::of(target), help);
  }

  // Permits the value "auto" for number keys added before: the program derives it from the data (automatic_value).
  Config& allow_automatic(const std::vector<std::string>& keys);
  // Sets each key that is "auto" here to its value in `resolved`, a configuration with the same keys.
  void take_automatic(const Config& resolved) const;
  // Sets each key that has a former value (key_names.h) to it.
  void take_former() const;
  // Sets each key that has a former value, except those in `named`, to the one of a RUN, which an earlier version may
  // have begun.
  void take_unnamed(const Config& begun, const std::set<std::string>& named) const;

  // Sets the keys in the file and leaves the others; former key names are accepted (key_names.h). Throws UsageError
  // naming file, line and key for an unknown section or key (with the nearest known one), a value of the wrong type or
  // out of range (with what was expected), and invalid TOML.
  void load_toml(const std::filesystem::path& path);
  // Sets keys as load_toml does, from text; `source` replaces the file name in messages.
  void set_text(const std::string& toml, const std::string& source = "configuration");
  // Sets keys as set_text and load_toml do, of the configuration of a RUN: a key that it does not have, because an
  // earlier version wrote it, gets its former value (key_names.h).
  void set_run_text(const std::string& toml, const std::string& source);
  void load_run_toml(const std::filesystem::path& path);
  // Sets only the keys of a RUN for which selected(section, key) is true, as set_run_text does, and ignores unknown
  // ones.
  void set_known(const std::string& toml, const std::string& source,
                 const std::function<bool(const std::string& section, const std::string& key)>& selected);

  // Returns the text that the parsed command line gives a key, if it does. Throws UsageError for an unknown key.
  std::optional<std::string> option_text(const std::string& key) const;

  // Returns the keys that the parsed command line names.
  std::set<std::string> named_keys() const;

  // Sets one key from the text that its option would take. Throws UsageError for an unknown key (with the nearest known
  // one) and for a value that is not permitted.
  void assign(const std::string& key, const std::string& text) const;

  // Adds an option --kebab-case to `app` for every key, grouped by section, with the present value shown as default. A
  // renamed key also has a hidden option, which prints a notice to stderr once it is applied. Bools are flags --key and
  // --no-key; lists are comma-separated. Options with listed == false work but are not in the help of `app`.
  void add_options(CLI::App& app, bool listed = true);
  // Sets the keys given on the parsed command line. Throws UsageError naming option, value and what was expected.
  void apply_options() const;
  // Throws UsageError for a command-line option that nothing uses: "--beta is for the bn attentions, not for attention
  // softmax". Unused keys in TOML are permitted.
  void refuse_unused(const std::vector<KeyUse>& uses) const;

  // Returns the present values; loading them gives exactly the same values.
  std::string to_toml() const;
  // Returns one line per key (option, present value, meaning, permitted values), with a heading per section.
  std::string help() const;
  // Returns one JSON object per key and line, for programs that write the reference: section, key, option, former (an
  // option, or ""), type, default (the present value, in TOML syntax), expected and help.
  std::string json_lines() const;

 private:
  void insert(ConfigEntry entry);
  // Throws UsageError for an unknown key, with the nearest known one.
  const ConfigEntry& entry_of(const std::string& key) const;

  std::vector<ConfigEntry> entries_;
};

// Returns the keys that a configuration file sets, by their present names. Throws UsageError for invalid TOML.
std::set<std::string> keys_of_toml(const std::filesystem::path& path);

}  // namespace geosft
