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

// Detects the format of `folder`: NAME_TRAIN and NAME_TEST.ts, .tsv or .arff (the UEA and UCR archives), ListOps
// (listops.h), texts (byte_texts.h), pairs of documents (document_pairs.h), images (idx_images.h, cifar_images.h,
// pathfinder.h). Texts are truncated to `max_length` bytes (0: no limit). Throws DataError for an unknown format,
// listing the known ones, and for broken data.
PackedItems open_sequence_dataset(const std::filesystem::path& folder, int64_t max_length = 0);

// Returns whether `folder` is one of these.
bool is_sequence_dataset(const std::filesystem::path& folder);

// Lists the formats with the files that identify them, for messages.
std::string sequence_formats_text();

// Returns the NAME of NAME_TRAIN.ts or NAME_TRAIN.tsv in `folder`; empty if there is no such file or several.
std::string series_name(const std::filesystem::path& folder);

// Reads a file of series for prediction, whose classes or targets are ignored and may be absent: *.ts, *.arff, or *.tsv
// in the form of UCR. The result has no target. Throws DataError for other endings, listing these, and for broken data.
PackedItems read_unlabelled_series(const std::filesystem::path& file);

// Returns the warning that `count` empty texts were read as one blank each.
std::string empty_texts_warning(const std::filesystem::path& folder, int64_t count);

// Converts time series to sequences of numbers, with classes or with a target, named "target" (regression). Both files
// have the same dimensions; the classes of the test series are among those of the training file, whose order counts.
// Missing values are linearly interpolated per series and dimension, extrapolated with the nearest value at the ends,
// and 0 if all are missing.
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
