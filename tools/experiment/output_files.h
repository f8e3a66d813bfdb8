// SPDX-License-Identifier: Apache-2.0
// Derives output paths from input files.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace geosft {

// Returns why the file cannot be written, judged by its folder; empty if it can. Used as a check of CLI11, so that a
// long computation does not fail at its end.
std::string unwritable(const std::string& file);

// An option with one output per input file. For one input it names the output file; for several it names a folder,
// which is created and holds STEM + `extension` per input; where two files have one STEM, below the folders that they
// have below the deepest folder of all, and in one folder by the names with their extensions.
class OutputFiles {
 public:
  // `option_value` is that of `option`; empty: no outputs. `several`: it names a folder even for one file. Throws
  // UsageError naming `option` if an output would replace another one or an input, and if the folder cannot be created.
  OutputFiles(const std::string& option, const std::string& option_value, const std::vector<std::string>& files,
              const std::string& extension, bool several = false);
  bool requested() const { return !paths_.empty(); }
  const std::filesystem::path& operator[](size_t file) const { return paths_.at(file); }

 private:
  std::vector<std::filesystem::path> paths_;
};

}  // namespace geosft
