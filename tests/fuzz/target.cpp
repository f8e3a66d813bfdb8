// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/target.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
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

// Folders that are empty then, too: a reader may tell forms apart by them.
void InputFolder::leave_out(const std::string& name) const {
  std::filesystem::path file = folder_ / name;
  std::filesystem::remove(file);
  for (file = file.parent_path(); file != folder_.path(); file = file.parent_path()) {
    if (!std::filesystem::exists(file)) continue;
    if (!std::filesystem::is_empty(file)) return;
    std::filesystem::remove(file);
  }
}

const std::filesystem::path& InputFolder::fill(const std::string& input) const {
  size_t begin = 0;
  for (const std::string& name : names_) {
    if (begin > input.size()) {
      leave_out(name);
      continue;
    }
    const size_t end = std::min(input.find(separator, begin), input.size());
    test::write_text(folder_ / name, input.substr(begin, end - begin));
    begin = end + 1;
  }
  return folder_.path();
}

std::function<void(const std::string&)> of_folder(std::vector<std::string> names, PathReader read) {
  // The folder is made when the first input is read: targets are registered before main.
  return [names = std::move(names), read = std::move(read),
          folder = std::shared_ptr<const InputFolder>()](const std::string& input) mutable {
    if (folder == nullptr) folder = std::make_shared<const InputFolder>(names);
    read(folder->fill(input));
  };
}

std::function<void(const std::string&)> of_file(const std::string& name, PathReader read) {
  return of_folder({name}, [name, read = std::move(read)](const auto& folder) { read(folder / name); });
}

std::string joined(const Inputs& files) {
  std::string input;
  for (const std::string& file : files) input += (input.empty() ? "" : std::string(1, separator)) + file;
  return input;
}

}  // namespace geosft::fuzz
