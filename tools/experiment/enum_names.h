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
#include <stdexcept>
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
  char name[24];
  Enum value;
};

// The table of an enumeration, specialised beside what uses it, by GEOSFT_ENUM_NAMES or, where names differ from those
// of the values:
//     template <>
//     inline constexpr auto enum_table<SplitKind> =
//         std::to_array<EnumName<SplitKind>>({{"auto", SplitKind::automatic}, …});
template <class Enum>
inline constexpr bool enum_table = false;

// Returns the table of `values`, whose names are listed with ", " between them.
template <class Enum, size_t kCount>
constexpr std::array<EnumName<Enum>, kCount> named_values(std::string_view names,
                                                          const std::array<Enum, kCount>& values) {
  std::array<EnumName<Enum>, kCount> table{};
  for (size_t i = 0; i < kCount; ++i) {
    const std::string_view name = names.substr(0, names.find(','));
    if (name.size() >= sizeof(table[i].name)) throw std::length_error("the name of a value is too long");
    std::copy(name.begin(), name.end(), table[i].name);
    table[i].value = values[i];
    names.remove_prefix(std::min(names.size(), name.size() + 2));
  }
  return table;
}

// Specialises the table of an enumeration: GEOSFT_ENUM_NAMES(Rotation, none, z, so3), at namespace scope.
#define GEOSFT_ENUM_NAMES(Enum, ...)                                       \
  template <>                                                              \
  inline constexpr auto enum_table<Enum> = [] {                            \
    using enum Enum;                                                       \
    return named_values(#__VA_ARGS__, std::to_array<Enum>({__VA_ARGS__})); \
  }()

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
