// SPDX-License-Identifier: Apache-2.0
// Pairs of documents with a class each, byte by byte (retrieval of the Long Range Arena, whose pairs are of the AAN
// corpus).
#pragma once

#include <filesystem>

#include "data/packed_items.h"

namespace geosft {

// NAME.train.tsv and NAME.test.tsv of a folder, and NAME.eval.tsv where it is there, lines
// label<TAB>id<TAB>id<TAB>text<TAB>text. An item is the bytes of both texts: node_categories are a byte and the
// document it is of, 0 or 1. Classes are the labels of the training split, ascending. The files are read line by line,
// and of a text only the first `max_length` bytes are held, where it is not 0: 10 bytes for each of them, and up to 16
// more while they are checked. Throws DataError naming file and line for lines of another form, empty texts, and labels
// that the training split does not have.
PackedItems read_document_pairs(const std::filesystem::path& folder, int64_t max_length = 0);
bool is_document_pairs(const std::filesystem::path& folder);

}  // namespace geosft
