// SPDX-License-Identifier: Apache-2.0
// Generates and reads ListOps (Nangia and Bowman, 2018, as in the Long Range Arena): nested list operations on digits,
// whose value, a digit, is the class of the sequence.
#pragma once

#include <ATen/core/Generator.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "data/packed_items.h"

namespace geosft {

// Tokens: 0 … 9 are the digits, then [MAX, [MIN, [MED, [SM and ].
inline constexpr int64_t listops_vocabulary = 15;
const std::vector<std::string>& listops_words();

struct ListOpsOptions {
  int64_t min_tokens = 500, max_tokens = 2000;
  int64_t max_depth = 10;      // depth of the tree, including its digits
  int64_t max_arguments = 10;  // of an operator, which has at least two
};

struct ListOpsItem {
  std::vector<int64_t> tokens;
  int64_t value = 0;
  int64_t depth = 0;
};

// Generates a random expression: above the deepest level each node is an operator with probability 1/4, otherwise a
// digit; resampled until the length is in range. The result depends only on the options and the generator state. Throws
// an error if no expression can have such a length.
ListOpsItem generate_listops(const ListOpsOptions& options, at::Generator& generator);

// Evaluates an expression: maximum, minimum, median (rounded down), sum modulo 10. Throws std::invalid_argument, saying
// what was expected, if the tokens are not an expression.
int64_t listops_value(const std::vector<int64_t>& tokens);

// Writes `count` lines in the format of the Long Range Arena, with the header "Source<TAB>Target" and without
// parentheses.
void write_listops(const std::filesystem::path& file, const ListOpsOptions& options, int64_t count, uint64_t seed);

// Reads basic_train.tsv, basic_val.tsv and basic_test.tsv of the Long Range Arena as sequences of categories. Throws
// DataError, naming file and line, for unknown words and for targets that differ from the value.
PackedItems read_listops(const std::filesystem::path& folder);
bool is_listops(const std::filesystem::path& folder);

}  // namespace geosft
