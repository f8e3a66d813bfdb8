// SPDX-License-Identifier: Apache-2.0
// A registry of dataset formats: each kind of dataset has one table, which opening a set and its error messages read.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace geosft {

// `Reader` is the type of the function that reads a set of this kind.
template <class Reader>
struct DatasetFormat {
  std::string name;   // as messages call it
  std::string files;  // what it is recognised by, for messages
  bool (*recognizes)(const std::filesystem::path& source);
  Reader* read;
};

// The first format that recognizes `source`; nullptr when none does.
template <class Reader>
const DatasetFormat<Reader>* find_format(const std::vector<DatasetFormat<Reader>>& formats,
                                         const std::filesystem::path& source) {
  for (const DatasetFormat<Reader>& format : formats) {
    if (format.recognizes(source)) return &format;
  }
  return nullptr;
}

// "FILES (NAME), FILES (NAME), or FILES (NAME)".
template <class Reader>
std::string formats_text(const std::vector<DatasetFormat<Reader>>& formats) {
  std::string text;
  for (size_t i = 0; i < formats.size(); ++i) {
    if (i > 0) text += i + 1 == formats.size() ? ", or " : ", ";
    text += formats[i].files + " (" + formats[i].name + ")";
  }
  return text;
}

}  // namespace geosft
