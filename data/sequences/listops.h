// SPDX-License-Identifier: Apache-2.0
// ListOps (Nangia and Bowman, 2018, as the Long Range Arena has it): nested lists of digits whose value, a digit again,
// is the class of the sequence.
#pragma once

#include <ATen/core/Generator.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "data/packed_items.h"

namespace geosft {

// Tokens: the digits 0 … 9 are themselves, then [MAX, [MIN, [MED, [SM and ].
inline constexpr int64_t listops_vocabulary = 15;
const std::vector<std::string>& listops_words();

struct ListOpsOptions {
  int64_t min_tokens = 500, max_tokens = 2000;
  int64_t max_depth = 10;      // of the tree, its digits included
  int64_t max_arguments = 10;  // of an operator, which has two at least
};

struct ListOpsItem {
  std::vector<int64_t> tokens;
  int64_t value = 0;
  int64_t depth = 0;
};

// A random expression: an operator with probability 1/4 above the deepest level, a digit otherwise, drawn again until
// its length is as asked for. A function of the options and the state of the generator. Throws an error where no
// expression can have such a length.
ListOpsItem generate_listops(const ListOpsOptions& options, at::Generator& generator);

// The value of an expression: maximum, minimum, median (rounded down), sum modulo 10. Throws std::invalid_argument,
// saying what was expected, for tokens that are no expression.
int64_t listops_value(const std::vector<int64_t>& tokens);

// `count` lines of a file of the Long Range Arena, "Source<TAB>Target" above them, parentheses left out.
void write_listops(const std::filesystem::path& file, const ListOpsOptions& options, int64_t count, uint64_t seed);

// basic_train.tsv, basic_val.tsv and basic_test.tsv of a folder, as the Long Range Arena names them, as sequences of
// categories. Throws DataError naming file and line for words that are none, and targets that are not the value.
PackedItems read_listops(const std::filesystem::path& folder);
bool is_listops(const std::filesystem::path& folder);

}  // namespace geosft
