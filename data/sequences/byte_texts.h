// SPDX-License-Identifier: Apache-2.0
// Texts as sequences of bytes with a class each (byte-level classification of the Long Range Arena).
#pragma once

#include <filesystem>

#include "data/packed_items.h"

namespace geosft {

// A folder in one of two forms, whose splits train and test are those of the result; bytes are categories
// 0 … 255:
//   aclImdb   train/CLASS/*.txt and test/CLASS/*.txt, a text a file, in the order of their names
//   tables    NAME_train.tsv and NAME_test.tsv, lines label<TAB>id<TAB>text
// Of a text only the first `max_length` bytes are held, where it is not 0. Classes are in ascending order of their
// names. Throws DataError naming file and line for lines of another form, empty texts, and classes of the test split
// that the training split does not have.
PackedItems read_byte_texts(const std::filesystem::path& folder, int64_t max_length = 0);
bool is_byte_texts(const std::filesystem::path& folder);

}  // namespace geosft
