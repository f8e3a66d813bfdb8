// SPDX-License-Identifier: Apache-2.0
// Finds the files and programs that tests use, in this checkout and its build. One source alone is compiled with
// those folders: all others are the same in every checkout, where a compiler cache then finds them.
#pragma once

#include <string>

namespace geosft::test {

// A file or folder of the checkout, by its path below the root ("" is the root).
std::string source_path(const std::string& path);
// A file or folder of tests/fixtures.
std::string fixture_path(const std::string& path);
// A program of the build that the test belongs to, such as geosft-classify.
std::string program_path(const std::string& name);
// The library that keeps a program from its main (tests/tools/experiment/wait_before_main.cpp); empty in a build with
// sanitizers, which has none.
std::string waits_before_main();

}  // namespace geosft::test
