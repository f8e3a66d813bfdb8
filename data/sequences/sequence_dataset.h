// SPDX-License-Identifier: Apache-2.0
// Sequences for training. A sequence is a graph without edges whose nodes stand in their order, so that loaders, folds,
// checks, evaluation and checkpoints serve both.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "data/packed_items.h"
#include "data/sequences/ts_file.h"

namespace geosft {

// Reads a set by what lies in `folder`: NAME_TRAIN.ts and NAME_TEST.ts (the UEA and UCR archives), ListOps (listops.h),
// texts (byte_texts.h), pairs of documents (document_pairs.h), images (idx_images.h, cifar_images.h, pathfinder.h).
// Of texts only the first `max_length` bytes are held, where it is not 0. Throws DataError when nothing fits, listing
// what was looked for, and when anything is broken.
PackedItems open_sequence_dataset(const std::filesystem::path& folder, int64_t max_length = 0);

// Whether `folder` is one of these.
bool is_sequence_dataset(const std::filesystem::path& folder);

// Series as sequences of numbers. Both files have the same dimensions and classes. Missing values lie on the line
// between those around them in their series and dimension, or are the nearest one at its ends; 0 where all are missing.
PackedItems packed_series(const TsFile& train, const TsFile& test);

// The first `max_length` >= 1 steps of every sequence, or of each of its documents; images are no grids any more.
PackedItems truncated(const PackedItems& sequences, int64_t max_length);

// The items begin … end - 1.
std::vector<int64_t> item_range(int64_t begin, int64_t end);

// Bytes as categories, uint8 [bytes.size() / columns, columns]; they are not copied.
at::Tensor byte_categories(std::vector<uint8_t> bytes, int64_t columns);

// Sequences of so many steps (ptr int64 [B + 1]) with their classes, which what the steps hold is still to be added to.
PackedItems packed_sequences(const at::Tensor& ptr, const at::Tensor& labels, std::vector<std::string> class_names);

}  // namespace geosft
