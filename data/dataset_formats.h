// SPDX-License-Identifier: Apache-2.0
// Implements a registry of dataset formats: one table per kind of dataset, used to open a dataset and to word its error
// messages.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace geosft {

// `Reader` is the type of the function that reads a dataset of this kind.
template <class Reader>
struct DatasetFormat {
  std::string name;   // shown in messages
  std::string files;  // the files that identify it, shown in messages
  bool (*recognizes)(const std::filesystem::path& source);
  Reader* read;
};

// Returns the first format, a DatasetFormat or derived from it, that recognizes `source`, or nullptr if none does.
template <class Format>
const Format* find_format(const std::vector<Format>& formats, const std::filesystem::path& source) {
  for (const Format& format : formats) {
    if (format.recognizes(source)) return &format;
  }
  return nullptr;
}

// Returns "FILES (NAME), FILES (NAME), or FILES (NAME)".
template <class Format>
std::string formats_text(const std::vector<Format>& formats) {
  std::string text;
  for (size_t i = 0; i < formats.size(); ++i) {
    if (i > 0) text += i + 1 == formats.size() ? ", or " : ", ";
    text += formats[i].files + " (" + formats[i].name + ")";
  }
  return text;
}

}  // namespace geosft
