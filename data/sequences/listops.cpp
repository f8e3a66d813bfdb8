// SPDX-License-Identifier: Apache-2.0
#include "data/sequences/listops.h"

#include <ATen/CPUGeneratorImpl.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "data/atomic_file.h"
#include "data/data_error.h"
#include "data/formats/text_lines.h"
#include "data/read_file.h"
#include "data/seeds.h"
#include "data/sequences/sequence_dataset.h"

namespace geosft {
namespace {

constexpr int64_t first_operator = 10, closing_token = 14, operator_count = 4;
constexpr double operator_share = 0.25;
constexpr int64_t max_trees = 1000000;
constexpr const char* listops_splits[] = {"train", "val", "test"};

// Samples random trees, and abandons a tree as soon as it is too long.
class TreeBuilder {
 public:
  TreeBuilder(const ListOpsOptions& options, at::Generator& generator)
      : options_(options), random_(at::check_generator<at::CPUGeneratorImpl>(generator)) {}

  // Returns false if the tree became too long.
  bool build() {
    item_ = {};
    return add(1);
  }
  ListOpsItem& item() { return item_; }

 private:
  int64_t below(int64_t count) { return static_cast<int64_t>(random_->random64() % static_cast<uint64_t>(count)); }
  double share() { return static_cast<double>(random_->random64() >> 11) * 0x1p-53; }

  bool push(int64_t token) {
    item_.tokens.push_back(token);
    return static_cast<int64_t>(item_.tokens.size()) <= options_.max_tokens;
  }

  bool add(int64_t depth) {
    item_.depth = std::max(item_.depth, depth);
    if (depth >= options_.max_depth || share() >= operator_share) return push(below(10));
    if (!push(first_operator + below(operator_count))) return false;
    for (int64_t n = 2 + below(options_.max_arguments - 1); n > 0; --n) {
      if (!add(depth + 1)) return false;
    }
    return push(closing_token);
  }

  const ListOpsOptions& options_;
  at::CPUGeneratorImpl* random_;
  ListOpsItem item_;
};

int64_t applied(int64_t token, std::vector<int64_t>& arguments) {
  if (arguments.empty()) throw std::invalid_argument("an operator with arguments");
  std::sort(arguments.begin(), arguments.end());
  const size_t middle = arguments.size() / 2;
  switch (token - first_operator) {
    case 0:
      return arguments.back();
    case 1:
      return arguments.front();
    case 2:
      return arguments.size() % 2 == 1 ? arguments[middle] : (arguments[middle - 1] + arguments[middle]) / 2;
    default:
      return std::accumulate(arguments.begin(), arguments.end(), int64_t{0}) % 10;
  }
}

std::filesystem::path split_file(const std::filesystem::path& folder, const char* split) {
  return folder / (std::string("basic_") + split + ".tsv");
}

struct Expressions {
  std::vector<uint8_t> tokens;
  std::vector<int64_t> offsets{0}, values;
};

// Reads one line: the words of an expression and its value.
void read_expression(TextLines& lines, Expressions& all) {
  const std::vector<std::string>& words = listops_words();
  std::vector<int64_t> tokens;
  int64_t value = -1;
  for (std::string_view word = lines.word(); !word.empty(); word = lines.word()) {
    if (word == "(" || word == ")") continue;
    if (value >= 0) tokens.push_back(value);  // the last word is the target
    const auto found = std::find(words.begin(), words.end(), word);
    if (found == words.end()) lines.fail_word("a digit, an operator of ListOps or ]", word);
    value = found - words.begin();
  }
  try {
    const int64_t expected = listops_value(tokens);
    if (value != expected)
      lines.fail("the value of the expression, " + std::to_string(expected), std::to_string(value));
  } catch (const std::invalid_argument& error) {
    lines.fail(error.what(), "another expression");
  }
  for (const int64_t token : tokens) all.tokens.push_back(static_cast<uint8_t>(token));
  all.offsets.push_back(static_cast<int64_t>(all.tokens.size()));
  all.values.push_back(value);
}

void read_expressions(const std::filesystem::path& file, Expressions& all) {
  const std::string text = read_file(file);
  TextLines lines(text, file.string());
  if (!lines.next() || lines.word() != "Source")
    throw DataError(file.string(), "a first line Source<TAB>Target", "another");
  const size_t before = all.values.size();
  while (lines.next()) read_expression(lines, all);
  if (all.values.size() == before) throw DataError(file.string(), "expressions below the first line", "none");
}

}  // namespace

const std::vector<std::string>& listops_words() {
  static const std::vector<std::string> words{"0", "1", "2",    "3",    "4",    "5",   "6", "7",
                                              "8", "9", "[MAX", "[MIN", "[MED", "[SM", "]"};
  return words;
}

ListOpsItem generate_listops(const ListOpsOptions& options, at::Generator& generator) {
  TORCH_CHECK(options.max_arguments >= 2 && options.max_depth >= 1 && options.min_tokens <= options.max_tokens,
              "options must have max_arguments >= 2, max_depth >= 1 and min_tokens <= max_tokens, got ",
              options.max_arguments, ", ", options.max_depth, ", ", options.min_tokens, " and ", options.max_tokens);
  TreeBuilder builder(options, generator);
  for (int64_t tries = 0; tries < max_trees; ++tries) {
    if (!builder.build()) continue;
    ListOpsItem& item = builder.item();
    if (static_cast<int64_t>(item.tokens.size()) < options.min_tokens) continue;
    item.value = listops_value(item.tokens);
    return item;
  }
  TORCH_CHECK(false, "no expression of ", options.min_tokens, " to ", options.max_tokens, " tokens in ", max_trees,
              " trees of depth ", options.max_depth);
}

int64_t listops_value(const std::vector<int64_t>& tokens) {
  struct Open {
    int64_t token;
    std::vector<int64_t> arguments;
  };
  std::vector<Open> open{{-1, {}}};
  for (int64_t token : tokens) {
    if (token >= first_operator && token < closing_token) {
      open.push_back({token, {}});
      continue;
    }
    if (token == closing_token) {
      if (open.size() == 1) throw std::invalid_argument("an operator for every ]");
      token = applied(open.back().token, open.back().arguments);
      open.pop_back();
    }
    open.back().arguments.push_back(token);
  }
  if (open.size() != 1) throw std::invalid_argument("a ] for every operator");
  if (open.front().arguments.size() != 1) throw std::invalid_argument("one expression");
  return open.front().arguments.front();
}

void write_listops(const std::filesystem::path& file, const ListOpsOptions& options, int64_t count, uint64_t seed) {
  at::Generator generator = make_generator(seed);
  std::string text = "Source\tTarget\n";
  for (int64_t n = 0; n < count; ++n) {
    const ListOpsItem item = generate_listops(options, generator);
    for (size_t i = 0; i < item.tokens.size(); ++i) {
      text += (i > 0 ? " " : "") + listops_words()[static_cast<size_t>(item.tokens[i])];
    }
    text += "\t" + std::to_string(item.value) + "\n";
  }
  write_file_atomically(file, text);
}

bool is_listops(const std::filesystem::path& folder) {
  return std::filesystem::exists(split_file(folder, listops_splits[0]));
}

PackedItems read_listops(const std::filesystem::path& folder) {
  Expressions all;
  DatasetSplit split;
  for (auto* rows : {&split.train, &split.validation, &split.test}) {
    const size_t number = rows == &split.train ? 0 : rows == &split.validation ? 1 : 2;
    const auto first = static_cast<int64_t>(all.values.size());
    read_expressions(split_file(folder, listops_splits[number]), all);
    *rows = item_range(first, static_cast<int64_t>(all.values.size()));
  }
  PackedItems packed = packed_sequences(at::tensor(all.offsets, at::kLong), at::tensor(all.values, at::kLong),
                                        {listops_words().begin(), listops_words().begin() + 10});
  packed.node_categories = byte_categories(std::move(all.tokens), 1);
  packed.schema.node_vocabulary = {listops_vocabulary};
  packed.split = split;
  check_packed_items(packed, folder.string());
  return packed;
}

}  // namespace geosft
