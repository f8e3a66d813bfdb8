// SPDX-License-Identifier: Apache-2.0
#include "data/graphs/packed_graphs_file.h"

#include <limits>
#include <map>
#include <utility>

#include "data/data_error.h"
#include "data/formats/hdf5_file.h"

namespace geosft {
namespace {

constexpr const char* packed_version_name = "geosft_packed_graphs";
constexpr int64_t packed_version = 1;
constexpr std::pair<const char*, std::vector<int64_t> DatasetSplit::*> named_splits[] = {
    {"split_train", &DatasetSplit::train},
    {"split_validation", &DatasetSplit::validation},
    {"split_test", &DatasetSplit::test}};

class PackedFile {
 public:
  explicit PackedFile(const std::filesystem::path& file) : name_(file.string()), file_(file) {
    if (!file_.has(packed_version_name))
      throw DataError(name_, std::string("a dataset ") + packed_version_name, "none");
    const std::vector<int64_t> found = list(packed_version_name);
    if (found != std::vector<int64_t>{packed_version}) {
      throw DataError(name_ + ":" + packed_version_name, "version " + std::to_string(packed_version),
                      found.size() == 1 ? std::to_string(found[0]) : std::to_string(found.size()) + " numbers");
    }
  }

  // Reads the graphs and features.
  PackedItems read_graphs() const {
    PackedItems out;
    out.graphs.ptr = integers("ptr");
    out.graphs.graph.rowptr = integers("rowptr");
    out.graphs.graph.col = integers("col");
    out.graphs.graph.weight = optional_numbers("weight");
    read_features("node", out.schema.node_vocabulary, out.schema.node_values, out.node_categories, out.node_values);
    read_features("edge", out.schema.edge_vocabulary, out.schema.edge_values, out.edge_categories, out.edge_values);
    out.coordinates = optional_numbers("coordinates");
    out.schema.coordinates = out.coordinates.defined();
    out.smiles = lines("smiles");
    if (file_.has("lines")) out.lines = list("lines");
    out.names = lines("names");
    out.warnings = lines("remarks");
    return out;
  }

  PackedItems read() const {
    PackedItems out = read_graphs();
    read_task(out.schema);
    out.target = has_classes(out.schema.task) ? integers("target") : file_.read_float("target");
    if (file_.has("node_split")) out.node_split = integers("node_split");
    if (has_split()) {
      out.split.emplace();
      for (const auto& [name, split] : named_splits) *out.split.*split = list(name);
    }
    return out;
  }

  std::string text(const char* name) const {
    if (!file_.has(name)) return {};
    std::string out;
    for (const int64_t byte : list(name)) {
      if (byte < 0 || byte > 255) throw DataError(name_ + ":" + name, "bytes", std::to_string(byte));
      out += static_cast<char>(byte);
    }
    return out;
  }

 private:
  void read_task(ItemSchema& schema) const {
    const std::string name = text("task");
    const std::optional<GraphTask> task = task_named(name);
    if (!task) throw DataError(name_ + ":task", "the name of a task", "\"" + name.substr(0, 40) + "\"");
    schema.task = *task;
    schema.output_names = lines("output_names");
    const at::Tensor values = optional_numbers("label_values");
    if (values.defined()) {
      if (values.dim() != 1)
        throw DataError(name_ + ":label_values", "a list", std::to_string(values.dim()) + " dimensions");
      const at::Tensor list = values.contiguous();
      schema.label_values = {list.const_data_ptr<float>(), list.const_data_ptr<float>() + list.numel()};
    }
  }

  void read_features(const std::string& of, std::vector<int64_t>& vocabulary, int64_t& columns, at::Tensor& categories,
                     at::Tensor& values) const {
    if (file_.has(of + "_categories")) {
      categories = integers((of + "_categories").c_str());
      vocabulary = list((of + "_vocabulary").c_str());
    }
    values = optional_numbers((of + "_values").c_str());
    if (!values.defined()) return;
    if (values.dim() != 2) throw DataError(name_ + ":" + of + "_values", "a table", "another rank");
    columns = values.size(1);
  }

  bool has_split() const {
    int found = 0;
    for (const auto& [name, split] : named_splits) found += file_.has(name);
    if (found != 0 && found != 3) throw DataError(name_, "split_train, split_validation and split_test", "not all");
    return found == 3;
  }

  at::Tensor integers(const char* name) const { return file_.read_int(name); }
  at::Tensor optional_numbers(const char* name) const {
    return file_.has(name) ? file_.read_float(name) : at::Tensor();
  }

  std::vector<int64_t> list(const char* name) const {
    const at::Tensor numbers = integers(name);
    if (numbers.dim() != 1)
      throw DataError(name_ + ":" + name, "a list", std::to_string(numbers.dim()) + " dimensions");
    return {numbers.const_data_ptr<int64_t>(), numbers.const_data_ptr<int64_t>() + numbers.numel()};
  }

  std::vector<std::string> lines(const char* name) const {
    const std::string all = text(name);
    std::vector<std::string> out;
    for (size_t begin = 0; begin < all.size();) {
      const size_t end = std::min(all.find('\n', begin), all.size());
      out.push_back(all.substr(begin, end - begin));
      begin = end + 1;
    }
    return out;
  }

  std::string name_;
  Hdf5File file_;
};

template <class Check>
PackedItems checked(PackedItems packed, const std::filesystem::path& file, const Check& check) {
  try {
    check(packed, file.string());
  } catch (const c10::Error& error) {
    throw DataError(file.string(), "graphs that are sound", error.what_without_backtrace());
  }
  return packed;
}

at::Tensor as_text(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text.append(line).append("\n");
  return as_bytes(text);
}

// Converts integers to the narrowest type that holds them; other tensors are unchanged.
at::Tensor narrowed(const at::Tensor& tensor) {
  if (tensor.scalar_type() != at::kLong || tensor.numel() == 0) return tensor;
  const int64_t minimum = tensor.min().item<int64_t>(), maximum = tensor.max().item<int64_t>();
  if (minimum >= 0 && maximum <= std::numeric_limits<uint8_t>::max()) return tensor.to(at::kByte);
  const bool narrow = minimum >= std::numeric_limits<int32_t>::min() && maximum <= std::numeric_limits<int32_t>::max();
  return narrow ? tensor.to(at::kInt) : tensor;
}

}  // namespace

PackedItems read_packed_graphs(const std::filesystem::path& file) {
  return checked(PackedFile(file).read(), file, check_packed_items);
}

PackedItems read_packed_features(const std::filesystem::path& file) {
  return checked(PackedFile(file).read_graphs(), file, check_graph_features);
}

std::string packed_graphs_key(const std::filesystem::path& file) {
  return PackedFile(file).text("key");
}

void write_packed_graphs(const std::filesystem::path& file, const PackedItems& packed, const std::string& key) {
  check_packed_items(packed, file.string());
  const ItemSchema& schema = packed.schema;
  std::map<std::string, at::Tensor> sets = {{packed_version_name, at::tensor({packed_version}, at::kLong)},
                                            {"task", as_bytes(task_name(schema.task))},
                                            {"output_names", as_text(schema.output_names)},
                                            {"ptr", packed.graphs.ptr},
                                            {"rowptr", packed.graphs.graph.rowptr},
                                            {"col", packed.graphs.graph.col},
                                            {"weight", packed.graphs.graph.weight},
                                            {"node_categories", packed.node_categories},
                                            {"node_values", packed.node_values},
                                            {"edge_categories", packed.edge_categories},
                                            {"edge_values", packed.edge_values},
                                            {"coordinates", packed.coordinates},
                                            {"target", packed.target},
                                            {"node_split", packed.node_split}};
  if (packed.node_categories.defined()) sets["node_vocabulary"] = at::tensor(schema.node_vocabulary, at::kLong);
  if (packed.edge_categories.defined()) sets["edge_vocabulary"] = at::tensor(schema.edge_vocabulary, at::kLong);
  if (!schema.label_values.empty()) sets["label_values"] = at::tensor(schema.label_values);
  for (const auto& [name, split] : named_splits) {
    if (packed.split) sets[name] = at::tensor(*packed.split.*split, at::kLong);
  }
  if (!packed.smiles.empty()) sets["smiles"] = as_text(packed.smiles);
  if (!packed.lines.empty()) sets["lines"] = at::tensor(packed.lines, at::kLong);
  if (!packed.names.empty()) sets["names"] = as_text(packed.names);
  if (!packed.warnings.empty()) sets["remarks"] = as_text(packed.warnings);
  if (!key.empty()) sets["key"] = as_bytes(key);
  std::erase_if(sets, [](const auto& set) { return !set.second.defined(); });
  for (auto& [name, tensor] : sets) tensor = narrowed(tensor);
  write_hdf5(file, sets);
}

}  // namespace geosft
