// SPDX-License-Identifier: Apache-2.0
#include "data/data_error.h"

#include <catch2/catch.hpp>

namespace geosft::test::test_broken_files {

TEST_CASE("one broken file has its own message, several share one line") {
  REQUIRE(std::string(BrokenFiles({"a.off: expected a mesh, found none"}).what()) ==
          "a.off: expected a mesh, found none");
  REQUIRE(std::string(BrokenFiles({"a", "b", "c"}).what()) == "3 broken files: a; b; c");
}

TEST_CASE("at most 20 broken files are named, the others counted") {
  std::vector<std::string> messages;
  for (int i = 1; i <= 20; ++i) messages.push_back(std::to_string(i));
  const std::string twenty = BrokenFiles(messages).what();
  REQUIRE(twenty.ends_with("; 19; 20"));
  messages.insert(messages.end(), {"21", "22", "23"});
  REQUIRE(std::string(BrokenFiles(messages).what()) == "23" + twenty.substr(2) + "; and 3 more");
}

TEST_CASE("the errors of all steps are joined, those that are no data's end them") {
  int reached = 0;
  const auto fine = [&] { ++reached; };
  throw_all_broken(fine, fine);
  REQUIRE(reached == 2);
  const auto one = [] { throw DataError("a", "x", "y"); };
  const auto two = [] { throw BrokenFiles({"b", "c"}); };
  try {
    throw_all_broken(two, fine, one, two);
    FAIL("no error");
  } catch (const BrokenFiles& broken) {
    REQUIRE(broken.messages() == std::vector<std::string>{"b", "c", "a: expected x, found y"});
  }
  REQUIRE(reached == 3);
  try {
    throw_all_broken(one, fine);
    FAIL("no error");
  } catch (const DataError& error) {
    REQUIRE(std::string(error.what()) == "a: expected x, found y");
  }
  REQUIRE(reached == 3);
  REQUIRE_THROWS_AS(throw_all_broken([] { throw std::out_of_range("x"); }), std::out_of_range);
}

}  // namespace geosft::test::test_broken_files
