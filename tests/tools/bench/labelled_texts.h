// SPDX-License-Identifier: Apache-2.0
// Texts in which one letter tells the label.
#pragma once

#include <filesystem>
#include <string>

#include "tests/data/files.h"

namespace geosft::bench::test {

inline void write_labelled_texts(const std::filesystem::path& file, int lines) {
  std::string text;
  for (int i = 0; i < lines; ++i) {
    const bool one = i % 2 == 1;
    text += (one ? "1\t" : "0\t") + std::to_string(i) + "\t";
    for (int word = 0; word < 6; ++word) text += one ? "it was a good one " : "it was a poor one ";
    text += "\n";
  }
  geosft::test::write_text(file, text);
}

}  // namespace geosft::bench::test
