// SPDX-License-Identifier: Apache-2.0
#include "data/sequences/sequence_dataset.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <set>
#include <string_view>

#include <c10/util/StringUtil.h>

#include "data/data_error.h"
#include "data/dataset_formats.h"
#include "data/formats/text_lines.h"
#include "data/safe_join.h"
#include "data/sequences/listops.h"
#include "data/sequences/pathfinder.h"
#include "data/sequences/picture_folders.h"

namespace geosft {
namespace {

namespace fs = std::filesystem;

// Returns whether `name` is "SETDimension3" beside SET, as the UEA archive publishes single dimensions of its series.
bool is_dimension(const std::string& name, const std::set<std::string>& known) {
  const size_t at = name.rfind("Dimension");
  return at != std::string::npos && known.contains(name.substr(0, at)) &&
         parse_integer(std::string_view(name).substr(at + std::string_view("Dimension").size()));
}

// Returns all NAMEs of NAME_TRAIN.ts or, with another ending, NAME_TRAIN.tsv in a folder, without single dimensions.
std::vector<std::string> series_names(const fs::path& folder, const std::string& ending) {
  const std::string train = "_TRAIN" + ending;
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const std::string file = entry.path().filename().string();
    if (file.ends_with(train)) names.push_back(file.substr(0, file.size() - train.size()));
  }
  const std::set<std::string> known(names.begin(), names.end());
  std::erase_if(names, [&](const std::string& name) { return is_dimension(name, known); });
  return names;
}

// Interpolates missing numbers (NaN) of a strided series.
void fill_missing(float* values, int64_t count, int64_t stride) {
  int64_t before = -1;  // index of the last number present
  const auto value = [&](int64_t i) -> float& { return values[i * stride]; };
  for (int64_t i = 0; i <= count; ++i) {
    if (i < count && std::isnan(value(i))) continue;
    for (int64_t gap = before + 1; gap < i; ++gap) {
      if (before < 0) {
        value(gap) = i < count ? value(i) : 0.0F;
      } else if (i == count) {
        value(gap) = value(before);
      } else {
        const float share = static_cast<float>(gap - before) / static_cast<float>(i - before);
        value(gap) = value(before) + share * (value(i) - value(before));
      }
    }
    before = i;
  }
}

at::Tensor filled(const TsFile& set) {
  at::Tensor values = set.values.contiguous().clone();
  const int64_t *ptr = set.ptr.const_data_ptr<int64_t>(), dimensions = set.dimensions();
  float* data = values.mutable_data_ptr<float>();
  for (int64_t b = 0; b < set.size(); ++b) {
    for (int64_t d = 0; d < dimensions; ++d) {
      fill_missing(data + ptr[b] * dimensions + d, ptr[b + 1] - ptr[b], dimensions);
    }
  }
  return values;
}

// Adds a warning if series of `source` have no known value.
void warn_of_unknown_series(const TsFile& set, const std::string& source, PackedItems& packed) {
  const at::Tensor known = set.values.isnan().logical_not().any(1).to(at::kLong);
  const at::Tensor before = at::constant_pad_nd(known.cumsum(0), {1, 0});
  const at::Tensor end = before.index_select(0, set.ptr);
  const int64_t count = (end.slice(0, 1) == end.slice(0, 0, -1)).sum().item<int64_t>();
  if (count == 0) return;
  packed.warnings.push_back(source + ": " + std::to_string(count) +
                            (count == 1 ? " series has no known value, and is read as zeros"
                                        : " series have no known value, and are read as zeros"));
}

// Adds a warning for each column of `values` [n, columns], float32, whose mean is large compared with its deviation.
void warn_of_offsets(const at::Tensor& values, const std::string& source, const std::string& column,
                     PackedItems& packed) {
  constexpr double exact_ratio = 1e6, exact_mean = 1 << 24;  // float32 has 7 digits, and integers up to here
  for (int64_t i = 0; i < values.size(1); ++i) {
    const at::Tensor all = values.select(1, i), known = all.masked_select(all.isnan().logical_not()).to(at::kDouble);
    if (known.numel() < 2) continue;
    const double mean = known.mean().item<double>(), deviation = known.std(/*unbiased=*/false).item<double>();
    if (std::abs(mean) < exact_ratio * deviation || std::abs(mean) < exact_mean) continue;
    packed.warnings.push_back(c10::str(source, ": ", column, values.size(1) > 1 ? c10::str(" ", i) : "",
                                       " has a mean of ", mean, " and a deviation of ", deviation,
                                       ": float32 has 7 digits; subtract a constant where later ones matter"));
  }
}

// Reads NAME_TRAIN and NAME_TEST with the reader of their ending.
PackedItems read_pair(const fs::path& folder, const std::string& ending, TsFile (*read)(const fs::path&)) {
  const std::vector<std::string> names = series_names(folder, ending);
  if (names.size() != 1) {
    throw DataError(folder.string(), "one file *_TRAIN" + ending, std::to_string(names.size()) + " of them");
  }
  const std::string& name = names.front();
  const fs::path training = folder / (name + "_TRAIN" + ending), testing = folder / (name + "_TEST" + ending);
  const TsFile train = read(training), test = read(testing);
  PackedItems packed = packed_series(train, test);
  warn_of_unknown_series(train, training.string(), packed);
  warn_of_unknown_series(test, testing.string(), packed);
  warn_of_offsets(train.values, training.string(), "dimension", packed);
  if (train.targets.defined()) warn_of_offsets(train.targets.unsqueeze(1), training.string(), "the target", packed);
  check_packed_items(packed, folder.string());
  return packed;
}

bool is_series(const fs::path& folder) {
  return !series_names(folder, ".ts").empty();
}

PackedItems read_series(const fs::path& folder, int64_t) {
  return read_pair(folder, ".ts", read_ts_file);
}

bool is_ucr_tables(const fs::path& folder) {
  return !series_names(folder, ".tsv").empty();
}

PackedItems read_ucr_tables(const fs::path& folder, int64_t) {
  return read_pair(folder, ".tsv", read_ucr_table);
}

bool is_arff(const fs::path& folder) {
  return !series_names(folder, ".arff").empty();
}

PackedItems read_arff(const fs::path& folder, int64_t) {
  return read_pair(folder, ".arff", read_arff_file);
}

// Returns the labels of the test series as indices into the classes of the training series.
at::Tensor matched_labels(const TsFile& train, const TsFile& test) {
  std::vector<int64_t> place;
  for (const std::string& name : test.classes) {
    const auto found = std::find(train.classes.begin(), train.classes.end(), name);
    place.push_back(found == train.classes.end() ? -1 : found - train.classes.begin());
  }
  const at::Tensor labels = at::tensor(place, at::kLong).index_select(0, test.labels);
  const at::Tensor unknown = (labels < 0).nonzero();
  if (unknown.numel() == 0) return labels;
  const auto label = static_cast<size_t>(test.labels[unknown[0][0]].item<int64_t>());
  throw DataError(test.file, "the classes of the training split", "'" + test.classes[label] + "'");
}

using SequenceReader = PackedItems(const fs::path& folder, int64_t max_length);

// Adapts a reader that has no `max_length`.
template <PackedItems (*read)(const fs::path&)>
PackedItems whole(const fs::path& folder, int64_t) {
  return read(folder);
}

const std::vector<DatasetFormat<SequenceReader>>& sequence_formats() {
  static const std::vector<DatasetFormat<SequenceReader>> formats = {
      {"ListOps", "basic_train.tsv", is_listops, whole<read_listops>},
      {"pictures", "train/CLASS/*.jpg or *.png", is_picture_folders, whole<read_picture_folders>},
      {"texts", "*_train.tsv or train/CLASS/*.txt", is_byte_texts, read_byte_texts},
      {"pairs of documents", "*.train.tsv", is_document_pairs, read_document_pairs},
      {"Pathfinder", "metadata/*.npy", is_pathfinder, whole<read_pathfinder>},
      {"MNIST's form", "train-images-idx3-ubyte or train-images.idx3-ubyte", is_idx_images, whole<read_idx_images>},
      {"CIFAR-10", "data_batch_1.bin", is_cifar_images, whole<read_cifar_images>},
      {"UEA, UCR", "one file *_TRAIN.ts", is_series, read_series},
      {"UCR's tables", "one file *_TRAIN.tsv", is_ucr_tables, read_ucr_tables},
      {"ARFF of UEA and UCR", "one file *_TRAIN.arff", is_arff, read_arff},
  };
  return formats;
}

}  // namespace

std::string series_name(const std::filesystem::path& folder) {
  if (!fs::is_directory(folder)) return "";
  std::vector<std::string> names = series_names(folder, ".ts");
  if (names.empty()) names = series_names(folder, ".tsv");
  return names.size() == 1 ? names.front() : "";
}

std::vector<int64_t> item_range(int64_t begin, int64_t end) {
  std::vector<int64_t> items(static_cast<size_t>(end - begin));
  std::iota(items.begin(), items.end(), begin);
  return items;
}

at::Tensor byte_categories(std::vector<uint8_t> bytes, int64_t columns) {
  const auto held = std::make_shared<std::vector<uint8_t>>(std::move(bytes));
  const int64_t rows = static_cast<int64_t>(held->size()) / columns;
  return at::from_blob(
      held->data(), {rows, columns}, [held](void*) {}, at::kByte);
}

PackedItems packed_sequences(const at::Tensor& ptr, const at::Tensor& labels, std::vector<std::string> class_names) {
  PackedItems packed;
  packed.graphs.ptr = ptr;
  packed.graphs.graph.rowptr = at::zeros({ptr[-1].item<int64_t>() + 1}, at::kLong);
  packed.graphs.graph.col = at::empty({0}, at::kLong);
  packed.schema.output_names = std::move(class_names);
  packed.schema.items = "sequences";
  packed.target = labels;
  return packed;
}

PackedItems packed_series(const TsFile& train, const TsFile& test) {
  if (test.dimensions() != train.dimensions()) {
    throw DataError(test.file, std::to_string(train.dimensions()) + " dimensions, as in training",
                    std::to_string(test.dimensions()));
  }
  const bool regression = train.targets.defined();
  for (const TsFile* file : {&train, &test}) {
    if (!regression && file->labels.defined() && file->labels.lt(0).any().item<bool>()) {
      throw DataError(file->file, "series with a class", "? in place of one");
    }
    if (regression ? file->targets.defined() : file->labels.defined()) continue;
    throw DataError(file->file,
                    regression ? "series with targets (@targetLabel true), as in training"
                               : "series with classes (@classLabel true) or targets (@targetLabel true)",
                    "series without, which are for prediction");
  }
  const at::Tensor ptr = at::cat({train.ptr, test.ptr.slice(0, 1) + train.ptr[-1]});
  PackedItems packed = regression
                           ? packed_sequences(ptr, at::cat({train.targets, test.targets}).unsqueeze(1), {"target"})
                           : packed_sequences(ptr, at::cat({train.labels, matched_labels(train, test)}), train.classes);
  if (regression) packed.schema.task = GraphTask::regression;
  packed.node_values = at::cat({filled(train), filled(test)});
  packed.schema.node_values = train.dimensions();
  packed.split = DatasetSplit{item_range(0, train.size()), {}, item_range(train.size(), train.size() + test.size())};
  return packed;
}

PackedItems truncated(const PackedItems& sequences, int64_t max_length) {
  TORCH_CHECK(max_length >= 1, "max_length must be at least 1, not ", max_length);
  const at::Tensor ptr = sequences.schema.documents
                             ? document_offsets(sequences.graphs.ptr, sequences.node_categories.select(1, -1))
                             : sequences.graphs.ptr;
  const at::Tensor sizes = at::diff(ptr);
  PackedItems shorter = sequences;
  shorter.schema.grid_height = shorter.schema.grid_width = 0;
  if (sizes.le(max_length).all().item<bool>()) return shorter;
  const at::Tensor place = at::arange(sequences.graphs.graph.nodes(), at::kLong) -
                           at::repeat_interleave(ptr.slice(0, 0, -1), sizes, 0, sequences.graphs.graph.nodes());
  static_cast<FeaturedGraphs&>(shorter) = induced_subgraph(sequences, (place < max_length).nonzero().squeeze(1));
  return shorter;
}

std::string sequence_formats_text() {
  return formats_text(sequence_formats());
}

bool has_series_ending(const fs::path& file) {
  const std::string ending = lower_case(file.extension().string());
  return ending == ".ts" || ending == ".tsv" || ending == ".arff";
}

PackedItems read_unlabelled_series(const fs::path& file) {
  const std::string ending = lower_case(file.extension().string());
  if (!fs::exists(file)) throw DataError(file.string(), "a file of series", "nothing of this name");
  if (!has_series_ending(file)) {
    throw DataError(file.string(), "series: *.ts or *.arff (UEA, UCR) or *.tsv (UCR's tables)", "another ending");
  }
  const TsFile series = ending == ".ts"     ? read_ts_file(file)
                        : ending == ".arff" ? read_arff_file(file)
                                            : read_ucr_table(file);
  PackedItems packed = packed_sequences(series.ptr, {}, {});
  packed.node_values = filled(series);
  packed.schema.node_values = series.dimensions();
  warn_of_unknown_series(series, file.string(), packed);
  return packed;
}

float series_number(const TextLines& lines, std::string_view word, const char* what) {
  constexpr double most = 1e30;
  const double value = lines.to_number(word, what);
  if (std::abs(value) > most)
    lines.fail_word("a number of at most 1e30 in magnitude (? or NaN for a missing one)", word);
  return static_cast<float>(value);
}

std::string empty_texts_warning(const fs::path& folder, int64_t count) {
  return folder.string() + ": " + std::to_string(count) + " empty texts are read as one blank each";
}

bool is_sequence_dataset(const fs::path& folder) {
  return fs::is_directory(folder) && find_format(sequence_formats(), folder) != nullptr;
}

PackedItems open_sequence_dataset(const fs::path& folder, int64_t max_length) {
  if (!fs::is_directory(folder)) {
    throw DataError(folder.string(), "a folder with sequences", "none of this name");
  }
  check_links(folder);
  const DatasetFormat<SequenceReader>* format = find_format(sequence_formats(), folder);
  if (format == nullptr) throw DataError(folder.string(), formats_text(sequence_formats()), "none of these");
  return format->read(folder, max_length);
}

}  // namespace geosft
