// SPDX-License-Identifier: Apache-2.0
#include "data/sequences/listops.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <sstream>

#include "tests/data/files.h"
#include "tests/support.h"

namespace geosft::test::test_listops {
namespace {

std::vector<int64_t> tokens_of(const std::string& text) {
  const auto& words = listops_words();
  std::istringstream in(text);
  std::vector<int64_t> tokens;
  for (std::string word; in >> word;) tokens.push_back(std::find(words.begin(), words.end(), word) - words.begin());
  return tokens;
}

// The share of every value among all expressions of one operator and two or three digits, either as likely.
std::vector<double> shares_of_flat_expressions() {
  std::vector<double> shares(10);
  for (int64_t op = 10; op < 14; ++op) {
    for (int64_t digits = 0; digits < 1000; ++digits) {
      const int64_t a = digits / 100, b = digits / 10 % 10, c = digits % 10;
      shares[static_cast<size_t>(listops_value({op, a, b, 14}))] += 1.0 / 8000;
      shares[static_cast<size_t>(listops_value({op, a, b, c, 14}))] += 1.0 / 8000;
    }
  }
  return shares;
}

}  // namespace

TEST_CASE("expressions have the value that their operators give", "[listops]") {
  CHECK(listops_value(tokens_of("7")) == 7);
  CHECK(listops_value(tokens_of("[MAX 2 9 [MIN 4 7 ] 0 ]")) == 9);
  CHECK(listops_value(tokens_of("[MIN 2 9 [MAX 1 ] ]")) == 1);
  CHECK(listops_value(tokens_of("[MED 1 5 9 ]")) == 5);
  CHECK(listops_value(tokens_of("[MED 1 6 2 9 ]")) == 4);
  CHECK(listops_value(tokens_of("[MED 1 2 ]")) == 1);
  CHECK(listops_value(tokens_of("[SM 9 8 [SM 7 6 ] ]")) == 0);
  for (const char* broken : {"", "1 2", "[MAX 1", "1 ]", "[MAX ]"}) {
    CHECK_THROWS_AS(listops_value(tokens_of(broken)), std::invalid_argument);
  }
}

TEST_CASE("generated expressions have the lengths, depth and classes of the benchmark", "[listops]") {
  at::Generator random = generator(3);
  const ListOpsOptions options;
  std::vector<int64_t> classes(10), operators(15);
  int64_t deepest = 0, count = 400;
  double length = 0;
  for (int64_t n = 0; n < count; ++n) {
    const ListOpsItem item = generate_listops(options, random);
    const auto tokens = static_cast<int64_t>(item.tokens.size());
    REQUIRE(tokens >= 500);
    REQUIRE(tokens <= 2000);
    REQUIRE(item.depth <= 10);
    REQUIRE(item.value == listops_value(item.tokens));
    deepest = std::max(deepest, item.depth);
    length += static_cast<double>(tokens) / static_cast<double>(count);
    ++classes[static_cast<size_t>(item.value)];
    for (const int64_t token : item.tokens) ++operators[static_cast<size_t>(token)];
  }
  CHECK(deepest == 10);
  CHECK(length > 600);
  CHECK(length < 1400);
  for (const int64_t of_class : classes) {
    CHECK(of_class > count / 40);
    CHECK(of_class < count / 4);
  }
  for (size_t token = 10; token < 14; ++token) {
    CHECK(static_cast<double>(operators[token]) == Approx(static_cast<double>(operators[14]) / 4).epsilon(0.05));
  }
}

TEST_CASE("generated values are as frequent as the definition makes them", "[listops]") {
  const ListOpsOptions flat{.min_tokens = 4, .max_tokens = 5, .max_depth = 2, .max_arguments = 3};
  at::Generator random = generator(4);
  constexpr int64_t count = 20000;
  std::vector<int64_t> found(10);
  for (int64_t n = 0; n < count; ++n) ++found[static_cast<size_t>(generate_listops(flat, random).value)];
  const std::vector<double> shares = shares_of_flat_expressions();
  for (size_t value = 0; value < 10; ++value) {
    INFO(value);
    const double deviation = std::sqrt(count * shares[value] * (1 - shares[value]));
    CHECK(std::abs(static_cast<double>(found[value]) - count * shares[value]) < 4 * deviation);
  }
}

TEST_CASE("a generator's state decides the expression", "[listops]") {
  const ListOpsOptions small{.min_tokens = 5, .max_tokens = 30, .max_depth = 4, .max_arguments = 3};
  at::Generator one = generator(1), same = generator(1), other = generator(2);
  std::vector<int64_t> first, second, third;
  for (int n = 0; n < 5; ++n) {
    first = generate_listops(small, one).tokens;
    second = generate_listops(small, same).tokens;
    third = generate_listops(small, other).tokens;
  }
  CHECK(first == second);
  CHECK(first != third);
  require_error([&] { generate_listops({.min_tokens = 9, .max_tokens = 3}, one); }, {"min_tokens", "9"});
  require_error([&] { generate_listops({.min_tokens = 5, .max_depth = 1}, one); }, {"no expression of 5"});
}

TEST_CASE("files of ListOps are written and read back", "[listops]") {
  const TemporaryFolder folder;
  CHECK_FALSE(is_listops(folder.path()));
  const ListOpsOptions small{.min_tokens = 5, .max_tokens = 30, .max_depth = 4, .max_arguments = 3};
  write_listops(folder / "basic_train.tsv", small, 7, test_seed(1));
  write_listops(folder / "basic_val.tsv", small, 3, 2);
  write_text(folder / "basic_test.tsv", "Source\tTarget\n( ( ( [MAX 2 ) 9 ) ] )\t9\n");
  CHECK(is_listops(folder.path()));
  const PackedItems packed = read_listops(folder.path());
  CHECK(packed.size() == 11);
  CHECK(packed.split->train.size() == 7);
  CHECK(packed.split->validation.size() == 3);
  CHECK(packed.split->test == std::vector<int64_t>{10});
  CHECK(packed.schema.node_vocabulary == std::vector<int64_t>{15});
  CHECK(packed.schema.outputs() == 10);
  at::Generator random = generator(1);
  const ListOpsItem item = generate_listops(small, random);
  const at::Tensor first = packed.node_categories.slice(0, 0, packed.graphs.ptr[1].item<int64_t>()).squeeze(1);
  require_equal(first, at::tensor(item.tokens, at::kLong), "tokens");
  CHECK(packed.target[0].item<int64_t>() == item.value);
  require_equal(packed.node_categories.slice(0, -4).squeeze(1), at::tensor({10, 2, 9, 14}, at::kLong), "parentheses");
}

TEST_CASE("broken files of ListOps name the line", "[listops]") {
  const TemporaryFolder folder;
  const auto refused = [&](const std::string& text, const std::vector<std::string>& words) {
    write_text(folder / "basic_train.tsv", text);
    require_error([&] { read_listops(folder.path()); }, words);
  };
  refused("2\t3\n", {"basic_train.tsv", "Source"});
  refused("Source\tTarget\n[MAX 1 2 ]\t3\n", {"basic_train.tsv:2", "2", "3"});
  refused("Source\tTarget\n[MAX 1 2\t3\n", {"basic_train.tsv:2", "a ] for every operator"});
  refused("Source\tTarget\n[AVG 1 2 ]\t3\n", {"basic_train.tsv:2", "[AVG"});
  refused("Source\tTarget\n", {"basic_train.tsv", "expressions", "none"});
  refused("Source\tTarget\n[MAX 1 2 ]\t2\n", {"basic_val.tsv"});
  write_text(folder / "basic_val.tsv", "Source\tTarget\n");
  require_error([&] { read_listops(folder.path()); }, {"basic_val.tsv", "expressions", "none"});
}

}  // namespace geosft::test::test_listops
