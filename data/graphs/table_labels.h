// SPDX-License-Identifier: Apache-2.0
// Finds the labels and the split of the rows of a table of molecules: columns of SMILES files, or keys of XYZ comments.
#pragma once

#include <ATen/ATen.h>

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "data/graphs/graph_cache.h"
#include "data/graphs/smiles.h"
#include "data/packed_items.h"

namespace geosft {

// Targets of the rows of a table that are kept, and what they mean.
struct TableLabels {
  GraphTask task = GraphTask::multi_label;
  std::vector<std::string> names;
  std::vector<int64_t> rows;       // of the table
  at::Tensor target;               // of these rows, as in PackedItems
  std::vector<float> values = {};  // ItemSchema::label_values
  std::string note;                // which columns were read as what, and which were left out
};

// Returns the labels of a table. `smiles`: the column that has the molecules, which is no label; nothing if they are
// elsewhere.
//
// Labels are the columns that options.label_columns names. Without names they are all other columns of numbers, except
// for a running index, a constant, and columns that their names tell from labels: "id", "index", "identifier", "date",
// "split", "comment" and those that end in "_id", or as "MolID" does. The note lists what was left out, and why. true
// and false are 1 and 0. Empty fields, nan, na, n/a, #n/a, none, null and - are unknown labels, of which a row may have
// any number.
//   all columns have two values    multi_label: the larger one is 1, which label_values of the schema say
//   all have more, or a mixture    regression; a mixture only of columns that the options name
//   one named column of texts      classification; rows without a class are left out, those of unknown labels
//
// The labels are the outputs of options.known if it is there, whatever other columns there are, and every label is
// unknown where their column is absent. One class of texts has one of its names, and a column of numbers those that it
// was trained on. If these are 0 and 1, or unknown, two others stand for them, of which the column has both.
//
// Throws DataError, naming file and line: no such column, no label, labels of both kinds that nobody named, texts among
// numbers, in a column that nobody named, too, if at least four fifths of its known fields resemble numbers.
TableLabels table_labels(const TextTable& table, std::optional<size_t> smiles, const GraphReadOptions& options);

// Returns the split of the `kept` rows, ascending, which become items 0, 1, …: that of the lists in `folder`
// (train.csv, valid.csv and test.csv, plain or .gz, of row numbers from 0, as in OGB's split/), or, where this is
// empty, of a column "split" of train (or training), valid (validation, val, dev) and test (testing). Returns nothing
// if there is none, with a warning where some rows have these words. Throws DataError as read_split.
std::optional<DatasetSplit> table_split(const TextTable& table, const std::vector<int64_t>& kept,
                                        const std::filesystem::path& folder, std::vector<std::string>& warnings);

// Loads a dataset with such labels from the cache of `options`, or makes and stores it. `id` and `key` are those of
// GraphCache without the options that table_labels and table_split take.
PackedItems cached_with_labels(const GraphReadOptions& options, std::string id, std::string key,
                               const std::function<PackedItems()>& make);

}  // namespace geosft
