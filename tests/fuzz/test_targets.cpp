// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <random>

#include "data/cache_folder.h"
#include "tests/environment.h"
#include "tests/fuzz/target.h"
#include "tests/places.h"

namespace geosft::fuzz::test_targets {

namespace {

// A result or a DataError; what else is thrown fails the test.
void require_answer(const Target& target, const std::string& input) {
  std::string refused;
  try {
    target.read(input);
  } catch (const DataError& error) {
    refused = error.what();
  } catch (const std::exception& error) {
    FAIL(target.name << " answers with another error: " << error.what());
  }
  REQUIRE((refused.empty() || refused.find(": expected ") != std::string::npos));
}

// Shortened, or with some bytes replaced.
std::string damaged(std::string input, std::mt19937& random) {
  if (input.empty()) return input;
  if (random() % 4 == 0) return input.substr(0, random() % input.size());
  for (uint32_t changes = 1 + random() % 4; changes > 0; --changes) {
    input[random() % input.size()] = static_cast<char>(random() % 2 == 0 ? random() : "019-,. \n"[random() % 8]);
  }
  return input;
}

}  // namespace

TEST_CASE("every reader takes its seeds, and answers damaged ones with a result or a DataError") {
  forget_cache();
  REQUIRE(targets().size() > 30);
  for (const Target& target : targets()) {
    DYNAMIC_SECTION(target.name) {
      const Inputs seeds = target.seeds();
      REQUIRE_FALSE(seeds.empty());
      std::mt19937 random(1);
      for (const std::string& seed : seeds) {
        REQUIRE_NOTHROW(target.read(seed));
        for (int i = 0; i < 50; ++i) require_answer(target, damaged(seed, random));
      }
    }
  }
}

TEST_CASE("what a shorter input ends before is absent, its folder too") {
  const InputFolder folder({"list", "points/a", "points/b"});
  folder.fill(joined({"1", "2", "3"}));
  CHECK(std::filesystem::exists(folder / "points/b"));
  folder.fill(joined({"1", "2"}));
  CHECK(std::filesystem::exists(folder / "points/a"));
  CHECK_FALSE(std::filesystem::exists(folder / "points/b"));
  folder.fill("1");
  CHECK(std::filesystem::exists(folder / "list"));
  CHECK_FALSE(std::filesystem::exists(folder / "points"));
}

TEST_CASE("targets read their inputs, and neither take them from the user's cache nor keep them there") {
  const test::TemporaryFolder folder;
  const test::EnvironmentVariable home("HOME", folder.path().string()), cache("XDG_CACHE_HOME", folder.path().string());
  REQUIRE(default_cache_folder() == folder / "geosft");
  forget_cache();
  for (const Target& target : targets()) {
    for (const std::string& seed : target.seeds()) target.read(seed);
  }
  CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("what a fuzzer has found is answered") {
  forget_cache();
  int answered = 0;
  for (const Target& target : targets()) {
    const std::filesystem::path folder = test::source_path("tests/fuzz/findings/" + std::string(target.name));
    if (!std::filesystem::is_directory(folder)) continue;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      INFO(entry.path());
      require_answer(target, test::read_text(entry.path()));
      ++answered;
    }
  }
  CHECK(answered > 0);
}

}  // namespace geosft::fuzz::test_targets
