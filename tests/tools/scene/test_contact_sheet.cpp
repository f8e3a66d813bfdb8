// SPDX-License-Identifier: Apache-2.0
#include "tools/scene/contact_sheet.h"

#include <catch2/catch.hpp>

#include "tests/tools/scene/looked_at.h"
#include "tools/experiment/arguments.h"

namespace geosft::test::test_contact_sheet {
using namespace view;

TEST_CASE("the size of a grid is columns and rows") {
  CHECK(grid_of("4x3").columns == 4);
  CHECK(grid_of("4x3").rows == 3);
  for (const char* text : {"", "4", "x", "0x2", "2x13", "2x2x2", "-1x2", "2 x2", "1e1x2", "99999x1"}) {
    INFO(text);
    CHECK_THROWS_WITH(grid_of(text), Catch::Contains("--grid") && Catch::Contains("COLUMNSxROWS"));
  }
}

TEST_CASE("a sheet has the items from the first on, their predictions, one scale, and one legend") {
  const auto gallery = random_gallery(true);
  const ContactSheet sheet = contact_sheet(*gallery, 3, {2, 2}, choose(Colouring::importance), false);
  REQUIRE(sheet.scenes.size() == 4);
  double low = 1e30, high = -1e30;
  int64_t right = 0;
  for (size_t i = 0; i < 4; ++i) {
    const Subject alone = gallery->get(3 + static_cast<int64_t>(i), false);
    CHECK(sheet.subjects[i].name == alone.name);
    const at::Tensor values = values_of(alone, choose(Colouring::importance));
    low = std::min(low, values.min().item<double>());
    high = std::max(high, values.max().item<double>());
    CHECK(sheet.scenes[i].legend.title.empty());
    CHECK(sheet.scenes[i].lines.size() == 3);
    CHECK(alone.right == alone.prediction.starts_with(alone.truth + " "));  // classes are a, b and c
    CHECK((sheet.scenes[i].background == sheet.key.background) == (alone.right == true));
    right += alone.right == true;
  }
  REQUIRE(sheet.key.legend.bar);
  CHECK(sheet.key.legend.bar->second.low == Approx(low));
  CHECK(sheet.key.legend.bar->second.high == Approx(high));
  CHECK(sheet.key.lines.at(0) == "items 3 … 6 of 10");
  CHECK_THAT(sheet.key.lines.at(1), Catch::StartsWith(std::to_string(right) + " of 4 right"));
  CHECK(sheet_lines(sheet).size() == 6);
}

TEST_CASE("a sheet ends with the data, and says what each point that attends is") {
  const auto gallery = random_gallery(true);
  const ContactSheet sheet = contact_sheet(*gallery, 8, {2, 2}, choose(Colouring::attention), false);
  CHECK(sheet.scenes.size() == 2);
  CHECK_THAT(sheet.key.legend.title, Catch::StartsWith("attention of the most important point, layer"));
  CHECK(sheet.key.legend.names.size() == 1);
  CHECK_THROWS_WITH(contact_sheet(*gallery, 10, {2, 2}, choose(Colouring::height), false),
                    Catch::Contains("--item") && Catch::Contains("0 … 9, found 10"));
}

TEST_CASE("without a model a sheet has no predictions, and the usual colouring") {
  const auto gallery = random_gallery(false);
  const ContactSheet sheet = contact_sheet(*gallery, 0, {3, 1}, choose(Colouring::importance), /*usual=*/true);
  CHECK(sheet.choices.colouring == Colouring::height);
  CHECK(sheet.key.lines.size() == 1);
  CHECK_FALSE(sheet.subjects[0].right);
}

}  // namespace geosft::test::test_contact_sheet
