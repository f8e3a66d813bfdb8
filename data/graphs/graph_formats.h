// SPDX-License-Identifier: Apache-2.0
// Registry of the file formats of graphs: how each is recognised, and its reader. Messages list the formats from it.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "data/graphs/graph_files.h"
#include "data/graphs/smiles.h"
#include "data/packed_items.h"

namespace geosft {

struct UnlabelledGraphs {
  PackedItems packed;                    // no target, output names or split
  std::vector<std::string> names;        // display name of each graph: a SMILES and its name, "FILE:NUMBER", or empty
  at::Tensor node_ids;                   // int64 [N], node numbers in an edge list or matrix; otherwise undefined
  SmilesFile input = {};                 // the rows of a file of SMILES, those that are invalid too; otherwise empty
  std::vector<std::string> errors = {};  // of each row of `input`; empty for the rows that are graphs, in their order
};

struct GraphFileFormat {
  enum Kind { packed_graphs, matrix_market, smiles, molecule, edge_list };
  Kind kind;
  std::string name;                         // shown in messages
  std::vector<std::string> endings;         // of file names, in lower case, without .gz
  bool (*has_signature)(std::string_view);  // whether the first bytes are proof of the format; or nullptr
  UnlabelledGraphs (*read)(const std::filesystem::path& file, bool directed);

  bool single_graph() const { return kind == matrix_market || kind == edge_list; }  // one graph without features
};

const std::vector<GraphFileFormat>& graph_file_formats();

// Returns "NAME (*.ENDING, *.ENDING), NAME (*.ENDING) or …", for messages.
std::string graph_file_formats_text();

// Returns whether the name of a file has one of these endings, in any letter case, with or without .gz.
bool has_graph_ending(const std::filesystem::path& file);
// Returns all endings, for messages.
std::string graph_endings();

// Returns whether a file that begins like this, by eight bytes or more, is one of HDF5.
bool is_hdf5(std::string_view head);

// Returns the format of a regular file, or nullptr if it is not known. Decides by the first bytes, unpacked if they are
// gzip, then by the ending of the name in any letter case, with or without .gz. A file whose name has no ending is an
// edge list if its first entry is one. Throws DataError if the file cannot be read, and for texts that are not UTF-8
// (require_plain_text), and for spreadsheets and files of structures (.sdf), by their ending.
const GraphFileFormat* find_graph_file_format(const std::filesystem::path& file);

// Returns the same, but throws DataError for an unknown format, listing the known ones.
const GraphFileFormat& graph_file_format(const std::filesystem::path& file);

// Returns whether `file` is a regular file that holds one graph without features.
bool is_graph_file(const std::filesystem::path& file);

// Returns whether the name of a file has an ending of molecules with coordinates.
bool has_molecule_ending(const std::filesystem::path& file);
// Returns whether `file` is a regular file of molecules with coordinates.
bool is_xyz_file(const std::filesystem::path& file);

// Reads a file that holds one graph without features. Missing directions are added to edge lists unless `directed`.
// Throws DataError for other formats.
FileGraph read_graph_file(const std::filesystem::path& file, bool directed = false);

// Computes the graphs of molecules, named by their SMILES and names; invalid SMILES are left out with a warning.
UnlabelledGraphs molecule_graphs(const SmilesFile& file, const GraphReadOptions& options = {});

}  // namespace geosft
