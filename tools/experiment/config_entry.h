// SPDX-License-Identifier: Apache-2.0
// One key of a configuration: its target, its permitted values, and conversion from and to text.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "tools/experiment/enum_names.h"

namespace CLI {
class Option;
}

namespace geosft {

// Returns --weight-decay for weight_decay.
std::string option_name(const std::string& key);

// Permitted values of a number, or of every element of a list.
struct Range {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool open_low = false;   // `low` itself is not permitted
  bool open_high = false;  // `high` itself is not permitted
};

// The value of a number that is to be derived from the data, "auto" in text: no other value of a key equals it.
template <typename Number>
constexpr Number automatic_value() {
  return std::is_floating_point_v<Number> ? std::numeric_limits<Number>::quiet_NaN()
                                          : std::numeric_limits<Number>::min();
}
inline bool is_automatic(double value) {
  return std::isnan(value);
}
inline bool is_automatic(int64_t value) {
  return value == automatic_value<int64_t>();
}

// A table of lists of numbers by name.
using NamedLists = std::map<std::string, std::vector<double>>;

// The variable that stores the value. Unsigned numbers end at 2^63 - 1, as in TOML.
using ConfigTarget =
    std::variant<int64_t*, uint64_t*, double*, bool*, std::string*, std::vector<double>*, NamedLists*, NamedTarget>;
// A parsed value, before it is assigned to a target.
using ConfigValue = std::variant<int64_t, double, bool, std::string, std::vector<double>, NamedLists>;

struct ConfigEntry {
  std::string section, key, help;
  ConfigTarget target;
  Range range = {};
  std::vector<std::string> choices = {};  // for a string; empty: any
  CLI::Option* option = nullptr;          // set by Config::add_options
  CLI::Option* former_option = nullptr;   // hidden, if the key was renamed
  bool may_be_automatic = false;          // for a number that is no uint64_t: "auto" is permitted too

  // Returns --weight-decay for weight_decay.
  std::string option_name() const;
  bool is_bool() const;
  // Returns whether the target is to be derived from the data.
  bool is_automatic() const;
  // Returns "an integer from 1 to 8", for messages.
  std::string expected() const;
  // Returns "integer", "number", "boolean", "name" (one of several), "text", "list" or "table".
  std::string type_name() const;
  // Returns the present value in TOML syntax; doubles with the fewest digits that round-trip.
  std::string value_text() const;

  // Parses a command-line value; nullopt if it has the wrong type.
  std::optional<ConfigValue> parse(std::string_view text) const;
  // Sets the target. Returns false and sets nothing for a value of the wrong type or one that is not permitted.
  bool assign(const ConfigValue& value) const;
};

// Sets automatic keys by rules, and collects what was chosen as text.
class AutomaticKeys {
 public:
  // Sets `value` to rule() if it is automatic.
  template <typename Number, typename Rule>
  void resolve(const char* key, Number& value, const Rule& rule) {
    if (!is_automatic(value)) return;
    value = rule();
    const ConfigEntry entry{"", key, "", &value};
    text_ += (text_.empty() ? "" : ", ") + std::string(key) + " " + entry.value_text();
  }
  // Returns "dim 64, depth 3".
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace geosft
