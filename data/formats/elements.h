// SPDX-License-Identifier: Apache-2.0
// Chemical elements.
#pragma once

#include <optional>
#include <string_view>

namespace geosft {

inline constexpr int element_count = 118;

// 1 … 118 from a symbol, such as "Cl", or from the number itself. Nothing for another word.
std::optional<int> atomic_number(std::string_view word);

// Covalent radius in ångström (Cordero et al., Dalton Trans. 2008, 2832; carbon as sp3, Mn, Fe and Co of low spin).
// Nothing beyond curium (96).
std::optional<double> covalent_radius(int number);

}  // namespace geosft
