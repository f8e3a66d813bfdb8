// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/split_table.h"

#include <catch2/catch.hpp>

#include "tests/data/files.h"
#include "tests/support.h"

namespace geosft::test::test_split_table {

TEST_CASE("a table of splits has a row for each item, and its counts read back") {
  const std::vector<SplitRow> rows = {{"train", 4, "chair/a.off"},
                                      {"train", 0, "a \"large\", old\nchair.off", "chair, old"},
                                      {"validation", 2, "", "1;;0.5"},
                                      {"test", 0, "chair/b.off"}};
  const std::string csv = split_csv(rows);
  CHECK(csv ==
        "split,item,name,label\ntrain,4,chair/a.off,\ntrain,0,\"a \"\"large\"\", old\nchair.off\",\"chair, old\"\n"
        "validation,2,,1;;0.5\ntest,0,chair/b.off,\n");
  const TemporaryFolder folder;
  write_text(folder / "split.csv", csv);
  const auto counts = split_counts(folder / "split.csv");
  CHECK(counts == std::vector<std::pair<std::string, int64_t>>{{"train", 2}, {"validation", 1}, {"test", 1}});
  CHECK(split_counts_text(counts) == "2 train, 1 validation, 1 test");
}

TEST_CASE("test items with the name of one that is trained on or held out are counted") {
  CHECK(tested_training_items({}) == 0);
  CHECK(tested_training_items({{"train", 0, "a"}, {"validation", 1, "b"}, {"test", 0, "c"}, {"test", 1, "d"}}) == 0);
  CHECK(tested_training_items(
            {{"train", 0, "a"}, {"validation", 1, "b"}, {"test", 0, "b"}, {"test", 1, "a"}, {"test", 2, "c"}}) == 2);
  CHECK(tested_training_items({{"train", 0, ""}, {"test", 0, ""}}) == 0);  // without names
}

TEST_CASE("items of other data with the name of one that was trained on or held out are counted") {
  const TemporaryFolder folder;
  const std::string file = (folder / "split.csv").string();
  CHECK(known_training_items(file, {"a"}) == 0);
  write_text(file, split_csv({{"train", 0, "a"}, {"validation", 1, "b"}, {"train", 2, ""}, {"test", 3, "c"}}));
  CHECK(known_training_items(file, {"c", "b", "d", "", "a", "a"}) == 3);
  CHECK(known_training_items(file, {"c", "d"}) == 0);
}

TEST_CASE("the rows of a table of splits read back, whatever their names hold") {
  const std::vector<SplitRow> rows = {
      {"train", 4, "chair/a.off"}, {"train", 0, "a \"large\", old\nchair.off", "a \"label\""}, {"test", 7}};
  const TemporaryFolder folder;
  write_text(folder / "split.csv", split_csv(rows));
  CHECK(split_csv(read_split_rows(folder / "split.csv")) == split_csv(rows));
  CHECK(read_split_rows(folder / "absent.csv").empty());
  for (const char* row : {"train,x,a,b\n", "train,1,a\n", "train,1a,b,c\n"}) {
    write_text(folder / "split.csv", std::string("split,item,name,label\n") + row);
    require_error([&] { read_split_rows(folder / "split.csv"); }, {"split.csv", "row 1"});
  }
  write_text(folder / "split.csv", "split,item,name\ntrain,4,a\n");  // as earlier versions
  CHECK(split_csv(read_split_rows(folder / "split.csv")) == split_csv({{"train", 4, "a"}}));
}

TEST_CASE("data are those of a run where their splits have the same items and names, wherever they lie") {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder / "split.csv";
  const std::vector<SplitRow> rows = {
      {"train", 0, "/old/a/1.png", "cat"}, {"train", 2, "/old/b/2.png", "dog"}, {"test", 1, "/old/a/3.png"}};
  write_text(file, split_csv(rows));
  const auto require = [&](const std::vector<SplitRow>& now) {
    require_recorded_split(file, now, "new data", "do this");
  };
  require(rows);
  require({{"test", 1, "moved/here/a/3.png"}, {"train", 0, "moved/here/a/1.png"}, {"train", 2, "moved/here/b/2.png"}});
  require({{"train", 0}, {"train", 2}, {"test", 1}});
  require({{"train", 0, "", "cat"}, {"train", 2}, {"test", 1, "", "cat"}});
  const auto refused = [&](const std::vector<SplitRow>& now, const std::vector<std::string>& expected) {
    require_error([&] { require(now); }, expected);
  };
  refused({{"train", 0}, {"test", 2}, {"test", 1}},
          {"new data", "split.csv", "item 2 was 'b/2.png' of the train split and is of the test split", "do this"});
  refused({{"train", 0, "x/1.png"}, {"train", 2, "y/2.png"}, {"test", 1, "y/3.png"}},
          {"item 0 was 'a/1.png'", "is 'x/1.png'"});
  refused({{"train", 0, "", "cat"}, {"train", 2, "", "cat"}, {"test", 1}},
          {"others: item 2, of the train split, had the label 'dog' and has 'cat'; do this"});
  write_text(file, split_csv({{"train", 0, "a", "1;;0"}}));
  for (const char* label : {"1;0;0", ";;0", "", ";1;"}) require({{"train", 0, "a", label}});
  refused({{"train", 0, "a", "1;1;1"}},
          {"item 0, 'a' of the train split, had the label '0' and has '1' as target 3 of 3; do this"});
  refused({{"train", 0, "a", "1;0"}}, {"had 3 targets and has 2"});
  write_text(file, split_csv({{"train", 0, "a", "cat;"}}));  // a class
  refused({{"train", 0, "a", "cat;dog"}}, {"had the label 'cat;' and has 'cat;dog'; do this"});
  write_text(file, split_csv(rows));
  refused({{"train", 0}, {"test", 1}},
          {"2 items in place of 3", "item 2 was 'b/2.png' of the train split and is absent"});
  refused({{"train", 0}, {"train", 2}, {"test", 1}, {"test", 3}}, {"4 items in place of 3", "item 3 was absent"});
  require_recorded_split(folder / "absent.csv", rows, "new data", "do this");
}

TEST_CASE("the items of one split are compared with those that a table lists for it, without those left out") {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder / "split.csv";
  write_text(file, split_csv({{"train", 0, "a/1"},
                              {"validation", 1, "a/2"},
                              {"train", 2, "b/1"},
                              {"test", 0, "a/3"},
                              {"test", 1, "a/4"},
                              {"test", 2, "b/3"}}));
  const auto require = [&](const std::vector<std::string>& splits, const std::vector<std::string>& names,
                           size_t left_out = 0, bool unlisted = false) {
    std::vector<SplitRow> rows;
    for (const std::string& name : names) rows.push_back({"any", static_cast<int64_t>(rows.size()), name});
    return require_recorded_items(file, splits, rows, {left_out, unlisted}, "new data", "do this");
  };
  using Splits = std::vector<std::string>;
  CHECK(require({"test"}, {"a/3", "a/4", "b/3"}) == Splits{"test", "test", "test"});
  CHECK(require({"train", "validation"}, {"a/1", "a/2", "b/1"}) == Splits{"train", "validation", "train"});
  CHECK(require({"train", "validation"}, {"a/2", "b/1"}, 1) == Splits{"validation", "train"});
  CHECK(require({"train"}, {"a/1", "a/2", "b/1", "b/2"}, 0, /*unlisted=*/true) == Splits{"train", "", "train", ""});
  CHECK(require({"train"}, {"a/2", "b/1", "b/2"}, 1, /*unlisted=*/true) == Splits{"", "train", ""});
  require_error([&] { require({"train"}, {"a/0", "a/2", "b/1"}, 0, /*unlisted=*/true); }, {"item 0 was 'a/1'"});
  require_error([&] { require({"train"}, {"a/1", "a/2"}, 0, /*unlisted=*/true); }, {"1 items in place of 2"});
  require({"test"}, {"a/3", "b/3"}, 1);
  require({"test"}, {"b/3"}, 2);
  require({"test"}, {"a/3", "a/4", "b/3"}, 1);  // one more was left out before, too
  const auto refused = [&](const std::vector<std::string>& names, size_t left_out,
                           const std::vector<std::string>& expected) {
    require_error([&] { require({"test"}, names, left_out); }, expected);
  };
  refused({"a/1", "a/4", "b/3"}, 0,
          {"new data", "split.csv", "item 0 was 'a/3' of the test split", "'a/1'", "do this"});
  refused({"a/3", "b/3"}, 0, {"2 items in place of 3", "by name 'a/4' is missing; item 1 was 'a/4'"});
  refused({"a/0", "a/4", "b/3"}, 0, {"by name 'a/3' is missing, and 'a/0' is new; item 0"});
  refused({"b/3", "c/1", "c/2"}, 0, {"by name 'a/3' and 1 more are missing, and 'c/1' and 1 more are new; "});
  refused({"b/3"}, 1, {"1 items in place of 3"});
  refused({"a/1", "a/3", "b/3"}, 1, {"item 0", "'a/1'"});
  CHECK(require_recorded_items(folder / "absent.csv", {"test"}, {{"any", 0, "a"}}, {}, "new data", "do this").empty());
}

TEST_CASE("without items there is no table, and without a table there are no counts") {
  CHECK(split_csv({}).empty());
  const TemporaryFolder folder;
  CHECK(split_counts(folder / "split.csv").empty());
  CHECK(split_counts_text({}).empty());
  write_text(folder / "split.csv", "name,split\na,train\n");
  require_error([&] { split_counts(folder / "split.csv"); }, {"split.csv", "split,item,name,label"});
}

}  // namespace geosft::test::test_split_table
