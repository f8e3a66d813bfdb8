// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <catch2/catch.hpp>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <string>

namespace geosft::test {

// Set by a case that is left out; cleared before each case, and counted, by tests/main.cpp.
inline bool case_left_out = false;

// Says what is left out of the tests for want of a program, and which. Where the environment has GEOSFT_REQUIRE_ALL,
// that is a failure.
inline void leave_out(const std::string& reason) {
  if (std::getenv("GEOSFT_REQUIRE_ALL") != nullptr) FAIL("GEOSFT_REQUIRE_ALL: " << reason);
  WARN(reason);
}

// Says that a case is left out for want of what no install brings, a GPU for one: CONTRIBUTING.md lists it. This never
// fails; a program of which all cases are left out ends with 77, which ctest shows as skipped.
inline void leave_out_here(const std::string& reason) {
  case_left_out = true;
  std::cerr << "WARN: left out: " << reason << '\n';
}

// Whether the shell finds `program`; says what is left out where it does not.
inline bool has_program(const std::string& program, const std::string& what) {
  const bool there = std::system(("command -v " + program + " >/dev/null 2>&1").c_str()) == 0;
  if (!there) leave_out("no " + program + ": " + what + " left out");
  return there;
}

// Needed by what looks at pictures.
inline bool has_gnuplot() {
  return has_program("gnuplot", "the pictures are");
}

// Sets a variable of the environment while it lives.
class EnvironmentVariable {
 public:
  EnvironmentVariable(std::string name, const std::string& value) : name_(std::move(name)) {
    if (const char* before = std::getenv(name_.c_str())) before_ = before;
    ::setenv(name_.c_str(), value.c_str(), 1);
  }
  ~EnvironmentVariable() {
    if (before_) {
      ::setenv(name_.c_str(), before_->c_str(), 1);
    } else {
      ::unsetenv(name_.c_str());
    }
  }
  EnvironmentVariable(const EnvironmentVariable&) = delete;
  EnvironmentVariable& operator=(const EnvironmentVariable&) = delete;

 private:
  std::string name_;
  std::optional<std::string> before_;
};

}  // namespace geosft::test
