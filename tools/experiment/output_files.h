// SPDX-License-Identifier: Apache-2.0
// Where the output of each of several files goes.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace geosft {

// Why a file of that name cannot be written, as far as its folder tells; empty where it can. What a check of CLI11
// returns: a long computation should not end in it.
std::string unwritable(const std::string& file);

// An option that leaves something of every file. Of one file it names what is left; of several it names a folder, which
// is made, and each leaves STEM + `extension` in it.
class OutputFiles {
 public:
  // `wanted` is what the option was given; empty: nothing is left. Throws UsageError, which names `option`, where one
  // output would replace another one or one of the files, and where no folder can be made.
  OutputFiles(const std::string& option, const std::string& wanted, const std::vector<std::string>& files,
              const std::string& extension);
  bool wanted() const { return !paths_.empty(); }
  const std::filesystem::path& operator[](size_t file) const { return paths_.at(file); }

 private:
  std::vector<std::filesystem::path> paths_;
};

}  // namespace geosft
