// SPDX-License-Identifier: Apache-2.0
// Opens graph datasets: of any supported format, and of each one.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "data/graphs/graph_cache.h"
#include "data/packed_items.h"

namespace geosft {

// Detects the format of `source`: a file of packed graphs (packed_graphs_file.h), a CSV table of molecules
// (molecule_table.h), an XYZ file of several molecules, or a folder with Peptides-func or -struct, the raw format of
// the Open Graph Benchmark, QM7, QM9, or the text format of TU Dortmund. Throws DataError for an unknown format,
// listing the known ones, for broken data, and for a named split if the dataset has no named splits.
PackedItems open_graph_dataset(const std::filesystem::path& source, const GraphReadOptions& options = {});

// Returns whether options.label_columns may name the labels of `source`: a CSV table of molecules, an XYZ file or QM9.
bool has_label_columns(const std::filesystem::path& source, const GraphReadOptions& options);

// Returns whether `folder` is a folder in one of these formats; lists them with the files that identify them.
bool is_graph_dataset(const std::filesystem::path& folder);
std::string graph_formats_text();

// Reads datasets in the raw format of the Open Graph Benchmark (Hu et al., 2020): many graphs (ogbg-mol* and others) or
// one graph (ogbn-*).

// Returns whether `folder` holds raw/graph-label.csv or raw/node-label.csv, plain or .gz.
bool is_ogb_dataset(const std::filesystem::path& folder);

// Reads the tables num-node-list, num-edge-list, edge, graph-label or node-label, and, if present, node-feat and
// edge-feat from raw/, each .csv or .csv.gz without a header, and the lists train, valid and test from split/NAME/.
// Missing edge directions are added unless `directed`. Features become categories if all are integers, otherwise
// values. The 9 and 3 columns of molecules get the vocabularies of molecule_features.h if they fit; other vocabulary
// sizes are the largest category + 1. The labels determine the task. Graph labels: 0, 1 or missing: multi_label; one
// column of other integers: classification; otherwise regression. Node labels (one graph, with the split in
// `node_split`): one column of integers or missing: node_classification; several columns of 0, 1 or missing:
// node_multi_label. mapping/mol.csv, if present, has the SMILES of molecules. Other tables (node_species, node_year)
// are left out with a warning. The result is stored in the cache of `options`, keyed by the contents of raw/, split/
// and mapping/. Throws DataError, naming file and line: counts that do not match the tables, nodes out of range,
// several splits but none named, an absent split, other kinds of labels.
PackedItems read_ogb_dataset(const std::filesystem::path& folder, const GraphReadOptions& options = {});

// Reads Peptides-func and Peptides-struct of the Long Range Graph Benchmark (Dwivedi et al., 2022): 15,535 peptides as
// graphs of their heavy atoms, with 10 binary labels (func) or 11 structural properties (struct).

// Returns whether `folder` holds one of the tables that `read_peptides` reads.
bool is_peptides(const std::filesystem::path& folder);

// Reads from `folder` the published table, peptide_multi_class_dataset.csv (func), peptide_structure_dataset.csv or
// peptide_structure_normalized_dataset.csv (struct), and the official split, split_train.txt, split_val.txt and
// split_test.txt (one row index of the table per line, from 0), each plain or .gz. The targets of struct are
// standardised to mean 0 and deviation 1 over all rows, as in the benchmark. Rows with an invalid SMILES are left out,
// and `warnings` names them. The result is cached, keyed by the contents of the files and RDKit's version. Throws
// DataError, naming file and line: an absent split, columns or labels that differ from the published ones, items out of
// range; std::runtime_error in a build without RDKit.
PackedItems read_peptides(const std::filesystem::path& folder, const GraphReadOptions& options = {});

// Reads molecules with coordinates and properties from XYZ files: one file, a folder of them, or the folders of QM7
// (Rupp et al., 2012) and QM9 (Ramakrishnan et al., 2014).
//
// Nodes have the atomic number - 1 as category (119 values, as in molecule_features.h) and coordinates. Edges are the
// bonds inferred from the distances (covalent_bonds); the edge value is the bond length divided by the sum of the
// radii. Throws DataError, naming file and line, for broken or absent files. Datasets are stored in the cache of
// `options`, keyed by the contents of the files.

// Reads the molecules of an XYZ file (read_xyz_frames), plain or .gz; no target, no output names. Of several molecules,
// `names` are "mine.xyz:0", "mine.xyz:1", ….
PackedItems read_xyz_graphs(const std::filesystem::path& file);

// Reads such a file, or a folder of such files, in the order of their names, as a dataset; a molecule alone in a file
// is called by it, "0001.xyz". Labels and split are those of table_labels.h: the keys of the comments
// (xyz_comment_pairs), but for Properties, are the columns of a table, whose fields are empty where a comment lacks the
// key. A comment without pairs is the field "comment", which is a label only where it is named. The first warning says
// which keys were read as what. Throws DataError as table_labels, too, and for more than 100 keys.
PackedItems read_xyz_dataset(const std::filesystem::path& source, const GraphReadOptions& options = {});

// Returns whether `folder` holds files *.xyz or *.extxyz, plain or .gz, and is neither QM7 nor QM9.
bool is_xyz_folder(const std::filesystem::path& folder);

// Return whether `folder` holds hof_qm7.txt or files dsgdb9nsd_*.xyz; the latter alone.
bool is_xyz_molecules(const std::filesystem::path& folder);
bool is_qm9(const std::filesystem::path& folder);

// Reads QM7: hof_qm7.txt, a line "file energy …" per molecule, and the files in xyz/. Official split: molecules whose
// file number is a multiple of 5 are the test set, all others the training set; no validation set. The target is called
// "atomisation energy (kcal/mol)" for the published set of 7,101 molecules and "energy" otherwise; or as the output of
// a trained model, options.known, that has one. QM9: the files dsgdb9nsd_*.xyz, whose comments hold 15 targets, A, B,
// C, mu, alpha, homo, lumo, gap, r2, zpve, U0, U, H, G and Cv, in the units of the dataset; options.label_columns
// chooses some; no split. `names` are those of the files. Throws DataError for files of xyz/ that are listed twice,
// too; unlisted files are left out with a warning.
PackedItems read_xyz_molecules(const std::filesystem::path& folder, const GraphReadOptions& options = {});

// Reads published splits: text files with one item index per line.

// The three files of a split, each plain or compressed (.gz appended to the name).
struct SplitFiles {
  std::filesystem::path train, validation, test;
};

// Reads items in 0 … count - 1. Throws DataError, naming file and line, for an absent file and for a number that is out
// of range or duplicated.
DatasetSplit read_split(const SplitFiles& files, int64_t count);

// Restricts a split to the items `kept` (ascending): kept[i] becomes item i.
DatasetSplit restricted_split(const DatasetSplit& split, const std::vector<int64_t>& kept, int64_t count);

}  // namespace geosft
