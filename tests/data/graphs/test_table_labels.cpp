// SPDX-License-Identifier: Apache-2.0
#include "data/graphs/table_labels.h"

#include <catch2/catch.hpp>

#include "tests/data/files.h"
#include "tests/data/graphs/graphs.h"
#include "tests/data/graphs/small_graphs.h"
#include "tests/support.h"

namespace geosft::test::test_table_labels {
namespace {

using Names = std::vector<std::string>;
using Items = std::vector<int64_t>;

// Three rows in lines 4, 6 and 8 of a file whose names are in line 2.
const TextTable table = {"t",
                         {"energy", "kind", "charge", "comment"},
                         {{"1.5", "", "4"}, {"a", "b", "a"}, {"0", "0", "0"}, {"1", "2", "9"}},
                         {4, 6, 8},
                         2};

GraphReadOptions naming(const Names& names) {
  GraphReadOptions options;
  options.label_columns = names;
  return options;
}

}  // namespace

TEST_CASE("labels of a table without SMILES are its numbers but for constants and comments") {
  const TableLabels labels = table_labels(table, std::nullopt, naming({"energy", "comment"}));
  CHECK(labels.task == GraphTask::regression);
  CHECK(labels.names == Names{"energy", "comment"});
  CHECK(labels.rows == Items{0, 1, 2});
  require_equal(labels.target.nan_to_num(-99), at::tensor({1.5F, 1.0F, -99.0F, 2.0F, 4.0F, 9.0F}).view({3, 2}),
                "target");
  const TableLabels found = table_labels(table, std::nullopt, {});
  CHECK(found.names == Names{"energy"});
  CHECK_THAT(found.note, Catch::EndsWith("left out: \"kind\" (texts, as \"a\" in line 4), \"charge\" (one value), "
                                         "\"comment\" (by its name)"));
  // A column of SMILES is no label.
  CHECK_THAT(table_labels(table, 1, {}).note, !Catch::Contains("kind"));
}

TEST_CASE("errors of a table name the line of its names, and what to do without SMILES") {
  require_error([] { table_labels(table, std::nullopt, naming({"gap"})); },
                {"t:2", "a column \"gap\"", "the columns energy, kind, charge, comment"});
  TextTable bare = table;
  bare.names.front() = "id";
  require_error(
      [&] { table_labels(bare, std::nullopt, {}); },
      {"t:2", "KEY=NUMBER in the comments", "--label-columns energy", "none; left out: \"id\" (by its name)"});
  require_error([&] { table_labels(bare, 1, {}); }, {"t:2", "a column of numbers to learn", "beside column \"kind\""});
}

TEST_CASE("the split of the kept rows of a table numbers them anew") {
  TextTable with_split = table;
  with_split.names.front() = "split";
  with_split.columns.front() = {"train", "", "test"};
  Names warnings;
  const auto split = table_split(with_split, {0, 2}, {}, warnings);
  REQUIRE(split);
  CHECK((split->train == Items{0} && split->validation.empty() && split->test == Items{1}));
  CHECK(warnings.empty());
  CHECK_FALSE(table_split(with_split, {0, 1, 2}, {}, warnings));
  REQUIRE(warnings.size() == 1);
  CHECK_THAT(warnings[0], Catch::Contains("t:6: column \"split\" is not used"));
  const TemporaryFolder folder;
  write_text(folder / "train.csv", "2\n1\n");
  write_text(folder / "valid.csv", "");
  write_text(folder / "test.csv", "0\n");
  const auto listed = table_split(table, {0, 2}, folder.path(), warnings);
  REQUIRE(listed);
  CHECK((listed->train == Items{1} && listed->test == Items{0}));
}

TEST_CASE("datasets with labels are cached for each choice of these, and a model takes what a training stored") {
  const TemporaryFolder folder;
  int made = 0;
  const auto read = [&](const Names& names, const std::optional<ItemSchema>& known) {
    GraphReadOptions options = naming(names);
    options.cache = folder.path();
    options.known = known;
    return cached_with_labels(options, "id", "key", [&] {
      ++made;
      return small_graphs();
    });
  };
  const PackedItems first = read({}, std::nullopt);
  require_same(read({}, std::nullopt), first);
  CHECK(made == 1);
  read({}, first.schema);
  CHECK(made == 1);
  read({"energy"}, std::nullopt);
  CHECK(made == 2);
  ItemSchema other = first.schema;
  other.output_names.front() += "s";
  read({}, other);
  CHECK(made == 3);
}

}  // namespace geosft::test::test_table_labels
