// SPDX-License-Identifier: Apache-2.0
// One key of a configuration: where its value lives, what it may be, and its forms as text.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace CLI {
class Option;
}

namespace geosft {

// --weight-decay for weight_decay.
std::string option_name(const std::string& key);

// Permitted values of a number (of every element, for a list).
struct Range {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool open_low = false;   // `low` itself is not permitted
  bool open_high = false;  // `high` itself is not permitted
};

// Where a value lives. Unsigned numbers end at 2^63 - 1, as TOML's do.
using ConfigTarget = std::variant<int64_t*, uint64_t*, double*, bool*, std::string*, std::vector<double>*>;
// A value on its way into a target.
using ConfigValue = std::variant<int64_t, double, bool, std::string, std::vector<double>>;

struct ConfigEntry {
  std::string section, key, help;
  ConfigTarget target;
  Range range = {};
  std::vector<std::string> choices = {};  // of a string; empty: any
  CLI::Option* option = nullptr;          // on the command line, once there is one
  CLI::Option* former_option = nullptr;   // hidden, where the key was renamed

  // --weight-decay for weight_decay.
  std::string option_name() const;
  bool is_bool() const;
  // "an integer from 1 to 8", for messages.
  std::string expected() const;
  // The present value as TOML writes it; doubles in the fewest digits that read back the same.
  std::string value_text() const;

  // The value that the text of a command line means; nothing when it is of another type.
  std::optional<ConfigValue> parse(std::string_view text) const;
  // Sets the target. False, and nothing is set, for a value of another type or one that is not permitted.
  bool assign(const ConfigValue& value) const;
};

}  // namespace geosft
