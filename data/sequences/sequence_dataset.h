// SPDX-License-Identifier: Apache-2.0
// Opens datasets of sequences. A sequence is a graph without edges whose nodes are ordered, so that loaders, folds,
// checks, evaluation and checkpoints handle both.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "data/packed_items.h"
#include "data/sequences/ts_file.h"

namespace geosft {

// Detects the format of `folder`: NAME_TRAIN.ts and NAME_TEST.ts (the UEA and UCR archives), ListOps (listops.h), texts
// (byte_texts.h), pairs of documents (document_pairs.h), images (idx_images.h, cifar_images.h, pathfinder.h). Texts are
// truncated to `max_length` bytes (0: no limit). Throws DataError for an unknown format, listing the known ones, and
// for broken data.
PackedItems open_sequence_dataset(const std::filesystem::path& folder, int64_t max_length = 0);

// Returns whether `folder` is one of these.
bool is_sequence_dataset(const std::filesystem::path& folder);

// Converts time series to sequences of numbers. Both files have the same dimensions and classes. Missing values are
// linearly interpolated per series and dimension, extrapolated with the nearest value at the ends, and 0 if all are
// missing.
PackedItems packed_series(const TsFile& train, const TsFile& test);

// Truncates every sequence, or each of its documents, to `max_length` >= 1 steps; images lose their grid.
PackedItems truncated(const PackedItems& sequences, int64_t max_length);

// Returns the items begin … end - 1.
std::vector<int64_t> item_range(int64_t begin, int64_t end);

// Converts bytes to categories, uint8 [bytes.size() / columns, columns], without copying.
at::Tensor byte_categories(std::vector<uint8_t> bytes, int64_t columns);

// Creates labelled sequences with the offsets `ptr`, int64 [B + 1]; the caller adds the features of the steps.
PackedItems packed_sequences(const at::Tensor& ptr, const at::Tensor& labels, std::vector<std::string> class_names);

}  // namespace geosft
