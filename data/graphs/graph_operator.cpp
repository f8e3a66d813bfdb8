// SPDX-License-Identifier: Apache-2.0
// Reads graphs without labels in Python: the operator geosft::_read_graphs, which is there once this library has been
// loaded.
#include <string>
#include <tuple>
#include <vector>

#include "data/graphs/molecule_inputs.h"
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

MoleculeVectorOptions vector_options(const std::string& fingerprints, int64_t bits, bool descriptors) {
  MoleculeVectorOptions options{descriptors, fingerprints_of(fingerprints), bits};
  TORCH_CHECK(bits >= 1, "fingerprint_bits must be at least 1, got ", bits);
  return options;
}

// Reads `source`, or converts `smiles` where there are some. Returns the tensors of nn.FeaturedGraphs in their order,
// empty ones for those that are undefined, then the node numbers of the file; the names of the graphs; warnings.
std::tuple<std::vector<at::Tensor>, std::vector<std::string>, std::vector<std::string>> read_graphs(
    std::string source, std::vector<std::string> smiles, at::IntArrayRef node_vocabulary,
    at::IntArrayRef edge_vocabulary, at::IntArrayRef numbers, at::IntArrayRef node_labels, at::IntArrayRef edge_labels,
    bool directed, bool coalesce, std::string smiles_column, std::string fingerprints, int64_t fingerprint_bits,
    bool descriptors) {
  const ItemSchema schema = schema_of(node_vocabulary, edge_vocabulary, numbers, node_labels, edge_labels);
  GraphReadOptions options;
  options.directed = directed;
  options.coalesce = coalesce;
  options.smiles_column = std::move(smiles_column);
  UnlabelledGraphs given =
      smiles.empty() ? read_unlabelled_graphs(source, schema, options) : unlabelled_molecules(smiles, schema, source);
  PackedItems& packed = given.packed;
  if (const MoleculeVectorOptions vector = vector_options(fingerprints, fingerprint_bits, descriptors); vector.any()) {
    TORCH_CHECK(!packed.smiles.empty(), source,
                ": expected molecules with SMILES, for their fingerprint and descriptors");
    packed.graph_features = molecule_vectors(packed.smiles, vector);
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

GEOSFT_OPERATORS(m) {
  m.def(
      "_read_graphs(str source, str[] smiles, int[] node_vocabulary, int[] edge_vocabulary, int[] numbers, int[] "
      "node_labels, int[] edge_labels, bool directed, bool coalesce, str smiles_column, str fingerprints, int "
      "fingerprint_bits, bool descriptors) -> (Tensor[], str[], str[])");
}

GEOSFT_KERNELS(CompositeImplicitAutograd, m) {
  m.impl("_read_graphs", read_graphs);
}

}  // namespace
}  // namespace geosft
