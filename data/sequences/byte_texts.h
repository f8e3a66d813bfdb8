// SPDX-License-Identifier: Apache-2.0
// Reads labelled texts as sequences of bytes (byte-level text classification of the Long Range Arena).
#pragma once

#include <filesystem>

#include "data/packed_items.h"

namespace geosft {

// Reads a folder in one of two formats, with splits train and test; bytes are categories 0 … 255:
//   aclImdb   train/CLASS/*.txt and test/CLASS/*.txt, one text per file, in order of file names
//   tables    NAME_train.tsv and NAME_test.tsv, lines label<TAB>id<TAB>text
// Texts are truncated to `max_length` bytes (0: no limit). Classes are sorted by name. An empty text of a table is
// read as one blank, with a warning. Throws DataError, naming file and line, for malformed lines, empty files, and
// classes that occur only in the test split.
PackedItems read_byte_texts(const std::filesystem::path& folder, int64_t max_length = 0);
bool is_byte_texts(const std::filesystem::path& folder);

}  // namespace geosft
