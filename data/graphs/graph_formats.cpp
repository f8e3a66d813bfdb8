// SPDX-License-Identifier: Apache-2.0
#include "data/graphs/graph_formats.h"

#include <algorithm>
#include <utility>

#include "data/data_error.h"
#include "data/formats/compression.h"
#include "data/formats/file_content.h"
#include "data/formats/text_lines.h"
#include "data/graphs/graph_dataset.h"
#include "data/graphs/packed_graphs_file.h"
#include "data/read_file.h"
#include "geometry/packed.h"

namespace geosft {
namespace {

namespace fs = std::filesystem;

UnlabelledGraphs single_graph(FileGraph found) {
  UnlabelledGraphs given;
  given.packed.graphs = {found.graph, offsets_tensor({0, found.graph.nodes()})};
  given.node_ids = std::move(found.ids);
  return given;
}

// Returns the name in lower case, without .gz.
std::string plain_name(const fs::path& file) {
  std::string name = lower_case(file.filename().string());
  if (name.ends_with(".gz")) name.resize(name.size() - 3);
  return name;
}

// Returns the ending of the name in lower case, without .gz.
std::string plain_ending(const fs::path& file) {
  return fs::path(plain_name(file)).extension().string();
}

bool has_ending(const GraphFileFormat& format, const std::string& ending) {
  return std::find(format.endings.begin(), format.endings.end(), ending) != format.endings.end();
}

const GraphFileFormat* format_of(const fs::path& file, std::string_view head) {
  const std::vector<GraphFileFormat>& formats = graph_file_formats();
  const auto found_where = [&](const auto& condition) -> const GraphFileFormat* {
    const auto found = std::find_if(formats.begin(), formats.end(), condition);
    return found == formats.end() ? nullptr : &*found;
  };
  const auto signature = [&](const GraphFileFormat& format) {
    return format.has_signature && format.has_signature(head);
  };
  if (const GraphFileFormat* found = found_where(signature)) return found;
  const std::string ending = plain_ending(file);
  if (ending.empty() && !begins_edge_list(head)) return nullptr;
  return found_where([&](const GraphFileFormat& format) {
    if (ending.empty()) return format.kind == GraphFileFormat::edge_list;
    return has_ending(format, ending);
  });
}

}  // namespace

bool is_hdf5(std::string_view head) {
  return head.starts_with("\x89HDF\r\n\x1a\n");
}

const std::vector<GraphFileFormat>& graph_file_formats() {
  static const std::vector<GraphFileFormat> formats = {
      {GraphFileFormat::packed_graphs,
       "packed graphs in HDF5",
       {".h5", ".hdf5"},
       is_hdf5,
       [](const fs::path& file, bool) {
         return UnlabelledGraphs{read_packed_features(file), {}, {}};
       }},
      {GraphFileFormat::matrix_market,
       "Matrix Market",
       {".mtx", ".mm"},
       begins_matrix_market,
       [](const fs::path& file, bool) { return single_graph(read_matrix_market(file)); }},
      {GraphFileFormat::smiles,
       "SMILES, also a CSV table with a column smiles",
       {".smi", ".smiles"},
       begins_smiles_table,
       [](const fs::path& file, bool) { return molecule_graphs(read_smiles_file(file)); }},
      {GraphFileFormat::molecule,
       "molecules with coordinates",
       {".xyz", ".extxyz"},
       nullptr,
       [](const fs::path& file, bool) {
         UnlabelledGraphs given{read_xyz_graphs(file), {}, {}};
         given.names = given.packed.names;
         return given;
       }},
      {GraphFileFormat::edge_list,
       "an edge list",
       {".txt", ".csv", ".tsv", ".edges", ".edgelist", ".el", ".wel", ".ncol", ".dat"},
       nullptr,
       [](const fs::path& file, bool directed) { return single_graph(read_edge_list(file, directed)); }},
  };
  return formats;
}

std::string graph_file_formats_text() {
  std::string text;
  const std::vector<GraphFileFormat>& formats = graph_file_formats();
  for (size_t i = 0; i < formats.size(); ++i) {
    if (i > 0) text += i + 1 == formats.size() ? " or " : ", ";
    std::string endings;
    for (const std::string& ending : formats[i].endings) endings += (endings.empty() ? "*" : ", *") + ending;
    text += formats[i].name + " (" + endings + ")";
  }
  return text;
}

bool has_graph_ending(const fs::path& file) {
  const std::vector<GraphFileFormat>& formats = graph_file_formats();
  const std::string ending = plain_ending(file);
  return std::any_of(formats.begin(), formats.end(), [&](const auto& format) { return has_ending(format, ending); });
}

std::string graph_endings() {
  std::string text;
  for (const GraphFileFormat& format : graph_file_formats()) {
    for (const std::string& ending : format.endings) text += (text.empty() ? "" : ", ") + ending;
  }
  return text;
}

namespace {

// Throws DataError for files of molecules that are no text of SMILES, by their ending, with what converts them.
void refuse_other_tables(const fs::path& file) {
  struct Other {
    const char *name, *conversion;
    std::vector<std::string> endings;
  };
  static const std::vector<Other> others = {
      {"a file of structures",
       "RDKit makes one: PandasTools.LoadSDF(FILE, smilesName='smiles').to_csv('mine.csv', index=False)",
       {".sdf", ".sd", ".mol", ".mol2"}},
      {"a spreadsheet",
       "save it as CSV; or pandas.read_excel(FILE).to_csv('mine.csv', index=False)",
       {".xlsx", ".xls", ".ods"}}};
  const std::string ending = plain_ending(file);
  for (const Other& other : others) {
    if (std::find(other.endings.begin(), other.endings.end(), ending) == other.endings.end()) continue;
    throw DataError(file.string(), std::string("a table of SMILES in a text (") + other.conversion + ")", other.name);
  }
}

}  // namespace

const GraphFileFormat* find_graph_file_format(const fs::path& file) {
  refuse_other_tables(file);
  constexpr size_t enough = size_t{1} << 16;
  const std::string head = gz_file_head(file, enough);
  if (!is_hdf5(head)) require_plain_text(head, file.string());
  return format_of(file, without_byte_order_mark(head));
}

const GraphFileFormat& graph_file_format(const fs::path& file) {
  const GraphFileFormat* format = find_graph_file_format(file);
  if (format == nullptr)
    throw DataError(file.string(), graph_file_formats_text() + ", or a folder in TU's form", "another format");
  return *format;
}

bool is_graph_file(const fs::path& file) {
  if (!fs::is_regular_file(file)) return false;
  const GraphFileFormat* format = find_graph_file_format(file);
  return format != nullptr && format->single_graph();
}

bool has_molecule_ending(const fs::path& file) {
  const std::vector<GraphFileFormat>& formats = graph_file_formats();
  return std::any_of(formats.begin(), formats.end(), [&](const GraphFileFormat& format) {
    return format.kind == GraphFileFormat::molecule && has_ending(format, plain_ending(file));
  });
}

bool is_xyz_file(const fs::path& file) {
  if (!fs::is_regular_file(file)) return false;
  const GraphFileFormat* format = find_graph_file_format(file);
  return format != nullptr && format->kind == GraphFileFormat::molecule;
}

FileGraph read_graph_file(const fs::path& file, bool directed) {
  const GraphFileFormat& format = graph_file_format(file);
  if (!format.single_graph()) throw DataError(file.string(), "an edge list or Matrix Market", format.name);
  UnlabelledGraphs given = format.read(file, directed);
  return {given.packed.graphs.graph, given.node_ids};
}

UnlabelledGraphs molecule_graphs(const SmilesFile& file, const GraphReadOptions& options) {
  SmilesGraphs read = graphs_from_smiles(file.column, options);
  UnlabelledGraphs given{std::move(read.packed), {}, {}, file, std::move(read.errors)};
  for (const int64_t row : read.rows) {
    const auto place = static_cast<size_t>(row);
    const std::string &smiles = file.column.smiles[place], &name = file.names[place];
    given.names.push_back(name.empty() ? smiles : smiles + " " + name);
  }
  return given;
}

}  // namespace geosft
