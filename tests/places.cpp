// SPDX-License-Identifier: Apache-2.0
#include "tests/places.h"

namespace geosft::test {

std::string source_path(const std::string& path) {
  return std::string(GEOSFT_SOURCE_DIR) + (path.empty() ? "" : "/") + path;
}

std::string fixture_path(const std::string& path) {
  return source_path("tests/fixtures/" + path);
}

std::string program_path(const std::string& name) {
  return std::string(GEOSFT_PROGRAMS) + "/" + name;
}

std::string waits_before_main() {
  return GEOSFT_WAIT_BEFORE_MAIN;
}

}  // namespace geosft::test
