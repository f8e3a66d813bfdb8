// SPDX-License-Identifier: Apache-2.0
// Names of the values of enumerations: one table per enumeration, which configuration files, options, messages and
// reports read.
#pragma once

#include <c10/util/Exception.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace geosft {

// Returns the names with commas between them, and `last` before the last one.
inline std::string listed(const std::vector<std::string>& names, const std::string& last = ", ") {
  std::string text;
  for (size_t i = 0; i < names.size(); ++i) text += (i == 0 ? "" : i + 1 == names.size() ? last : ", ") + names[i];
  return text;
}

template <class Enum>
struct EnumName {
  const char* name;
  Enum value;
};

// The table of an enumeration, specialised beside what uses it:
//     template <>
//     inline constexpr auto enum_table<Rotation> = std::to_array<EnumName<Rotation>>({{"none", Rotation::none}, …});
template <class Enum>
inline constexpr bool enum_table = false;

// Returns the name of a value, "unnamed" for one that is not in the table.
template <class Enum>
const char* name_of(Enum value) {
  for (const EnumName<Enum>& one : enum_table<Enum>) {
    if (one.value == value) return one.name;
  }
  return "unnamed";
}

// Finds a value by its name, in any case.
template <class Enum>
std::optional<Enum> find_named(std::string_view name) {
  const auto same = [](unsigned char a, unsigned char b) { return std::tolower(a) == std::tolower(b); };
  for (const EnumName<Enum>& one : enum_table<Enum>) {
    const std::string_view known = one.name;
    if (std::equal(known.begin(), known.end(), name.begin(), name.end(), same)) return one.value;
  }
  return std::nullopt;
}

// Returns all names, in the order of the table.
template <class Enum>
std::vector<std::string> enum_names() {
  std::vector<std::string> names;
  for (const EnumName<Enum>& one : enum_table<Enum>) names.emplace_back(one.name);
  return names;
}

// Returns the value with that name; `what` names it in the error for an unknown one, which lists all names.
template <class Enum>
Enum value_named(std::string_view name, const char* what) {
  const std::optional<Enum> found = find_named<Enum>(name);
  if (found) return *found;
  TORCH_CHECK(false, what, " must be one of ", listed(enum_names<Enum>()), ", not ", name);
}

// A variable of an enumeration type, read and set by name; of an optional one, the name is empty while it is not set.
struct NamedTarget {
  std::vector<std::string> names;
  std::function<std::string()> get;
  std::function<bool(const std::string& name)> set;  // false for an unknown name, which sets nothing

  template <class Enum>
  static NamedTarget of(Enum* target) {
    return make<Enum>(target, [target] { return std::string(name_of(*target)); });
  }
  template <class Enum>
  static NamedTarget of(std::optional<Enum>* target) {
    return make<Enum>(target, [target] { return std::string(*target ? name_of(**target) : ""); });
  }

 private:
  template <class Enum, class Target>
  static NamedTarget make(Target* target, std::function<std::string()> get) {
    return {enum_names<Enum>(), std::move(get), [target](const std::string& name) {
              const std::optional<Enum> found = find_named<Enum>(name);
              if (found) *target = *found;
              return found.has_value();
            }};
  }
};

}  // namespace geosft
