// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/config.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "tools/experiment/key_names.h"
#include "tools/experiment/toml_document.h"

namespace geosft {
namespace {

std::vector<std::string> sections_of(const std::vector<ConfigEntry>& entries) {
  std::vector<std::string> names;
  for (const ConfigEntry& entry : entries) {
    if (std::find(names.begin(), names.end(), entry.section) == names.end()) names.push_back(entry.section);
  }
  // Top-level keys come first: TOML cannot return to the top level after a table.
  std::stable_partition(names.begin(), names.end(), [](const std::string& name) { return name.empty(); });
  return names;
}

std::string qualified(const std::string& section, const std::string& key) {
  return section.empty() ? "'" + key + "'" : "'" + key + "' in [" + section + "]";
}

bool named(const CLI::Option* option) {
  return option && !option->empty();
}

// Returns whether the parsed command line sets this key.
bool given(const ConfigEntry& entry) {
  return named(entry.option) || named(entry.former_option);
}

// Returns the words that a key permits; none if it is not a choice.
std::vector<std::string> words_of(const ConfigEntry& entry) {
  if (const auto* target = std::get_if<NamedTarget>(&entry.target)) return {target->names.begin(), target->names.end()};
  return entry.choices;
}

// Returns "; --normalization takes 'batch'" if a word that this choice does not permit is one of other choices.
std::string other_choice_hint(const std::vector<ConfigEntry>& entries, const ConfigEntry& entry,
                              const std::string& text) {
  if (words_of(entry).empty()) return "";
  std::string names;
  for (const ConfigEntry& other : entries) {
    const std::vector<std::string> words = words_of(other);
    if (std::find(words.begin(), words.end(), text) == words.end()) continue;
    names += (names.empty() ? "" : " and ") + other.option_name();
  }
  return names.empty() ? ""
                       : "; " + names + (names.find(' ') == std::string::npos ? " takes '" : " take '") + text + "'";
}

// Returns the permitted words of a choice with few of them, for the help of its option.
std::string words_text(const ConfigEntry& entry) {
  constexpr size_t few = 8;
  const std::vector<std::string> words = words_of(entry);
  return words.empty() || words.size() > few ? "" : " (" + entry.expected() + ")";
}

// Reads one TOML document into the entries.
struct Reader {
  const std::vector<ConfigEntry>& entries;
  const std::string& source;

  void read(const toml::table& document) const {
    const std::vector<std::string> sections = sections_of(entries);
    for (const auto& [key, node] : document) {
      const std::string name(key.str());
      const toml::table* table = node.as_table();
      if (!table) {
        set("", name, node);
      } else if (std::find(sections.begin(), sections.end(), name) == sections.end()) {
        fail_toml(source, node, "unknown section [" + name + "]" + section_hint(name, sections));
      } else {
        for (const auto& [inner, value] : *table) set(name, std::string(inner.str()), value);
      }
    }
  }

  void set(const std::string& section, const std::string& key, const toml::node& node) const {
    auto entry = find(section, key);
    if (entry == entries.end()) entry = find(section, current_key(key));
    if (entry == entries.end()) {
      fail_toml(source, node, "unknown key " + qualified(section, key) + key_hint(section, key));
    }
    const std::optional<ConfigValue> value = convert(node);
    if (!value || !entry->assign(*value)) {
      fail_toml(source, node,
                qualified(section, key) + ": expected " + entry->expected() + ", found " + toml_text(node));
    }
  }

  std::vector<ConfigEntry>::const_iterator find(const std::string& section, const std::string& key) const {
    return std::find_if(entries.begin(), entries.end(), [&](const ConfigEntry& candidate) {
      return candidate.section == section && candidate.key == key;
    });
  }

  static std::string section_hint(const std::string& name, const std::vector<std::string>& sections) {
    const std::string nearest = nearest_name(name, sections);
    return nearest.empty() ? nearest : "; the nearest known is [" + nearest + "]";
  }

  // Prefers the same name in another section to a similar name.
  std::string key_hint(const std::string& section, const std::string& key) const {
    std::vector<std::string> known;
    for (const bool same_section : {true, false}) {
      for (const ConfigEntry& entry : entries) {
        if ((entry.section == section) == same_section) known.push_back(entry.key);
      }
    }
    const std::string nearest = nearest_name(key, known);
    const auto entry = std::find_if(entries.begin(), entries.end(), [&](const auto& e) { return e.key == nearest; });
    return entry == entries.end() ? "" : "; the nearest known is " + qualified(entry->section, entry->key);
  }

  static std::optional<ConfigValue> convert(const toml::node& node) {
    if (const auto* number = node.as_integer()) return number->get();
    if (const auto* number = node.as_floating_point()) return number->get();
    if (const auto* flag = node.as_boolean()) return flag->get();
    if (const auto* word = node.as_string()) return word->get();
    if (const toml::table* table = node.as_table()) return lists_of(*table);
    return list_of(node);
  }

  static std::optional<std::vector<double>> list_of(const toml::node& node) {
    const toml::array* list = node.as_array();
    if (!list) return std::nullopt;
    std::vector<double> values;
    for (const toml::node& element : *list) {
      const std::optional<double> value = element.value<double>();  // nullopt for an integer that no double represents
      if (!element.is_number() || !value) return std::nullopt;
      values.push_back(*value);
    }
    return values;
  }

  static std::optional<ConfigValue> lists_of(const toml::table& table) {
    NamedLists lists;
    for (const auto& [name, element] : table) {
      const std::optional<std::vector<double>> list = list_of(element);
      if (!list) return std::nullopt;
      lists.emplace(name.str(), *list);
    }
    return lists;
  }
};

}  // namespace

Config& Config::add(const std::string& section, const std::string& key, ConfigTarget target, const std::string& help,
                    Range range) {
  insert({section, key, help, target, range});
  return *this;
}

Config& Config::add_choice(const std::string& section, const std::string& key, std::string* target,
                           std::vector<std::string> choices, const std::string& help) {
  insert({section, key, help, target, {}, std::move(choices)});
  return *this;
}

Config& Config::allow_automatic(const std::vector<std::string>& keys) {
  for (const std::string& key : keys) {
    const auto entry = std::find_if(entries_.begin(), entries_.end(), [&](const auto& e) { return e.key == key; });
    if (entry == entries_.end()) throw std::logic_error("no configuration key '" + key + "'");
    entry->may_be_automatic = true;
  }
  return *this;
}

void Config::take_automatic(const Config& resolved) const {
  for (const ConfigEntry& entry : entries_) {
    if (!entry.is_automatic()) continue;
    std::string text = resolved.entry_of(entry.key).value_text();
    if (text == "\"auto\"") text = "auto";
    assign(entry.key, text);
  }
}

void Config::take_former() const {
  for (const ConfigEntry& entry : entries_) {
    if (const std::string value = former_value(entry.key); !value.empty()) assign(entry.key, value);
  }
}

void Config::take_unnamed(const Config& begun, const std::set<std::string>& named) const {
  for (const ConfigEntry& entry : begun.entries_) {
    if (former_value(entry.key).empty() || named.contains(entry.key)) continue;
    const std::string text = entry.value_text();
    assign(entry.key, text.starts_with('"') ? text.substr(1, text.size() - 2) : text);
  }
}

void Config::insert(ConfigEntry entry) {
  for (const ConfigEntry& other : entries_) {
    if (other.key == entry.key) throw std::logic_error("configuration key '" + entry.key + "' is taken");
  }
  entries_.push_back(std::move(entry));
}

void Config::load_toml(const std::filesystem::path& path) {
  set_text(read_toml_text(path), path.string());
}

void Config::set_text(const std::string& toml, const std::string& source) {
  Reader{entries_, source}.read(parse_toml(toml, source));
}

void Config::set_run_text(const std::string& toml, const std::string& source) {
  take_former();
  set_text(toml, source);
}

void Config::load_run_toml(const std::filesystem::path& path) {
  set_run_text(read_toml_text(path), path.string());
}

std::set<std::string> keys_of_toml(const std::filesystem::path& path) {
  std::set<std::string> keys;
  for (const auto& [section, node] : parse_toml(read_toml_text(path), path.string())) {
    const toml::table* const table = node.as_table();
    if (!table) keys.insert(current_key(section.str()));
    if (!table) continue;
    for (const auto& [key, value] : *table) keys.insert(current_key(key.str()));
  }
  return keys;
}

void Config::set_known(const std::string& toml, const std::string& source,
                       const std::function<bool(const std::string& section, const std::string& key)>& selected) {
  for (const ConfigEntry& entry : entries_) {
    const std::string former = former_value(entry.key);
    if (!former.empty() && selected(entry.section, entry.key)) assign(entry.key, former);
  }
  const Reader reader{entries_, source};
  const auto take = [&](const std::string& section, std::string_view key, const toml::node& value) {
    const std::string current = current_key(std::string(key));
    if (selected(section, current) && reader.find(section, current) != entries_.end()) {
      reader.set(section, current, value);
    }
  };
  for (const auto& [name, node] : parse_toml(toml, source)) {
    const toml::table* table = node.as_table();
    if (!table) {
      take("", name.str(), node);
      continue;
    }
    for (const auto& [key, value] : *table) take(std::string(name.str()), key.str(), value);
  }
}

std::optional<std::string> Config::option_text(const std::string& key) const {
  const CLI::Option* const option = entry_of(key).option;
  return named(option) ? std::optional(option->results().back()) : std::nullopt;
}

std::set<std::string> Config::named_keys() const {
  std::set<std::string> keys;
  for (const ConfigEntry& entry : entries_) {
    if (given(entry)) keys.insert(entry.key);
  }
  return keys;
}

const ConfigEntry& Config::entry_of(const std::string& key) const {
  std::vector<std::string> known;
  for (const std::string& name : {key, current_key(key)}) {
    for (const ConfigEntry& entry : entries_) {
      if (entry.key == name) return entry;
    }
  }
  for (const ConfigEntry& entry : entries_) known.push_back(entry.key);
  throw UsageError("unknown key '" + key + "'" + nearest_hint(key, known));
}

void Config::assign(const std::string& key, const std::string& text) const {
  const ConfigEntry& entry = entry_of(key);
  const std::optional<ConfigValue> value = entry.parse(text);
  if (!value || !entry.assign(*value)) {
    throw UsageError(key + ": expected " + entry.expected() + ", found '" + text + "'" +
                     other_choice_hint(entries_, entry, text));
  }
}

void Config::add_options(CLI::App& app, bool listed) {
  for (ConfigEntry& entry : entries_) {
    const std::string name = entry.option_name();
    // const: CLI11 takes a mutable string for the variable that stores the value.
    const std::string help = entry.help + words_text(entry) +
                             (!entry.is_bool()               ? ""
                              : entry.value_text() == "true" ? " [on]"
                                                             : " [off]");
    const auto add = [&](const std::string& option, const std::string& group) {
      const std::string alias = option == name ? option_alias(entry.key) : "";
      CLI::Option* const added = entry.is_bool() ? app.add_flag(option + ",!--no-" + option.substr(2), help)
                                                 : app.add_option(option + (alias.empty() ? "" : "," + alias), help)
                                                       ->expected(1)
                                                       ->default_str(entry.value_text());
      return added->take_last()->group(group);
    };
    entry.option = add(name, !listed ? "" : entry.section.empty() ? "general" : entry.section);
    if (const std::string former = former_key(entry.key); !former.empty()) {
      entry.former_option = add(option_name(former), "");
    }
  }
}

void Config::apply_options() const {
  for (const ConfigEntry& entry : entries_) {
    if (!given(entry)) continue;
    const CLI::Option* const option = named(entry.option) ? entry.option : entry.former_option;
    if (entry.former_option != nullptr && named(entry.option) && named(entry.former_option)) {
      throw UsageError(option_name(former_key(entry.key)) + " is the former name of " + entry.option_name() +
                       ": expected one of the two");
    }
    if (option == entry.former_option) {
      std::cerr << renaming_notice(option_name(former_key(entry.key)), entry.option_name());
    }
    const std::string text = entry.is_bool() ? (option->as<bool>() ? "true" : "false") : option->results().back();
    const std::optional<ConfigValue> value = entry.parse(text);
    if (!value || !entry.assign(*value)) {
      throw UsageError(entry.option_name() + ": expected " + entry.expected() + ", found '" + text + "'" +
                       other_choice_hint(entries_, entry, text));
    }
  }
}

void Config::refuse_unused(const std::vector<KeyUse>& uses) const {
  for (const KeyUse& use : uses) {
    for (const std::string& key : use.keys) {
      const ConfigEntry& entry = entry_of(key);
      if (use.used || !given(entry)) continue;
      throw UsageError(use.unused_text(entry.option_name()));
    }
  }
}

std::string Config::to_toml() const {
  std::string text;
  for (const std::string& section : sections_of(entries_)) {
    if (!section.empty()) text += (text.empty() ? "[" : "\n[") + section + "]\n";
    for (const ConfigEntry& entry : entries_) {
      if (entry.section == section) text += entry.key + " = " + entry.value_text() + "\n";
    }
  }
  return text;
}

std::string Config::help() const {
  std::size_t width = 0;
  const auto left = [](const ConfigEntry& entry) { return "  " + entry.option_name() + " " + entry.value_text(); };
  for (const ConfigEntry& entry : entries_) width = std::max(width, left(entry).size());
  std::string text;
  for (const std::string& section : sections_of(entries_)) {
    text += "[" + (section.empty() ? "general" : section) + "]\n";
    for (const ConfigEntry& entry : entries_) {
      if (entry.section != section) continue;
      std::string line = left(entry);
      line.resize(width + 2, ' ');
      text += line + entry.help + " (" + entry.expected() + ")\n";
    }
  }
  return text;
}

std::string Config::json_lines() const {
  std::string text;
  for (const std::string& section : sections_of(entries_)) {
    for (const ConfigEntry& entry : entries_) {
      if (entry.section != section) continue;
      const std::string former = former_key(entry.key);
      const nlohmann::json object = {{"section", section},
                                     {"key", entry.key},
                                     {"option", entry.option_name()},
                                     {"former", former.empty() ? "" : geosft::option_name(former)},
                                     {"type", entry.type_name()},
                                     {"default", entry.value_text()},
                                     {"expected", entry.expected()},
                                     {"help", entry.help}};
      text += object.dump() + "\n";
    }
  }
  return text;
}

}  // namespace geosft
