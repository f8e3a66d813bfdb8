// SPDX-License-Identifier: Apache-2.0
// The readers that are fed with hostile input: by fuzzer.cpp without end, by test_targets.cpp with a few thousand
// inputs.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "data/data_error.h"
#include "tests/data/files.h"

namespace geosft::fuzz {

using Inputs = std::vector<std::string>;

struct Target {
  const char* name;
  // Reads an input. Refuses it with a DataError; whatever else happens is a finding.
  std::function<void(const std::string& input)> read;
  // Inputs that are accepted, to begin with.
  Inputs (*seeds)();
};

// All of them, by name.
const std::vector<Target>& targets();

// From now on sets are read, and not taken from the user's cache, where nothing is kept either.
void forget_cache();

// Makes a target known: one at the end of every file of targets/.
struct Registration {
  explicit Registration(const Target& target);
};

// A folder that an input is unpacked into: what lies between bytes 1E becomes one file after the other.
class InputFolder {
 public:
  explicit InputFolder(std::vector<std::string> names) : names_(std::move(names)) {}
  // The folder with the input's files alone; those that the input ends before are absent.
  const std::filesystem::path& fill(const std::string& input) const;
  std::filesystem::path operator/(const std::string& name) const { return folder_ / name; }

 private:
  void leave_out(const std::string& name) const;

  test::TemporaryFolder folder_;
  std::vector<std::string> names_;
};

using PathReader = std::function<void(const std::filesystem::path&)>;

// Returns a function that unpacks an input to a folder of these files (see InputFolder) and reads that with `read`.
std::function<void(const std::string&)> of_folder(std::vector<std::string> names, PathReader read);

// Returns a function that writes an input to a file of this name and reads that with `read`.
std::function<void(const std::string&)> of_file(const std::string& name, PathReader read);

// The input that is unpacked to these files.
std::string joined(const Inputs& files);

// The bytes of a file that `write` makes.
template <class Write>
std::string bytes_of_file(const Write& write) {
  const test::TemporaryFolder folder;
  write(folder / "file");
  return test::read_text(folder / "file");
}

}  // namespace geosft::fuzz
