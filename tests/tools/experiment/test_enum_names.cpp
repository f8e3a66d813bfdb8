// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/enum_names.h"

#include <catch2/catch.hpp>

#include "tests/support.h"
#include "tools/experiment/blocks.h"
#include "tools/experiment/cloud_settings.h"
#include "tools/experiment/segmentation.h"

namespace geosft::test::test_enum_names {
namespace {

template <class Enum>
void require_round_trip(size_t count) {
  const std::vector<std::string> names = enum_names<Enum>();
  REQUIRE(names.size() == count);
  for (const std::string& name : names) REQUIRE(name_of(value_named<Enum>(name, "value")) == name);
}

enum class Metal { iron, gold_leaf };

}  // namespace

TEST_CASE("values are named as they are listed") {
  constexpr auto table = named_values("iron, gold_leaf", std::to_array({Metal::iron, Metal::gold_leaf}));
  REQUIRE(table.size() == 2);
  CHECK(table[0].name == std::string("iron"));
  CHECK(table[1].name == std::string("gold_leaf"));
  CHECK(table[1].value == Metal::gold_leaf);
  CHECK_THROWS_AS(named_values("the_name_of_a_value_too_long", std::to_array({Metal::iron})), std::length_error);
}

TEST_CASE("every name of an enumeration leads to its value and back") {
  require_round_trip<Rotation>(3);
  require_round_trip<PointTokens>(7);
  require_round_trip<BlockKind>(2);
  require_round_trip<PartSplit>(3);
  require_round_trip<PoolingKind>(4);
  require_round_trip<MaskKind>(5);
  require_round_trip<NormPlacement>(2);
  require_round_trip<ScoreKind>(2);
  require_round_trip<ProbabilityKind>(2);
  require_round_trip<PairWeighting>(2);
  require_round_trip<Schedule>(2);
  require_round_trip<Precision>(3);
  require_round_trip<NonFiniteStepAction>(2);
  require_round_trip<SampleMode>(2);
}

TEST_CASE("an unknown name is refused with the known ones, a value without a name has none") {
  REQUIRE(find_named<Rotation>("SO3") == Rotation::so3);  // in any case
  REQUIRE_FALSE(find_named<Rotation>("SO4").has_value());
  require_error([] { value_named<Rotation>("SO4", "rotate"); }, {"rotate must be one of none, z, so3", "SO4"});
  REQUIRE(name_of(PartSplit::train_and_validation) == std::string("unnamed"));
}

TEST_CASE("a variable is read and set by name, an optional one may be unset") {
  Rotation rotation = Rotation::z;
  const NamedTarget target = NamedTarget::of(&rotation);
  REQUIRE(target.names == std::vector<std::string>{"none", "z", "so3"});
  REQUIRE(target.get() == "z");
  REQUIRE(target.set("so3"));
  REQUIRE_FALSE(target.set("x"));
  REQUIRE(rotation == Rotation::so3);
  std::optional<Rotation> unset;
  const NamedTarget optional = NamedTarget::of(&unset);
  REQUIRE(optional.get().empty());
  REQUIRE(optional.set("none"));
  REQUIRE(unset == Rotation::none);
}

}  // namespace geosft::test::test_enum_names
