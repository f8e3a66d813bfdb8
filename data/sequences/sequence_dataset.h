// SPDX-License-Identifier: Apache-2.0
// Opens datasets of sequences. A sequence is a graph without edges whose nodes are ordered, so that loaders, folds,
// checks, evaluation and checkpoints handle both.
#pragma once

#include <ATen/ATen.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "data/packed_items.h"

namespace geosft {

class TextLines;

// Reads time series in the .ts format of the UEA and UCR archives and of the Monash, UEA & UCR regression archive.
struct TsFile {
  std::string file;                  // for messages
  std::vector<std::string> classes;  // in the order of @classLabel
  at::Tensor values;                 // float32 [total length, dimensions]; NaN for "?" or "NaN" in the file
  at::Tensor ptr;                    // int64 [B + 1], offsets of the series
  at::Tensor labels;   // int64 [B], indices into `classes`, -1 for "?"; undefined without @classLabel true
  at::Tensor targets;  // float32 [B], NaN if missing; defined with @targetLabel true (regression)

  int64_t size() const { return ptr.size(0) - 1; }
  int64_t dimensions() const { return values.size(1); }
};

// Reads series with one or more dimensions and any lengths; all dimensions of a series have the same length. Lines that
// begin with # or % are comments. Throws DataError, naming file and line: time stamps (unsupported), neither
// @classLabel nor @targetLabel or both with true, unknown keywords, non-numeric words, missing values despite @missing
// false, dimensions, lengths or classes that differ from the header, files without series.
TsFile read_ts_file(const std::filesystem::path& file);

// Detects the format of `folder`: NAME_TRAIN and NAME_TEST.ts, .tsv or .arff (the UEA and UCR archives), ListOps
// (listops.h), texts, pairs of documents, images (of MNIST and CIFAR-10, and pathfinder.h), folders of pictures
// (picture_folders.h). Texts are truncated to
// `max_length` bytes (0: no limit). Throws DataError for an unknown format, listing the known ones, and for broken
// data.
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
// Returns whether the name of a file has one of these endings, in any letter case.
bool has_series_ending(const std::filesystem::path& file);

// Reads a text for prediction, a file *.txt, as one sequence of bytes without a target. Throws DataError for an empty
// file.
PackedItems read_unlabelled_text(const std::filesystem::path& file);
bool has_text_ending(const std::filesystem::path& file);

// Parses a number of a series. Throws DataError for what is no number, and for a magnitude beyond 1e30: most often a
// mark of missing values, whose square is no float32.
float series_number(const TextLines& lines, std::string_view word, const char* what);

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

// Reads time series in Weka's ARFF, as the UEA and UCR archives publish them.

// Reads one series per line below @data, plain or .gz. Series of one dimension are numeric attributes in temporal
// order. Series of several are one relational attribute, a quoted text whose rows, separated by "\n", are the
// dimensions. The last attribute may be nominal: it is the class, and its order counts. Missing values are "?"; those
// at the end of all dimensions of a series are padding and left out. Throws DataError, naming file and line: attributes
// of other types and in other orders, sparse rows, another number of values than attributes, non-numeric words, unknown
// classes, another number of dimensions, files without series.
TsFile read_arff_file(const std::filesystem::path& file);

// Reads labelled time series of one dimension in the table form of the UCR archive (*.tsv).

// Reads one series per line: its class, a whole number, and its values, separated by blanks or commas. NaN is a missing
// value; at the end of a line it is padding and left out. The classes are the distinct numbers in ascending order.
// Throws DataError, naming file and line: words that are not numbers, lines without values, files without series.
TsFile read_ucr_table(const std::filesystem::path& file);

// Reads labelled texts as sequences of bytes (byte-level text classification of the Long Range Arena).

// Reads a folder in one of two formats, with splits train and test; bytes are categories 0 … 255:
//   aclImdb   train/CLASS/*.txt and test/CLASS/*.txt, one text per file, in order of file names
//   tables    NAME_train.tsv and NAME_test.tsv, lines label<TAB>id<TAB>text
// Texts are truncated to `max_length` bytes (0: no limit). Classes are sorted by name. An empty text of a table is
// read as one blank, with a warning. Throws DataError, naming file and line, for malformed lines, empty files, and
// classes that occur only in the test split.
PackedItems read_byte_texts(const std::filesystem::path& folder, int64_t max_length = 0);
bool is_byte_texts(const std::filesystem::path& folder);

// Reads labelled pairs of documents as bytes (the retrieval task of the Long Range Arena, on the AAN corpus).

// Reads NAME.train.tsv, NAME.test.tsv and, if present, NAME.eval.tsv from a folder, with lines
// label<TAB>id<TAB>id<TAB>text<TAB>text. An item holds the bytes of both texts: node_categories are the byte and its
// document, 0 or 1. Classes are the labels of the training split, ascending. The files are read line by line, and texts
// are truncated to `max_length` bytes (0: no limit). Each byte of text takes 10 bytes of memory, and up to 16 more
// during the checks. An empty text is read as one blank, with a warning. Throws DataError, naming file and line, for
// malformed lines, and labels that the training split does not have.
PackedItems read_document_pairs(const std::filesystem::path& folder, int64_t max_length = 0);
bool is_document_pairs(const std::filesystem::path& folder);

// Reads grey images in the idx format of MNIST as sequences of pixels.

// Reads train-images-idx3-ubyte, train-labels-idx1-ubyte and the same for "test" or "t10k" from a folder, each plain or
// .gz. Pixels are in row-major order, one value each from 0 to 1; classes are "0", "1", … up to the largest label of
// the training split. Throws DataError, naming the file, for a wrong magic number, inconsistent sizes, and labels that
// the training split does not have.
PackedItems read_idx_images(const std::filesystem::path& folder);
bool is_idx_images(const std::filesystem::path& folder);

// Reads the binary format of CIFAR-10 as sequences of grey pixels (the image task of the Long Range Arena).

// Reads data_batch_1.bin, data_batch_2.bin, … and test_batch.bin from a folder: records of a label and 3 x 32 x 32
// bytes, red, green, blue. Pixels are in row-major order, with the value 0.299 red + 0.587 green + 0.114 blue, scaled
// to 0 … 1. Classes are the lines of batches.meta.txt if it exists, otherwise "0" … "9". Throws DataError, naming the
// file, for incomplete records and labels above 9.
PackedItems read_cifar_images(const std::filesystem::path& folder);
bool is_cifar_images(const std::filesystem::path& folder);

// Groups the steps of sequences, or the pixels of images, into patches: fewer and larger tokens.

// Converts images whose nodes are pixels (grid_height x grid_width, only node_values) to one node per side x side
// patch, in row-major order, with the pixel values of the patch concatenated. A linear layer on them is a convolution
// with kernel and stride `side`. side >= 1 must divide both sizes.
PackedItems image_patches(const PackedItems& images, int64_t side);

// Converts series (only node_values, no edges) to one node per `steps` >= 1 steps, with their values concatenated. If
// the length is not a multiple of `steps`, the last step is repeated.
PackedItems series_patches(const PackedItems& series, int64_t steps);

}  // namespace geosft
