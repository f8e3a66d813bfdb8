// SPDX-License-Identifier: Apache-2.0
// Reads graphs without labels in Python, and computes features of whole graphs: the operators geosft::_read_graphs and
// geosft::_graph_vectors, which are there once this library has been loaded.
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "data/graphs/graph_vectors.h"
#include "data/graphs/unlabelled_graphs.h"
#include "geometry/operators.h"

namespace geosft {
namespace {

// Numbers of the schema of the training data: node_values, edge_values, whether there are coordinates, and columns of
// graph_features.
constexpr size_t kSchemaNumbers = 4;

ItemSchema schema_of(const at::IntArrayRef& node_vocabulary, const at::IntArrayRef& edge_vocabulary,
                     const at::IntArrayRef& numbers, const at::IntArrayRef& node_labels,
                     const at::IntArrayRef& edge_labels) {
  TORCH_CHECK(numbers.size() == kSchemaNumbers, "numbers must be ", kSchemaNumbers, " of the schema, got ",
              numbers.size());
  ItemSchema schema;
  schema.node_vocabulary = node_vocabulary.vec();
  schema.edge_vocabulary = edge_vocabulary.vec();
  schema.node_values = numbers[0];
  schema.edge_values = numbers[1];
  schema.coordinates = numbers[2] != 0;
  schema.node_labels = node_labels.vec();
  schema.edge_labels = edge_labels.vec();
  return schema;
}

GraphVectorOptions vector_options(const std::string& fingerprints, int64_t bits, bool descriptors, bool statistics) {
  GraphVectorOptions options{descriptors, statistics, fingerprints_of(fingerprints), bits};
  TORCH_CHECK(bits >= 1, "fingerprint_bits must be at least 1, got ", bits);
  return options;
}

// Reads `source`, or converts `smiles` where there are some. Returns the tensors of nn.FeaturedGraphs in their order,
// empty ones for those that are undefined, then the node numbers of the file; the names of the graphs; warnings.
std::tuple<std::vector<at::Tensor>, std::vector<std::string>, std::vector<std::string>> read_graphs(
    std::string source, std::vector<std::string> smiles, at::IntArrayRef node_vocabulary,
    at::IntArrayRef edge_vocabulary, at::IntArrayRef numbers, at::IntArrayRef node_labels, at::IntArrayRef edge_labels,
    bool directed, bool coalesce, std::string smiles_column, std::string chiral_tags, std::string fingerprints,
    int64_t fingerprint_bits, bool descriptors, bool statistics) {
  TORCH_CHECK(chiral_tags == "written" || chiral_tags == "canonical",
              "chiral_tags must be written or canonical, got \"", chiral_tags, "\"");
  const ItemSchema schema = schema_of(node_vocabulary, edge_vocabulary, numbers, node_labels, edge_labels);
  GraphReadOptions options;
  options.directed = directed;
  options.coalesce = coalesce;
  options.smiles_column = std::move(smiles_column);
  options.chiral_tags = chiral_tags == "canonical" ? ChiralTags::canonical : ChiralTags::written;
  UnlabelledGraphs given = smiles.empty() ? read_unlabelled_graphs(source, schema, options)
                                          : unlabelled_molecules(smiles, schema, source, options);
  PackedItems& packed = given.packed;
  const GraphVectorOptions vector = vector_options(fingerprints, fingerprint_bits, descriptors, statistics);
  if (vector.any()) {
    try {
      packed.graph_features = graph_vectors(packed, vector);
    } catch (const std::invalid_argument& error) {
      TORCH_CHECK(false, source, ": ", error.what());
    }
  }
  std::vector<at::Tensor> tensors{
      packed.graphs.ptr,          packed.graphs.graph.rowptr, packed.graphs.graph.col, packed.node_categories,
      packed.node_values,         packed.edge_categories,     packed.edge_values,      packed.coordinates,
      packed.graphs.graph.weight, packed.graph_features,      given.node_ids};
  for (at::Tensor& tensor : tensors) {
    if (!tensor.defined()) tensor = at::empty({0});
  }
  return {tensors, given.names, packed.warnings};
}

// Computes the features of whole graphs of a model that was trained on graphs without SMILES, whose schema has these
// vocabularies and this number of node_values.
at::Tensor vectors_of_graphs(const at::Tensor& ptr, const at::Tensor& rowptr, const at::Tensor& col,
                             const std::optional<at::Tensor>& node_categories,
                             const std::optional<at::Tensor>& node_values,
                             const std::optional<at::Tensor>& edge_categories, at::IntArrayRef node_vocabulary,
                             at::IntArrayRef edge_vocabulary, int64_t columns, std::string fingerprints,
                             int64_t fingerprint_bits, bool statistics) {
  PackedItems packed;
  packed.graphs = {{rowptr, col, {}, {}}, ptr};
  packed.node_categories = node_categories.value_or(at::Tensor());
  packed.node_values = node_values.value_or(at::Tensor());
  packed.edge_categories = edge_categories.value_or(at::Tensor());
  packed.schema = schema_of(node_vocabulary, edge_vocabulary, {columns, 0, 0, 0}, {}, {});
  check_graph_features(packed, "graphs");
  return graph_vectors(packed, vector_options(fingerprints, fingerprint_bits, /*descriptors=*/false, statistics));
}

GEOSFT_OPERATORS(m) {
  m.def(
      "_read_graphs(str source, str[] smiles, int[] node_vocabulary, int[] edge_vocabulary, int[] numbers, int[] "
      "node_labels, int[] edge_labels, bool directed, bool coalesce, str smiles_column, str chiral_tags, str "
      "fingerprints, int fingerprint_bits, bool descriptors, bool statistics) -> (Tensor[], str[], str[])");
  m.def(
      "_graph_vectors(Tensor ptr, Tensor rowptr, Tensor col, Tensor? node_categories, Tensor? node_values, Tensor? "
      "edge_categories, int[] node_vocabulary, int[] edge_vocabulary, int columns, str fingerprints, int "
      "fingerprint_bits, bool statistics) -> Tensor");
}

GEOSFT_KERNELS(CompositeImplicitAutograd, m) {
  m.impl("_read_graphs", read_graphs);
  m.impl("_graph_vectors", vectors_of_graphs);
}

}  // namespace
}  // namespace geosft
