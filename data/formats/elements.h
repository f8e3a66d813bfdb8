// SPDX-License-Identifier: Apache-2.0
// Looks up atomic numbers and covalent radii of chemical elements.
#pragma once

#include <optional>
#include <string_view>

namespace geosft {

inline constexpr int element_count = 118;

// Returns 1 … 118 for a symbol, such as "Cl", or the number itself; nothing for any other word.
std::optional<int> atomic_number(std::string_view word);

// Returns the symbol of an element, number in 1 … element_count.
std::string_view element_symbol(int number);

// Returns the covalent radius in ångström (Cordero et al., Dalton Trans. 2008, 2832; carbon as sp3; Mn, Fe and Co
// low-spin); nothing beyond curium (96).
std::optional<double> covalent_radius(int number);

}  // namespace geosft
