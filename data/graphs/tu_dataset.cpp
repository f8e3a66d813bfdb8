// SPDX-License-Identifier: Apache-2.0
#include "data/graphs/tu_dataset.h"

#include <algorithm>
#include <utility>

#include "data/data_error.h"
#include "data/formats/text_lines.h"
#include "data/read_file.h"
#include "geometry/packed.h"

namespace geosft {
namespace {

namespace fs = std::filesystem;

// Returns NAME of the only NAME_A.txt, or an empty string if there is no such file. Throws for several.
std::string set_name(const fs::path& folder) {
  constexpr std::string_view ending = "_A.txt";
  std::vector<std::string> files;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    const std::string file = entry.path().filename().string();
    if (file.size() <= ending.size() || !file.ends_with(ending)) continue;
    files.push_back(file);
  }
  std::sort(files.begin(), files.end());
  if (files.size() > 1) throw DataError(folder.string(), "the files of one set", files[0] + " and " + files[1]);
  return files.empty() ? "" : files[0].substr(0, files[0].size() - ending.size());
}

// The files of one dataset.
class SetFiles {
 public:
  SetFiles(const fs::path& folder, const std::string& name) : folder_(folder), name_(name) {}
  fs::path path(const char* what) const { return folder_ / (name_ + "_" + what + ".txt"); }
  bool has(const char* what) const { return fs::exists(path(what)); }

  // Calls read(lines) for each non-empty line. There must be `count` of them, unless `count` is negative.
  template <class Read>
  void for_lines(const char* what, int64_t count, const char* of_what, const Read& read) const {
    const std::string file = path(what).string(), text = read_file(path(what));
    TextLines lines(text, file, ",");
    int64_t found = 0;
    for (; lines.next(); ++found) {
      if (found == count) lines.fail("the end of the file after " + std::to_string(count) + " " + of_what, "more");
      read(lines);
    }
    if (count >= 0 && found != count) {
      throw DataError(file, std::to_string(count) + " lines, one for each of the " + of_what, std::to_string(found));
    }
  }

 private:
  fs::path folder_;
  std::string name_;
};

// Reads a table of numbers, one row per line, with rows of equal width; `number` parses one word.
template <typename T, class Number>
at::Tensor read_table(const SetFiles& files, const char* what, int64_t count, const char* of_what, at::ScalarType dtype,
                      const Number& number) {
  std::vector<T> values;
  size_t width = 0;
  files.for_lines(what, count, of_what, [&](TextLines& lines) {
    const size_t before = values.size();
    for (std::string_view word = lines.word(); !word.empty(); word = lines.word()) {
      values.push_back(static_cast<T>(number(lines, word)));
    }
    const size_t found = values.size() - before;
    if (before == 0) width = found;
    if (found == 0) lines.fail("numbers", "none");
    if (found != width) {
      lines.fail(std::to_string(width) + " numbers, as in the lines above", std::to_string(found));
    }
  });
  return at::tensor(values, dtype).view({count, static_cast<int64_t>(width)});
}

at::Tensor read_attributes(const SetFiles& files, const char* what, int64_t count, const char* of_what) {
  if (!files.has(what)) return {};
  return read_table<float>(files, what, count, of_what, at::kFloat, [](const TextLines& lines, std::string_view word) {
    return lines.to_number(word, "a number");
  });
}

TuLabels read_labels(const SetFiles& files, const char* what, int64_t count, const char* of_what) {
  if (!files.has(what)) return {};
  const at::Tensor numbers = read_table<int64_t>(
      files, what, count, of_what, at::kLong,
      [](const TextLines& lines, std::string_view word) { return lines.to_integer(word, "an integer"); });
  const auto [values, classes] = at::_unique(numbers, /*sorted=*/true, /*return_inverse=*/true);
  return {classes, {values.const_data_ptr<int64_t>(), values.const_data_ptr<int64_t>() + values.size(0)}};
}

// The same, but maps numbers to their indices in `known`, which is ascending.
TuLabels read_known_labels(const SetFiles& files, const char* what, int64_t count, const char* of_what,
                           const std::vector<int64_t>& known) {
  if (!files.has(what)) return {};
  if (known.empty()) {
    throw DataError(files.path(what).string(),
                    "no such file, as the set trained on has no labels of " + std::string(of_what), "one");
  }
  const at::Tensor classes =
      read_table<int64_t>(files, what, count, of_what, at::kLong, [&](const TextLines& lines, std::string_view word) {
        const int64_t number = lines.to_integer(word, "an integer");
        const auto place = std::lower_bound(known.begin(), known.end(), number);
        if (place == known.end() || *place != number) {
          lines.fail("one of the " + std::to_string(known.size()) + " labels of the set trained on",
                     std::to_string(number));
        }
        return place - known.begin();
      });
  return {classes, known};
}

// Reads the graph of each node and returns the first node of each graph.
std::vector<int64_t> read_offsets(const SetFiles& files) {
  std::vector<int64_t> offsets;
  int64_t nodes = 0;
  files.for_lines("graph_indicator", -1, "", [&](TextLines& lines) {
    const int64_t graph = lines.integer("the number of a graph");
    lines.end_of_line("the number of a graph");
    const int64_t current = static_cast<int64_t>(offsets.size());
    if (graph < std::max<int64_t>(current, 1) || graph > current + 1) {
      lines.fail(
          current == 0 ? "graph 1" : "graph " + std::to_string(current) + " or the next one, nodes of a graph together",
          "graph " + std::to_string(graph));
    }
    if (graph > current) offsets.push_back(nodes);
    ++nodes;
  });
  if (nodes == 0) throw DataError(files.path("graph_indicator").string(), "a line for every node", "an empty file");
  offsets.push_back(nodes);
  return offsets;
}

struct Edges {
  at::Tensor source, target;  // int64 [E]
};

Edges read_edges(const SetFiles& files, const std::vector<int64_t>& offsets) {
  const at::Tensor item = item_of_row(offsets);
  const int64_t *graph_of = item.const_data_ptr<int64_t>(), nodes = offsets.back();
  std::vector<int64_t> source, target;
  files.for_lines("A", -1, "", [&](TextLines& lines) {
    const auto node = [&] {
      const int64_t number = lines.integer("the number of a node");
      if (number < 1 || number > nodes) {
        lines.fail("a node from 1 to " + std::to_string(nodes), std::to_string(number));
      }
      return number - 1;
    };
    source.push_back(node());
    target.push_back(node());
    lines.end_of_line("two nodes");
    if (graph_of[source.back()] != graph_of[target.back()]) {
      lines.fail("two nodes of one graph", "nodes of graphs " + std::to_string(graph_of[source.back()] + 1) + " and " +
                                               std::to_string(graph_of[target.back()] + 1));
    }
  });
  return {at::tensor(source, at::kLong), at::tensor(target, at::kLong)};
}

at::Tensor features(const TuLabels& labels, const at::Tensor& attributes, int64_t count) {
  std::vector<at::Tensor> parts = {at::zeros({count, 0})};
  if (labels.classes.defined()) {
    parts.push_back(at::one_hot(labels.classes, labels.count()).flatten(1).to(at::kFloat));
  }
  if (attributes.defined()) parts.push_back(attributes);
  return at::cat(parts, 1);
}

// Returns, int64 [E], the first edge with the same source and target as each edge; -1 for self-loops.
at::Tensor first_equal_edges(const Edges& edges) {
  const int64_t *source = edges.source.const_data_ptr<int64_t>(), *target = edges.target.const_data_ptr<int64_t>();
  at::Tensor first = at::full_like(edges.source, -1);
  int64_t* first_of = first.mutable_data_ptr<int64_t>();
  std::vector<int64_t> order;
  for (int64_t e = 0; e < edges.source.size(0); ++e) {
    if (source[e] != target[e]) order.push_back(e);
  }
  const auto ends = [&](int64_t e) { return std::pair(source[e], target[e]); };
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return ends(a) < ends(b); });
  for (size_t i = 0; i < order.size(); ++i) {
    const bool repeats = i > 0 && ends(order[i]) == ends(order[i - 1]);
    first_of[order[i]] = repeats ? first_of[order[i - 1]] : order[i];
  }
  return first;
}

// Returns the attributes of all edges, added at the first of equal ones.
at::Tensor added_attributes(const at::Tensor& attributes, const at::Tensor& first) {
  const at::Tensor rows = (first >= 0).nonzero().squeeze(1);
  return at::zeros_like(attributes).index_add_(0, first.index_select(0, rows), attributes.index_select(0, rows));
}

// Adds the reverse of every edge if none has one, and describes the edges without one.
void complete_edges(CsrGraph& graph, const std::string& file, std::string& note) {
  const int64_t edges = graph.edges() - redundant_edges(graph).self_loops;
  CsrGraph both = symmetrized(graph);
  const int64_t alone = both.edges() - graph.edges();
  if (alone == 0) return;
  if (alone == edges) {
    graph = std::move(both);
    note = file + ": every edge is listed in one direction; the other one is added (--directed leaves edges as listed)";
  } else {
    note = file + ": " + std::to_string(alone) + " of " + std::to_string(edges) +
           (alone == 1 ? " edges has no reverse, and stays" : " edges have no reverse, and stay") +
           " directed: undirected edges are listed in both directions";
  }
}

// Reads the graphs, and reorders edge labels and attributes to the order of the CSR.
void read_graphs(const SetFiles& files, const std::vector<int64_t>& offsets, const TuLabelNumbers* known, bool coalesce,
                 bool directed, TuDataset& set) {
  const Edges edges = read_edges(files, offsets);
  const int64_t count = edges.source.size(0);
  const at::Tensor all = at::arange(count, at::kLong), first = coalesce ? first_equal_edges(edges) : all;
  // The index of each edge in the file is carried along as its feature.
  const at::Tensor kept = (first == all).nonzero().squeeze(1);
  set.graphs.graph = graph_from_edges(edges.source.index_select(0, kept), edges.target.index_select(0, kept),
                                      offsets.back(), kept.unsqueeze(1));
  if (!directed) complete_edges(set.graphs.graph, files.path("A").string(), set.note);
  set.graphs.ptr = offsets_tensor(offsets);
  const at::Tensor place = set.graphs.graph.edge_attr.squeeze(1);
  set.graphs.graph.edge_attr = at::Tensor();
  set.edge_labels = known == nullptr ? read_labels(files, "edge_labels", count, "edges")
                                     : read_known_labels(files, "edge_labels", count, "edges", known->edges);
  set.edge_attributes = read_attributes(files, "edge_attributes", count, "edges");
  if (coalesce && set.edge_attributes.defined()) set.edge_attributes = added_attributes(set.edge_attributes, first);
  for (at::Tensor* table : {&set.edge_labels.classes, &set.edge_attributes}) {
    if (table->defined()) *table = table->index_select(0, place);
  }
}

// Reads the graph labels and attributes, at least one of which must be present.
void read_answers(const SetFiles& files, int64_t graphs, const TuLabelNumbers* known, TuDataset& set) {
  const bool free = known == nullptr || known->graphs.empty();
  set.graph_labels = free ? read_labels(files, "graph_labels", graphs, "graphs")
                          : read_known_labels(files, "graph_labels", graphs, "graphs", known->graphs);
  set.graph_attributes = read_attributes(files, "graph_attributes", graphs, "graphs");
  at::Tensor& classes = set.graph_labels.classes;
  if (!classes.defined() && !set.graph_attributes.defined()) {
    throw DataError(files.path("graph_labels").string(), "a label for every graph", "no such file");
  }
  if (!classes.defined()) return;
  if (classes.size(1) != 1) {
    throw DataError(files.path("graph_labels").string() + ":1",
                    "one class per graph (several labels per graph: packed graphs, the form of OGB, or for molecules a "
                    "CSV table of SMILES)",
                    std::to_string(classes.size(1)) + " numbers");
  }
  classes = classes.squeeze(1);
}

// All columns share one set of classes, so each column has the whole vocabulary.
void take_labels(const TuLabels& labels, at::Tensor& categories, std::vector<int64_t>& vocabulary,
                 std::vector<int64_t>& numbers) {
  if (!labels.classes.defined()) return;
  categories = labels.classes;
  vocabulary.assign(static_cast<size_t>(categories.size(1)), labels.count());
  numbers = labels.values;
}

void take_target(const TuDataset& set, PackedItems& packed) {
  if (set.graph_labels.classes.defined()) {
    packed.target = set.graph_labels.classes;
    for (const int64_t value : set.graph_labels.values) packed.schema.output_names.push_back(std::to_string(value));
    return;
  }
  packed.schema.task = GraphTask::regression;
  packed.target = set.graph_attributes;
  if (!packed.target.defined()) return;
  for (int64_t column = 0; column < packed.target.size(1); ++column) {
    packed.schema.output_names.push_back("target " + std::to_string(column));
  }
}

}  // namespace

at::Tensor TuDataset::node_features() const {
  return features(node_labels, node_attributes, graphs.graph.nodes());
}

at::Tensor TuDataset::edge_features() const {
  return features(edge_labels, edge_attributes, graphs.graph.edges());
}

TuDataset read_tu_dataset(const fs::path& folder, const TuLabelNumbers* known, bool coalesce, bool directed) {
  TuDataset set;
  set.name = set_name(folder);
  if (set.name.empty()) throw DataError(folder.string(), "a file *_A.txt of a TU dataset", "none");
  const SetFiles files(folder, set.name);
  const std::vector<int64_t> offsets = read_offsets(files);
  read_graphs(files, offsets, known, coalesce, directed, set);
  const int64_t nodes = offsets.back();
  set.node_labels = known == nullptr ? read_labels(files, "node_labels", nodes, "nodes")
                                     : read_known_labels(files, "node_labels", nodes, "nodes", known->nodes);
  set.node_attributes = read_attributes(files, "node_attributes", nodes, "nodes");
  if (known == nullptr || known->labelled) {
    read_answers(files, static_cast<int64_t>(offsets.size()) - 1, known, set);
  }
  return set;
}

bool is_tu_dataset(const fs::path& folder) {
  const std::string name = set_name(folder);
  return !name.empty() && SetFiles(folder, name).has("graph_indicator");
}

void require_graph_indicator(const fs::path& folder) {
  const std::string name = set_name(folder);
  if (name.empty() || is_tu_dataset(folder)) return;
  throw DataError(folder.string(), name + "_graph_indicator.txt beside " + name + "_A.txt, with the graph of each node",
                  "no such file");
}

PackedItems packed_items(const TuDataset& set) {
  PackedItems packed;
  packed.graphs = set.graphs;
  take_labels(set.node_labels, packed.node_categories, packed.schema.node_vocabulary, packed.schema.node_labels);
  take_labels(set.edge_labels, packed.edge_categories, packed.schema.edge_vocabulary, packed.schema.edge_labels);
  packed.node_values = set.node_attributes;
  packed.edge_values = set.edge_attributes;
  packed.schema.node_values = set.node_attributes.defined() ? set.node_attributes.size(1) : 0;
  packed.schema.edge_values = set.edge_attributes.defined() ? set.edge_attributes.size(1) : 0;
  take_target(set, packed);
  if (!set.note.empty()) packed.warnings.push_back(set.note);
  return packed;
}

}  // namespace geosft
