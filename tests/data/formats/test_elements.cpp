// SPDX-License-Identifier: Apache-2.0
#include "data/formats/elements.h"

#include <catch2/catch.hpp>

namespace geosft::test::test_elements {

TEST_CASE("elements by symbol and by number") {
  CHECK(atomic_number("H") == 1);
  CHECK(atomic_number("C") == 6);
  CHECK(atomic_number("Cl") == 17);
  CHECK(atomic_number("Kr") == 36);
  CHECK(atomic_number("Xe") == 54);
  CHECK(atomic_number("Rn") == 86);
  CHECK(atomic_number("Og") == 118);
  CHECK(atomic_number("8") == 8);
  for (const int number : {1, 17, 118}) CHECK(atomic_number(element_symbol(number)) == number);
  for (const char* word : {"", "X", "cl", "0", "119", "-1", "C1"}) CHECK_FALSE(atomic_number(word));
}

TEST_CASE("covalent radii") {
  CHECK(covalent_radius(1) == 0.31);
  CHECK(covalent_radius(6) == 0.76);
  CHECK(covalent_radius(53) == 1.39);
  CHECK(covalent_radius(79) == 1.36);
  CHECK(covalent_radius(96) == 1.69);
  CHECK_FALSE(covalent_radius(97));
  CHECK_FALSE(covalent_radius(0));
}

}  // namespace geosft::test::test_elements
