// SPDX-License-Identifier: Apache-2.0
// Reads labelled pairs of documents as bytes (the retrieval task of the Long Range Arena, on the AAN corpus).
#pragma once

#include <filesystem>

#include "data/packed_items.h"

namespace geosft {

// Reads NAME.train.tsv, NAME.test.tsv and, if present, NAME.eval.tsv from a folder, with lines
// label<TAB>id<TAB>id<TAB>text<TAB>text. An item holds the bytes of both texts: node_categories are the byte and its
// document, 0 or 1. Classes are the labels of the training split, ascending. The files are read line by line, and texts
// are truncated to `max_length` bytes (0: no limit). Each byte of text takes 10 bytes of memory, and up to 16 more
// during the checks. An empty text is read as one blank, with a warning. Throws DataError, naming file and line, for
// malformed lines, and labels that the training split does not have.
PackedItems read_document_pairs(const std::filesystem::path& folder, int64_t max_length = 0);
bool is_document_pairs(const std::filesystem::path& folder);

}  // namespace geosft
