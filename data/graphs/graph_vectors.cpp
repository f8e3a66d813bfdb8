// SPDX-License-Identifier: Apache-2.0
#include "data/graphs/graph_vectors.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <stdexcept>
#include <utility>

#include "data/graphs/molecule_inputs.h"
#include "graph/weisfeiler_lehman.h"

namespace geosft {
namespace {

constexpr const char* refinements[] = {"wl0", "wl1", "wl2", "wl3"};
constexpr int64_t max_categories = 128;  // of a column, to be among the statistics
constexpr int64_t hops = 2;

// Returns how many refinements a fingerprint of any graphs has, or -1 for one of molecules.
int64_t refinements_of(const std::string& name) {
  const auto* const found = std::find(std::begin(refinements), std::end(refinements), name);
  return found == std::end(refinements) ? -1 : found - std::begin(refinements);
}

// Counts the labels of the nodes of each graph, float32 [B, bits]: log(1 + count).
at::Tensor label_counts(const at::Tensor& labels, const at::Tensor& item, int64_t items, int64_t bits) {
  const at::Tensor place = item * bits + labels.remainder(bits);
  const at::Tensor counts = at::zeros({items * bits}, at::kFloat).scatter_add_(0, place, at::ones(place.sizes()));
  return counts.view({items, bits}).log1p_();
}

// Returns the features of nodes that the statistics are of, float64 [N, columns].
at::Tensor node_features(const PackedItems& graphs) {
  const int64_t nodes = graphs.graphs.graph.nodes();
  std::vector<at::Tensor> columns;
  for (size_t c = 0; c < graphs.schema.node_vocabulary.size(); ++c) {
    const int64_t categories = graphs.schema.node_vocabulary[c];
    if (categories > max_categories) continue;
    const at::Tensor column = graphs.node_categories.select(1, static_cast<int64_t>(c)).to(at::kLong);
    columns.push_back(at::one_hot(column, categories).to(at::kDouble));
  }
  if (graphs.node_values.defined()) columns.push_back(graphs.node_values.to(at::kDouble));
  columns.push_back(graphs.graphs.graph.rowptr.diff().to(at::kDouble).view({nodes, 1}));
  return at::cat(columns, 1).contiguous();
}

// One graph among the rows of the features of all nodes.
class GraphOfRows {
 public:
  GraphOfRows(const CsrGraph& graph, int64_t begin, int64_t end)
      : rowptr_(graph.rowptr.const_data_ptr<int64_t>()),
        col_(graph.col.const_data_ptr<int64_t>()),
        begin_(begin),
        end_(end) {}

  // Returns the mean over the neighbours of each node, of `rows` [nodes of the graph, columns].
  std::vector<double> of_neighbours(const std::vector<double>& rows, int64_t columns) const {
    std::vector<double> out(rows.size(), 0.0);
    for (int64_t node = begin_; node < end_; ++node) {
      const int64_t edges = rowptr_[node + 1] - rowptr_[node];
      double* const to = out.data() + (node - begin_) * columns;
      for (int64_t e = rowptr_[node]; e < rowptr_[node + 1]; ++e) {
        const double* const from = rows.data() + (col_[e] - begin_) * columns;
        for (int64_t c = 0; c < columns; ++c) to[c] += from[c] / static_cast<double>(edges);
      }
    }
    return out;
  }

  int64_t nodes() const { return end_ - begin_; }
  int64_t edges() const { return rowptr_[end_] - rowptr_[begin_]; }

 private:
  const int64_t *rowptr_, *col_;
  int64_t begin_, end_;
};

// Writes the means of the columns, then their standard deviations.
void write_moments(const std::vector<double>& rows, int64_t nodes, int64_t columns, float* out) {
  for (int64_t c = 0; c < columns; ++c) {
    double sum = 0, squares = 0;
    for (int64_t node = 0; node < nodes; ++node) sum += rows[static_cast<size_t>(node * columns + c)];
    const double mean = sum / static_cast<double>(nodes);
    for (int64_t node = 0; node < nodes; ++node) {
      const double difference = rows[static_cast<size_t>(node * columns + c)] - mean;
      squares += difference * difference;
    }
    out[c] = static_cast<float>(mean);
    out[columns + c] = static_cast<float>(std::sqrt(squares / static_cast<double>(nodes)));
  }
}

}  // namespace

GraphVectorOptions GraphVectorOptions::of_molecules() const {
  GraphVectorOptions out = *this;
  out.statistics = false;
  std::erase_if(out.fingerprints, [](const std::string& name) { return refinements_of(name) >= 0; });
  return out;
}

const std::vector<std::string>& fingerprint_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all = molecule_fingerprint_names();
    all.insert(all.end(), std::begin(refinements), std::end(refinements));
    return all;
  }();
  return names;
}

std::vector<std::string> fingerprints_of(const std::string& text) {
  std::vector<std::string> found;
  if (text.empty() || text == "none") return found;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    const std::string name = text.substr(begin, end - begin);
    const std::vector<std::string>& known = fingerprint_names();
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      std::string all = "none";
      for (const std::string& each : known) all += ", " + each;
      throw std::invalid_argument("fingerprint must be of " + all + ", separated by commas, found \"" + name + "\"");
    }
    if (std::find(found.begin(), found.end(), name) != found.end()) {
      throw std::invalid_argument("fingerprint must name each fingerprint once, found \"" + name + "\" twice");
    }
    found.push_back(name);
    begin = end + 1;
  }
  return found;
}

at::Tensor graph_statistics(const PackedItems& graphs) {
  const at::Tensor features = node_features(graphs), ptr = graphs.graphs.ptr.contiguous();
  const CsrGraph& given = graphs.graphs.graph;
  const CsrGraph graph_of_all{given.rowptr.contiguous(), given.col.contiguous(), {}, {}};
  const int64_t columns = features.size(1), items = graphs.size(), width = 2 + 2 * columns * (hops + 1);
  at::Tensor out = at::full({items, width}, std::numeric_limits<float>::quiet_NaN(), at::kFloat);
  const int64_t* const first = ptr.const_data_ptr<int64_t>();
  const double* const from = features.const_data_ptr<double>();
  at::parallel_for(0, items, 1, [&](int64_t begin, int64_t end) {
    for (int64_t item = begin; item < end; ++item) {
      const GraphOfRows graph(graph_of_all, first[item], first[item + 1]);
      float* const to = out.data_ptr<float>() + item * width;
      to[0] = static_cast<float>(graph.nodes());
      to[1] = static_cast<float>(graph.edges());
      if (graph.nodes() == 0) continue;
      std::vector<double> rows(from + first[item] * columns, from + first[item + 1] * columns);
      for (int64_t hop = 0; hop <= hops; ++hop) {
        if (hop > 0) rows = graph.of_neighbours(rows, columns);
        write_moments(rows, graph.nodes(), columns, to + 2 + 2 * columns * hop);
      }
    }
  });
  return out;
}

at::Tensor graph_vectors(const PackedItems& graphs, const GraphVectorOptions& options,
                         const std::filesystem::path& cache, const std::function<void(int64_t, int64_t)>& progress) {
  const GraphVectorOptions of_molecules = options.of_molecules();
  if (graphs.smiles.empty() && of_molecules.any()) {
    throw std::invalid_argument(
        (of_molecules.descriptors ? "descriptors need"
                                  : "fingerprint " + of_molecules.fingerprints.front() + " needs") +
        std::string(" molecules with SMILES; any graphs have statistics and the fingerprints wl0 to wl3"));
  }
  std::vector<at::Tensor> parts;
  const int64_t bits = options.fingerprint_bits;
  const at::Tensor vectors =
      of_molecules.any() ? molecule_vectors(graphs.smiles, of_molecules, cache, progress) : at::Tensor();
  int64_t next = vectors.defined() ? vectors.size(1) - of_molecules.count_columns() : 0;  // column of `vectors`
  if (next > 0) parts.push_back(vectors.narrow(1, 0, next));
  if (options.statistics) parts.push_back(graph_statistics(graphs));
  int64_t max_refinements = -1;
  for (const std::string& name : options.fingerprints)
    max_refinements = std::max(max_refinements, refinements_of(name));
  const bool refined = max_refinements >= 0;
  const at::Tensor labels = refined ? weisfeiler_lehman_labels(graphs, max_refinements) : at::Tensor();
  const at::Tensor item =
      refined ? at::repeat_interleave(at::arange(graphs.size(), at::kLong), graphs.graphs.ptr.diff()) : at::Tensor();
  for (const std::string& name : options.fingerprints) {
    if (const int64_t count = refinements_of(name); count >= 0) {
      parts.push_back(label_counts(labels[count], item, graphs.size(), bits));
    } else {
      parts.push_back(vectors.narrow(1, std::exchange(next, next + bits), bits));
    }
  }
  return parts.size() == 1 ? parts.front().contiguous() : at::cat(parts, 1);
}

}  // namespace geosft
