// SPDX-License-Identifier: Apache-2.0
#include "data/graphs/graph_files.h"

#include <c10/util/StringUtil.h>

#include <algorithm>
#include <string>
#include <vector>

#include "data/data_error.h"
#include "data/formats/compression.h"
#include "data/formats/text_lines.h"

namespace geosft {
namespace {

constexpr std::string_view edge_separators = ",;";

struct ListedEdges {
  std::vector<int64_t> source, target;
  std::vector<double> weight;

  void add(int64_t from, int64_t to) {
    source.push_back(from);
    target.push_back(to);
  }

  CsrGraph graph(int64_t nodes) const {
    return graph_from_edges(at::tensor(source, at::kLong), at::tensor(target, at::kLong), nodes, {},
                            weight.empty() ? at::Tensor() : at::tensor(weight, at::kDouble));
  }
};

// Advances to the next line that is not a comment (# or %).
bool next_entry(TextLines& lines) {
  while (lines.next()) {
    if (!lines.rest().starts_with('%')) return true;
  }
  return false;
}

double checked_weight(const TextLines& lines, double weight) {
  if (!is_edge_weight(weight)) lines.fail("a weight of at least 0", c10::str(weight));
  return weight;
}

ListedEdges read_list(TextLines& lines) {
  ListedEdges edges;
  while (next_entry(lines)) {
    const auto node = [&] {
      const int64_t number = lines.integer("the number of a node");
      if (number < 0) lines.fail("the number of a node, from 0", std::to_string(number));
      return number;
    };
    const bool weighted = !edges.weight.empty(), first = edges.source.empty();
    const int64_t source = node();
    edges.add(source, node());
    const std::string_view word = lines.word();
    if (weighted || (first && !word.empty())) {
      if (word.starts_with('{')) lines.fail_word("a weight (NetworkX's write_edgelist needs data=False)", word);
      edges.weight.push_back(checked_weight(lines, lines.to_number(word, "a weight")));
    }
    if (!weighted && !first && !word.empty()) lines.fail_word("two nodes, as in the lines above", word);
    lines.end_of_line("two nodes and a weight");
  }
  return edges;
}

// Returns the distinct numbers in ascending order and replaces those in `edges` by their indices.
std::vector<int64_t> compacted(ListedEdges& edges) {
  std::vector<int64_t> ids = edges.source;
  ids.insert(ids.end(), edges.target.begin(), edges.target.end());
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  for (std::vector<int64_t>* list : {&edges.source, &edges.target}) {
    for (int64_t& node : *list) node = std::lower_bound(ids.begin(), ids.end(), node) - ids.begin();
  }
  return ids;
}

struct MatrixHeader {
  bool weighted = true;
  bool symmetric = false;  // only the lower half is stored
  int64_t nodes = 0, entries = 0;
};

MatrixHeader read_matrix_header(TextLines& lines) {
  lines.next_raw();
  MatrixHeader header;
  if (lower_case(lines.word()) != "%%matrixmarket") lines.fail("\"%%MatrixMarket\" at the beginning", "something else");
  const std::string object = lower_case(lines.word()), form = lower_case(lines.word()),
                    field = lower_case(lines.word()), symmetry = lower_case(lines.word());
  if (object != "matrix" || form != "coordinate") lines.fail("\"matrix coordinate\"", object + " " + form);
  if (field != "pattern" && field != "integer" && field != "real") lines.fail("pattern, integer or real", field);
  header.weighted = field != "pattern";
  if (symmetry == "skew-symmetric") lines.fail("general or symmetric, with weights of at least 0", symmetry);
  if (symmetry != "general" && symmetry != "symmetric") lines.fail("general or symmetric", symmetry);
  header.symmetric = symmetry == "symmetric";
  next_entry(lines);
  header.nodes = lines.integer("the number of rows");
  const int64_t columns = lines.integer("the number of columns");
  header.entries = lines.integer("the number of entries");
  lines.end_of_line("rows, columns and entries");
  if (columns != header.nodes || columns < 1) {
    lines.fail("a square matrix of at least one row", std::to_string(header.nodes) + " x " + std::to_string(columns));
  }
  if (header.entries < 0) lines.fail("a number of entries", std::to_string(header.entries));
  return header;
}

// Reads an index in 1 … `nodes` and returns it counted from 0.
int64_t read_index(TextLines& lines, int64_t nodes, const char* what) {
  const int64_t index = lines.integer(what);
  if (index < 1 || index > nodes) {
    lines.fail(std::string(what) + " from 1 to " + std::to_string(nodes), std::to_string(index));
  }
  return index - 1;
}

void read_entry(TextLines& lines, const MatrixHeader& header, ListedEdges& edges) {
  const int64_t row = read_index(lines, header.nodes, "a row"), column = read_index(lines, header.nodes, "a column");
  const double value = header.weighted ? checked_weight(lines, lines.number("a value")) : 1;
  lines.end_of_line("an entry");
  if (header.symmetric && column > row) {
    lines.fail("entries below the diagonal or on it", std::to_string(row + 1) + " " + std::to_string(column + 1));
  }
  edges.add(row, column);
  if (header.weighted) edges.weight.push_back(value);
  if (!header.symmetric || row == column) return;
  edges.add(column, row);
  if (header.weighted) edges.weight.push_back(value);
}

}  // namespace

FileGraph read_edge_list(const std::filesystem::path& file, bool directed) {
  const std::string text = read_gz_file(file);
  TextLines lines(text, file.string(), edge_separators);
  ListedEdges edges = read_list(lines);
  if (edges.source.empty()) throw DataError(file.string(), "a line for every edge", "none");
  const std::vector<int64_t> ids = compacted(edges);
  FileGraph out = {edges.graph(static_cast<int64_t>(ids.size())), at::tensor(ids, at::kLong)};
  if (!directed) out.graph = symmetrized(out.graph);
  return out;
}

FileGraph read_matrix_market(const std::filesystem::path& file) {
  const std::string text = read_gz_file(file);
  TextLines lines(text, file.string());
  const MatrixHeader header = read_matrix_header(lines);
  const int64_t header_line = lines.line_number();
  ListedEdges edges;
  int64_t found = 0;
  for (; next_entry(lines); ++found) {
    if (found == header.entries) lines.fail("the end of the file after " + std::to_string(found) + " entries", "more");
    read_entry(lines, header, edges);
  }
  if (found != header.entries) {
    throw DataError(file.string(), std::to_string(header.entries) + " entries", std::to_string(found));
  }
  const int64_t maximum = (int64_t{1} << 20) + 64 * found;
  if (header.nodes > maximum) {
    throw DataError(file.string() + ":" + std::to_string(header_line),
                    "at most " + std::to_string(maximum) + " rows with " + std::to_string(found) + " entries",
                    std::to_string(header.nodes));
  }
  return {edges.graph(header.nodes), at::arange(1, header.nodes + 1, at::kLong)};
}

bool begins_matrix_market(std::string_view text) {
  constexpr std::string_view banner = "%%matrixmarket";
  return lower_case(text.substr(0, banner.size())) == banner;
}

bool begins_edge_list(std::string_view text) {
  TextLines lines(text, "", edge_separators);
  if (!next_entry(lines)) return false;
  const std::string_view source = lines.word(), target = lines.word(), weight = lines.word();
  return parse_integer(source) && parse_integer(target) && (weight.empty() || parse_number(weight)) &&
         lines.word().empty();
}

}  // namespace geosft
