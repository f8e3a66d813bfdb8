// SPDX-License-Identifier: Apache-2.0
#include "data/graphs/encoding_cache.h"

#include <map>
#include <string>

#include "data/cache_folder.h"
#include "data/data_error.h"
#include "data/formats/hdf5_file.h"
#include "data/seeds.h"

namespace geosft {
namespace {

// Increment whenever the result for the same graphs changes.
constexpr const char* encoding_version = "encoding 2";

std::string tensor_key(const at::Tensor& tensor) {
  if (!tensor.defined()) return "none\n";
  const at::Tensor rows = tensor.contiguous();
  const std::string_view bytes(static_cast<const char*>(rows.const_data_ptr()), rows.nbytes());
  return std::to_string(rows.numel()) + " " + c10::toString(rows.scalar_type()) + " " +
         std::to_string(text_hash(bytes)) + "\n";
}

// The item boundaries only affect eigenvectors: walks never leave an item.
std::string encoding_key(const GraphBatch& batch, const NodeEncodingOptions& options) {
  std::string key = std::string(encoding_version) + "\n";
  for (const int64_t number : {static_cast<int64_t>(options.encoding), options.columns, options.walks}) {
    key += std::to_string(number) + "\n";
  }
  if (options.walks > 0) key += "seed " + std::to_string(options.seed) + "\n";
  for (const at::Tensor& tensor : {batch.graph.rowptr, batch.graph.col, batch.graph.weight}) key += tensor_key(tensor);
  return options.encoding == NodeEncoding::laplacian ? key + tensor_key(batch.ptr) : key;
}

// The file of an encoding and the key that it must contain.
struct Place {
  Place(const std::filesystem::path& folder, const GraphBatch& batch, const NodeEncodingOptions& options)
      : key(encoding_key(batch, options)), file(cache_file(folder, key, ".encoding.h5")) {}
  std::string key;
  std::filesystem::path file;
};

std::optional<EncodedNodes> stored_at(const Place& place, int64_t nodes, const NodeEncodingOptions& options) {
  try {
    const Hdf5File stored(place.file);
    if (!at::equal(stored.read_int("key"), as_bytes(place.key).to(at::kLong))) return std::nullopt;
    EncodedNodes found{stored.read_float("values"), {}};
    if (options.walks > 0) found.standard_error = stored.read_float("standard_error");
    for (const at::Tensor& table : {found.values, found.standard_error}) {
      if (table.defined() && table.sizes() != at::IntArrayRef({nodes, options.columns})) return std::nullopt;
    }
    return found;
  } catch (const DataError&) {
    return std::nullopt;
  }
}

void store_at(const Place& place, const EncodedNodes& encoded) {
  std::map<std::string, at::Tensor> sets = {{"key", as_bytes(place.key)}, {"values", encoded.values}};
  if (encoded.standard_error.defined()) sets["standard_error"] = encoded.standard_error;
  try {
    write_hdf5(place.file, sets);
  } catch (const DataError&) {
    return;  // the encoding is computed again next time
  }
}

}  // namespace

std::filesystem::path encoding_file(const std::filesystem::path& folder, const GraphBatch& batch,
                                    const NodeEncodingOptions& options) {
  return Place(folder, batch, options).file;
}

std::optional<EncodedNodes> stored_encoding(const std::filesystem::path& folder, const GraphBatch& batch,
                                            const NodeEncodingOptions& options) {
  return stored_at(Place(folder, batch, options), batch.graph.nodes(), options);
}

EncodedNodes cached_encoding(const std::filesystem::path& folder, const GraphBatch& batch,
                             const NodeEncodingOptions& options) {
  if (options.encoding == NodeEncoding::none || folder.empty()) return encoded_nodes(batch, options);
  const Place place(folder, batch, options);
  if (const std::optional<EncodedNodes> stored = stored_at(place, batch.graph.nodes(), options)) return *stored;
  EncodedNodes encoded = encoded_nodes(batch, options);
  if (make_cache_folder(folder)) store_at(place, encoded);
  return encoded;
}

}  // namespace geosft
