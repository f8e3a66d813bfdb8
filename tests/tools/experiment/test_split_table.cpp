// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/split_table.h"

#include <catch2/catch.hpp>

#include "tests/data/files.h"
#include "tests/support.h"

namespace geosft::test::test_split_table {

TEST_CASE("a table of splits has a row for each item, and its counts read back") {
  const std::vector<SplitRow> rows = {{"train", 4, "chair/a.off"},
                                      {"train", 0, "a \"large\", old\nchair.off"},
                                      {"validation", 2, ""},
                                      {"test", 0, "chair/b.off"}};
  const std::string csv = split_csv(rows);
  CHECK(csv ==
        "split,item,name\ntrain,4,chair/a.off\ntrain,0,\"a \"\"large\"\", old\nchair.off\"\nvalidation,2,\n"
        "test,0,chair/b.off\n");
  const TemporaryFolder folder;
  write_text(folder / "split.csv", csv);
  const auto counts = split_counts(folder / "split.csv");
  CHECK(counts == std::vector<std::pair<std::string, int64_t>>{{"train", 2}, {"validation", 1}, {"test", 1}});
  CHECK(split_counts_text(counts) == "2 train, 1 validation, 1 test");
}

TEST_CASE("without items there is no table, and without a table there are no counts") {
  CHECK(split_csv({}).empty());
  const TemporaryFolder folder;
  CHECK(split_counts(folder / "split.csv").empty());
  CHECK(split_counts_text({}).empty());
  write_text(folder / "split.csv", "name,split\na,train\n");
  require_error([&] { split_counts(folder / "split.csv"); }, {"split.csv", "split,item,name"});
}

}  // namespace geosft::test::test_split_table
