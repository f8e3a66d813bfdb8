// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/target.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace geosft::fuzz {
namespace {

constexpr char separator = '\x1e';

std::vector<Target>& known() {
  static std::vector<Target> all;
  return all;
}

}  // namespace

Registration::Registration(const Target& target) {
  known().push_back(target);
}

const std::vector<Target>& targets() {
  std::sort(known().begin(), known().end(),
            [](const Target& a, const Target& b) { return std::string_view(a.name) < b.name; });
  return known();
}

void forget_cache() {
  ::unsetenv("XDG_CACHE_HOME");
  ::unsetenv("HOME");
}

const std::filesystem::path& InputFolder::fill(const std::string& input) const {
  size_t begin = 0;
  for (const std::string& name : names_) {
    if (begin > input.size()) {
      std::filesystem::remove(folder_ / name);
      continue;
    }
    const size_t end = std::min(input.find(separator, begin), input.size());
    test::write_text(folder_ / name, input.substr(begin, end - begin));
    begin = end + 1;
  }
  return folder_.path();
}

std::string joined(const Inputs& files) {
  std::string input;
  for (const std::string& file : files) input += (input.empty() ? "" : std::string(1, separator)) + file;
  return input;
}

}  // namespace geosft::fuzz
