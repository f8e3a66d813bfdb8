// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/config_entry.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "tools/experiment/cloud_settings.h"

namespace geosft::test::test_config_entry {

namespace {

ConfigEntry entry(ConfigTarget target, Range range = {}) {
  return {"train", "some_key", "help", target, range};
}

// Whether the text was taken; the target holds the value then.
bool take(const ConfigEntry& entry, const std::string& text) {
  const std::optional<ConfigValue> value = entry.parse(text);
  return value && entry.assign(*value);
}

}  // namespace

TEST_CASE("an option is the key in kebab-case") {
  double value = 0.0;
  CHECK(entry(&value).option_name() == "--some-key");
}

TEST_CASE("integers are whole and stay in their range") {
  int64_t value = 4;
  const ConfigEntry layers = entry(&value, {.low = -1, .high = 8});
  CHECK(layers.expected() == "an integer from -1 to 8");
  CHECK(take(layers, "-1"));
  CHECK(value == -1);
  for (const char* text : {"9", "-2", "1.5", "1e0", "", " 1", "1x", "true", "99999999999999999999"}) {
    CHECK_FALSE(take(layers, text));
  }
  CHECK(value == -1);
  CHECK(layers.value_text() == "-1");
}

TEST_CASE("a variable of an enumeration takes its names") {
  Rotation rotation = Rotation::z;
  const ConfigEntry rotate = entry(NamedTarget::of(&rotation));
  REQUIRE(rotate.expected() == "one of none, z, so3");
  REQUIRE(rotate.value_text() == "\"z\"");
  REQUIRE(take(rotate, "so3"));
  REQUIRE(rotation == Rotation::so3);
  rotation = Rotation::none;
  REQUIRE(take(rotate, "SO3"));  // in any case
  for (const char* text : {"SO4", "", "1"}) REQUIRE_FALSE(take(rotate, text));
  REQUIRE_FALSE(rotate.assign(int64_t{1}));
  REQUIRE(rotation == Rotation::so3);
}

TEST_CASE("unsigned integers begin at zero and end where TOML's integers do") {
  uint64_t value = 0;
  const ConfigEntry seed = entry(&value);
  CHECK(seed.expected() == "an integer of at least 0");
  CHECK(take(seed, "9223372036854775807"));
  CHECK(value == 9223372036854775807ULL);
  CHECK(seed.value_text() == "9223372036854775807");
  CHECK_FALSE(take(seed, "-1"));
  CHECK_FALSE(take(seed, "9223372036854775808"));
}

TEST_CASE("numbers take integers, and open bounds are left out") {
  double value = 0.0;
  const ConfigEntry rate = entry(&value, {.low = 0, .high = 1, .open_low = true});
  CHECK(rate.expected() == "a number above 0 and of at most 1");
  CHECK(rate.assign(int64_t{1}));
  CHECK(value == 1.0);
  CHECK(take(rate, "1e-3"));
  CHECK(value == 1e-3);
  for (const char* text : {"0", "1.5", "nan", "inf", "a", ""}) CHECK_FALSE(take(rate, text));
  CHECK(take(entry(&value), "-inf"));
  CHECK(std::isinf(value));
  CHECK(entry(&value, {.high = 1, .open_high = true}).expected() == "a number below 1");
}

TEST_CASE("doubles are written so that they read back the same") {
  double value = 0.0;
  const ConfigEntry number = entry(&value);
  for (const double expected : {0.1, 1.0 / 3.0, 1e-300, 5e-324, 1e22, -0.0, 123456789.0}) {
    value = expected;
    const std::string text = number.value_text();
    value = 7.0;
    REQUIRE(take(number, text));
    CHECK(value == expected);
    CHECK(std::signbit(value) == std::signbit(expected));
  }
  value = 3.0;
  CHECK(number.value_text() == "3.0");
}

TEST_CASE("texts are quoted and limited to the choices") {
  std::string value = "a\"\\\n\x01";
  ConfigEntry text = entry(&value);
  CHECK(text.value_text() == R"("a\"\\\u000A\u0001")");
  CHECK(take(text, ""));
  CHECK(value.empty());
  text.choices = {"maxout", "dot"};
  CHECK(text.expected() == "one of maxout, dot");
  CHECK(take(text, "dot"));
  CHECK_FALSE(take(text, "Dot"));
  CHECK(value == "dot");
}

TEST_CASE("lists are separated by commas, with or without brackets") {
  std::vector<double> value;
  const ConfigEntry list = entry(&value, {.low = 0});
  CHECK(list.expected() == "a list of numbers, each of at least 0");
  CHECK(take(list, "1,0.5"));
  CHECK(value == std::vector<double>{1.0, 0.5});
  CHECK(list.value_text() == "[1.0, 0.5]");
  CHECK(take(list, " [ 2 , 3 ] "));
  CHECK(value == std::vector<double>{2.0, 3.0});
  for (const char* text : {"1,", ",1", "1;2", "1,-1", "x"}) CHECK_FALSE(take(list, text));
  CHECK(value == std::vector<double>{2.0, 3.0});
  CHECK(take(list, "[]"));
  CHECK(value.empty());
}

TEST_CASE("a number that may be automatic takes auto, and only that one") {
  int64_t whole = 3;
  double number = 0.5;
  ConfigEntry patch = entry(&whole, {.low = 1}), rate = entry(&number, {.low = 0, .high = 1});
  CHECK_FALSE(take(patch, "auto"));
  patch.may_be_automatic = rate.may_be_automatic = true;
  CHECK(patch.expected() == "an integer of at least 1, or auto");
  CHECK_FALSE(patch.is_automatic());
  CHECK((take(patch, "auto") && take(rate, "auto")));
  CHECK((is_automatic(whole) && is_automatic(number)));
  CHECK((patch.value_text() == "\"auto\"" && rate.value_text() == "\"auto\""));
  CHECK_FALSE(take(patch, "automatic"));
  CHECK((take(patch, "2") && take(rate, "0.25")));
  CHECK((whole == 2 && number == 0.25));
  CHECK_FALSE((patch.is_automatic() || rate.is_automatic()));
}

TEST_CASE("a table has lists by name") {
  NamedLists value;
  const ConfigEntry table = entry(&value, {.low = 0});
  CHECK(table.value_text() == "{}");
  CHECK(take(table, "PEMS-SF=0.25,0.5; Libras = 1"));
  CHECK(value == NamedLists{{"PEMS-SF", {0.25, 0.5}}, {"Libras", {1.0}}});
  CHECK(table.value_text() == R"({ "Libras" = [1.0], "PEMS-SF" = [0.25, 0.5] })");
  for (const char* text : {"a", "a=1,b", "a=-1", "1;2"}) CHECK_FALSE(take(table, text));
  CHECK(value.size() == 2);
  CHECK(take(table, ""));
  CHECK(value.empty());
}

TEST_CASE("a value of another type is refused") {
  bool flag = false;
  std::string text;
  CHECK_FALSE(entry(&flag).assign(int64_t{1}));
  CHECK_FALSE(entry(&flag).assign(std::string("true")));
  CHECK_FALSE(entry(&text).assign(1.0));
  CHECK(entry(&flag).assign(true));
  CHECK(flag);
}

TEST_CASE("a key has a type by the variable that it sets") {
  int64_t integer = 0;
  double number = 0.0;
  bool flag = false;
  std::string text;
  std::vector<double> list;
  NamedLists table;
  Rotation rotation = Rotation::z;
  REQUIRE(entry(&integer).type_name() == "integer");
  REQUIRE(entry(&number).type_name() == "number");
  REQUIRE(entry(&flag).type_name() == "boolean");
  REQUIRE(entry(&text).type_name() == "text");
  ConfigEntry chosen = entry(&text);
  chosen.choices = {"a", "b"};
  REQUIRE(chosen.type_name() == "name");
  REQUIRE(entry(NamedTarget::of(&rotation)).type_name() == "name");
  REQUIRE(entry(&list).type_name() == "list");
  REQUIRE(entry(&table).type_name() == "table");
}

}  // namespace geosft::test::test_config_entry
