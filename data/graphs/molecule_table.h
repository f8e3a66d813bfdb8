// SPDX-License-Identifier: Apache-2.0
// Reads a CSV table with a column of SMILES and columns of labels as a dataset of molecules.
#pragma once

#include <filesystem>

#include "data/graphs/graph_cache.h"
#include "data/packed_items.h"

namespace geosft {

// Returns whether `file` is a CSV table with a column of SMILES: one that the options name, or one that
// find_smiles_column finds in its first rows.
bool is_molecule_table(const std::filesystem::path& file, const GraphReadOptions& options = {});

// Reads molecules with the features of molecule_features.h. Rows with an invalid SMILES are left out, and `warnings`
// lists them; the first warning says which columns were read as what.
//
// Labels are the columns that the options name. Without names they are all other columns of numbers, except for a
// running index, a constant, and columns that their names tell from labels: "id", "index", "identifier", "date",
// "split" and those that end in "_id", or as "MolID" does. The first warning lists what was left out, and why. true and
// false are 1 and 0. Empty fields, nan, na, n/a, #n/a, none, null and - are unknown labels, of which a row may have any
// number.
//   all columns have two values    multi_label: the larger one is 1, which label_values of the schema say
//   all have more, or a mixture    regression; a mixture only of columns that the options name
//   one named column of texts      classification; rows without a class are left out, those of unknown labels
//
// The labels are the outputs of options.known if it is there, whatever other columns there are, and every label is
// unknown where their column is absent. One class of texts has one of its names, and a column of numbers those that it
// was trained on. If these are 0 and 1, or unknown, two others stand for them, of which the column has both.
//
// The split is that of the lists in options.split_folder (train.csv, valid.csv and test.csv, plain or .gz, of row
// numbers from 0, as in OGB's split/), else that of a column "split" of train (or training), valid (validation, val,
// dev) and test (testing); else there is none, and a warning where some rows have these words. The result is cached,
// keyed by the contents of the files and RDKit's version. Throws DataError, naming file and line: no such column, no
// label, labels of both kinds that nobody named, texts among numbers, in a column that nobody named, too, if at least
// four fifths of its known fields resemble numbers.
PackedItems read_molecule_table(const std::filesystem::path& file, const GraphReadOptions& options = {});

}  // namespace geosft
