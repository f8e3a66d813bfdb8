// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/config_entry.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "data/read_file.h"
#include "tools/experiment/shortest_text.h"

namespace geosft {
namespace {

std::string number_text(double value) {
  const std::string text = shortest_text(value);
  // TOML distinguishes floats from integers by the point or the exponent.
  return std::isfinite(value) && text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

std::string quoted_text(const std::string& text) {
  std::string result = "\"";
  for (const char letter : text) {
    if (letter == '"' || letter == '\\') {
      result += {'\\', letter};
    } else if (static_cast<unsigned char>(letter) < 0x20 || letter == 0x7f) {
      std::array<char, 8> escape;
      std::snprintf(escape.data(), escape.size(), "\\u%04X", static_cast<unsigned>(letter));
      result += escape.data();
    } else {
      result += letter;
    }
  }
  return result + '"';
}

std::string range_text(const Range& range) {
  const bool low = std::isfinite(range.low);
  const bool high = std::isfinite(range.high);
  if (low && high && !range.open_low && !range.open_high) {
    return " from " + shortest_text(range.low) + " to " + shortest_text(range.high);
  }
  std::string text;
  if (low) text += (range.open_low ? " above " : " of at least ") + shortest_text(range.low);
  if (low && high) text += " and";
  if (high) text += (range.open_high ? " below " : " of at most ") + shortest_text(range.high);
  return text;
}

bool contains(const Range& range, double value) {
  if (std::isnan(value)) return false;
  const bool above = range.open_low ? value > range.low : value >= range.low;
  return above && (range.open_high ? value < range.high : value <= range.high);
}

Range unsigned_range(Range range) {
  if (range.low < 0.0) {
    range.low = 0.0;
    range.open_low = false;
  }
  return range;
}

template <typename T>
std::optional<T> parse_number(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// Parses "0.1,0.2" or "[0.1, 0.2]"; "[]" is the empty list.
std::optional<std::vector<double>> parse_list(std::string_view text) {
  text = trimmed(text);
  if (text.size() >= 2 && text.front() == '[' && text.back() == ']') text = trimmed(text.substr(1, text.size() - 2));
  std::vector<double> values;
  if (text.empty()) return values;
  for (;;) {
    const std::size_t comma = text.find(',');
    const std::optional<double> value = parse_number<double>(trimmed(text.substr(0, comma)));
    if (!value) return std::nullopt;
    values.push_back(*value);
    if (comma == std::string_view::npos) return values;
    text.remove_prefix(comma + 1);
  }
}

// Parses "NAME=0.1,0.2;OTHER=0.3"; an empty text is the empty table.
std::optional<NamedLists> parse_lists(std::string_view text) {
  NamedLists lists;
  text = trimmed(text);
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(';'), text.size()), equals = text.find('=');
    const std::optional<std::vector<double>> list =
        equals < end ? parse_list(text.substr(equals + 1, end - equals - 1)) : std::nullopt;
    if (!list) return std::nullopt;
    lists.insert_or_assign(std::string(trimmed(text.substr(0, equals))), *list);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lists;
}

// Visitors over the target types: Expected describes permitted values, the others format, parse and assign.
struct Expected {
  const ConfigEntry& entry;
  std::string operator()(int64_t*) const { return "an integer" + range_text(entry.range); }
  std::string operator()(uint64_t*) const { return "an integer" + range_text(unsigned_range(entry.range)); }
  std::string operator()(double*) const { return "a number" + range_text(entry.range); }
  std::string operator()(bool*) const { return "true or false"; }
  std::string operator()(std::string*) const {
    return entry.choices.empty() ? std::string("a text") : "one of " + listed(entry.choices);
  }
  std::string operator()(const NamedTarget& target) const { return "one of " + listed(target.names); }
  std::string operator()(std::vector<double>*) const {
    const std::string each = range_text(entry.range);
    return each.empty() ? "a list of numbers" : "a list of numbers, each" + each;
  }
  std::string operator()(NamedLists*) const { return "a table of lists of numbers, or NAME=NUMBER,NUMBER;NAME=…"; }
};

struct TypeName {
  const ConfigEntry& entry;
  std::string operator()(int64_t*) const { return "integer"; }
  std::string operator()(uint64_t*) const { return "integer"; }
  std::string operator()(double*) const { return "number"; }
  std::string operator()(bool*) const { return "boolean"; }
  std::string operator()(std::string*) const { return entry.choices.empty() ? "text" : "name"; }
  std::string operator()(const NamedTarget&) const { return "name"; }
  std::string operator()(std::vector<double>*) const { return "list"; }
  std::string operator()(NamedLists*) const { return "table"; }
};

struct Text {
  template <typename Integer>
  std::string operator()(Integer* value) const {
    return std::to_string(*value);
  }
  std::string operator()(double* value) const { return number_text(*value); }
  std::string operator()(bool* value) const { return *value ? "true" : "false"; }
  std::string operator()(std::string* value) const { return quoted_text(*value); }
  std::string operator()(const NamedTarget& target) const { return quoted_text(target.get()); }
  std::string operator()(std::vector<double>* value) const {
    std::vector<std::string> words;
    for (const double element : *value) words.push_back(number_text(element));
    return "[" + listed(words) + "]";
  }
  std::string operator()(NamedLists* lists) const {
    std::vector<std::string> words;
    for (auto& [name, list] : *lists) words.push_back(quoted_text(name) + " = " + (*this)(&list));
    return words.empty() ? "{}" : "{ " + listed(words) + " }";
  }
};

struct Parse {
  std::string_view text;
  template <typename T>
  static std::optional<ConfigValue> wrap(const std::optional<T>& value) {
    return value ? std::optional<ConfigValue>(*value) : std::nullopt;
  }
  std::optional<ConfigValue> operator()(int64_t*) const { return wrap(parse_number<int64_t>(text)); }
  std::optional<ConfigValue> operator()(uint64_t*) const { return wrap(parse_number<int64_t>(text)); }
  std::optional<ConfigValue> operator()(double*) const { return wrap(parse_number<double>(text)); }
  std::optional<ConfigValue> operator()(bool*) const {
    if (text == "true") return true;
    if (text == "false") return false;
    return std::nullopt;
  }
  std::optional<ConfigValue> operator()(std::string*) const { return std::string(text); }
  std::optional<ConfigValue> operator()(const NamedTarget&) const { return std::string(text); }
  std::optional<ConfigValue> operator()(std::vector<double>*) const { return wrap(parse_list(text)); }
  std::optional<ConfigValue> operator()(NamedLists*) const { return wrap(parse_lists(text)); }
};

// Sets a number to the automatic value; false for other targets.
struct SetAutomatic {
  bool operator()(int64_t* target) const { return set(target); }
  bool operator()(double* target) const { return set(target); }
  template <typename Other>
  bool operator()(const Other&) const {
    return false;
  }
  template <typename Number>
  static bool set(Number* target) {
    *target = automatic_value<Number>();
    return true;
  }
};

constexpr std::string_view automatic_text = "auto";

struct Assign {
  const ConfigEntry& entry;
  const ConfigValue& value;

  template <typename Integer>
  bool operator()(Integer* target) const {
    const auto* number = std::get_if<int64_t>(&value);
    const Range range = std::is_unsigned_v<Integer> ? unsigned_range(entry.range) : entry.range;
    if (!number || !contains(range, static_cast<double>(*number))) return false;
    *target = static_cast<Integer>(*number);
    return true;
  }
  bool operator()(double* target) const {
    const auto* whole = std::get_if<int64_t>(&value);
    const auto* number = std::get_if<double>(&value);
    if (!whole && !number) return false;
    const double candidate = whole ? static_cast<double>(*whole) : *number;
    if (!contains(entry.range, candidate)) return false;
    *target = candidate;
    return true;
  }
  bool operator()(bool* target) const {
    const auto* flag = std::get_if<bool>(&value);
    if (flag) *target = *flag;
    return flag != nullptr;
  }
  bool operator()(std::string* target) const {
    const auto* text = std::get_if<std::string>(&value);
    const auto& choices = entry.choices;
    if (!text || !(choices.empty() || std::count(choices.begin(), choices.end(), *text))) return false;
    *target = *text;
    return true;
  }
  bool operator()(const NamedTarget& target) const {
    const auto* name = std::get_if<std::string>(&value);
    return name != nullptr && target.set(*name);
  }
  bool permitted(const std::vector<double>& list) const {
    return std::all_of(list.begin(), list.end(), [&](double element) { return contains(entry.range, element); });
  }
  bool operator()(std::vector<double>* target) const {
    const auto* list = std::get_if<std::vector<double>>(&value);
    if (!list || !permitted(*list)) return false;
    *target = *list;
    return true;
  }
  bool operator()(NamedLists* target) const {
    const auto* lists = std::get_if<NamedLists>(&value);
    if (!lists || !std::all_of(lists->begin(), lists->end(), [&](const auto& one) { return permitted(one.second); })) {
      return false;
    }
    *target = *lists;
    return true;
  }
};

}  // namespace

std::string option_name(const std::string& key) {
  std::string name = "--" + key;
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

std::string ConfigEntry::option_name() const {
  return geosft::option_name(key);
}

bool ConfigEntry::is_bool() const {
  return std::holds_alternative<bool*>(target);
}
bool ConfigEntry::is_automatic() const {
  if (const auto* number = std::get_if<int64_t*>(&target)) return geosft::is_automatic(**number);
  if (const auto* number = std::get_if<double*>(&target)) return geosft::is_automatic(**number);
  return false;
}
std::string ConfigEntry::expected() const {
  return std::visit(Expected{*this}, target) + (may_be_automatic ? ", or auto" : "");
}
std::string ConfigEntry::type_name() const {
  return std::visit(TypeName{*this}, target);
}
std::string ConfigEntry::value_text() const {
  return is_automatic() ? quoted_text(std::string(automatic_text)) : std::visit(Text{}, target);
}
std::optional<ConfigValue> ConfigEntry::parse(std::string_view text) const {
  if (may_be_automatic && text == automatic_text) return std::string(text);
  return std::visit(Parse{text}, target);
}
bool ConfigEntry::assign(const ConfigValue& value) const {
  const auto* word = std::get_if<std::string>(&value);
  if (may_be_automatic && word && *word == automatic_text) return std::visit(SetAutomatic{}, target);
  return std::visit(Assign{*this, value}, target);
}

}  // namespace geosft
