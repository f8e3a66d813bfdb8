// SPDX-License-Identifier: Apache-2.0
#include "data/sequences/sequence_dataset.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "tests/data/files.h"
#include "tests/support.h"

namespace geosft::test::test_sequence_dataset {
namespace {

const std::string header = "@missing true\n@dimensions 2\n@classLabel true a b\n@data\n";

}  // namespace

TEST_CASE("series become sequences with their published split", "[sequence_dataset]") {
  const TemporaryFolder folder;
  write_text(folder / "S_TRAIN.ts", header + "1,2,3:4,5,6:b\n7:8:a\n");
  write_text(folder / "S_TEST.ts", header + "9,10:11,12:a\n");
  const PackedItems packed = open_sequence_dataset(folder.path());
  CHECK(packed.size() == 3);
  CHECK(packed.schema.node_values == 2);
  CHECK(packed.schema.items == "sequences");
  CHECK(packed.schema.output_names == std::vector<std::string>{"a", "b"});
  CHECK(packed.graphs.graph.edges() == 0);
  require_equal(packed.graphs.ptr, at::tensor({0, 3, 4, 6}, at::kLong), "ptr");
  require_equal(packed.target, at::tensor({1, 0, 0}, at::kLong), "target");
  require_equal(packed.node_values.select(1, 1), at::tensor({4.0, 5.0, 6.0, 8.0, 11.0, 12.0}, at::kFloat), "values");
  CHECK(packed.split->train == std::vector<int64_t>{0, 1});
  CHECK(packed.split->test == std::vector<int64_t>{2});
  CHECK(packed.split->validation.empty());
}

TEST_CASE("missing values lie between those around them", "[sequence_dataset]") {
  const TemporaryFolder folder;
  write_text(folder / "S_TRAIN.ts", header + "?,1,?,?,4,NaN:?,?,?,?,?,?:b\n?,5:6,?:a\n");
  write_text(folder / "S_TEST.ts", header + "9:11:a\n");
  const at::Tensor values = open_sequence_dataset(folder.path()).node_values;
  require_close(values.select(1, 0), at::tensor({1.0, 1.0, 2.0, 3.0, 4.0, 4.0, 5.0, 5.0, 9.0}, at::kFloat), 1e-6,
                "first");
  require_equal(values.select(1, 1), at::tensor({0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 6.0, 6.0, 11.0}, at::kFloat), "second");
}

TEST_CASE("series without any known value are zeros, with a warning", "[sequence_dataset]") {
  const TemporaryFolder folder;
  write_text(folder / "S_TRAIN.ts", header + "?,?:?,?:a\n1,?:?,2:b\n?:?:a\n");
  write_text(folder / "S_TEST.ts", header + "?:?:a\n");
  const PackedItems packed = open_sequence_dataset(folder.path());
  REQUIRE(packed.warnings.size() == 2);
  CHECK(packed.warnings[0] ==
        (folder / "S_TRAIN.ts").string() + ": 2 series have no known value, and are read as zeros");
  CHECK(packed.warnings[1] == (folder / "S_TEST.ts").string() + ": 1 series has no known value, and is read as zeros");
  CHECK(read_unlabelled_series(folder / "S_TEST.ts").warnings.size() == 1);
  CHECK(packed.node_values.slice(0, 0, 2).eq(0).all().item<bool>());
}

TEST_CASE("a class that is unknown is for prediction alone", "[sequence_dataset]") {
  const TemporaryFolder folder;
  const std::string head = "@relation S\n@attribute a numeric\n@attribute b numeric\n@attribute target {x, y}\n@data\n";
  write_text(folder / "S_TRAIN.arff", head + "1,2,x\n3,4,y\n");
  write_text(folder / "S_TEST.arff", head + "5,6,?\n");
  require_equal(read_unlabelled_series(folder / "S_TEST.arff").node_values.squeeze(1),
                at::tensor({5.0, 6.0}, at::kFloat), "values");
  require_error([&] { open_sequence_dataset(folder.path()); }, {"S_TEST.arff", "series with a class", "?"});
}

TEST_CASE("an offset of which float32 keeps little is a warning", "[sequence_dataset]") {
  const TemporaryFolder folder;
  const std::string head = "@dimensions 3\n@targetLabel true\n@data\n";
  write_text(folder / "S_TRAIN.ts", head + "1000000001,1000000002,1000000003:1,2,3:5,?,5:5\n1000000004:7:5:5\n");
  write_text(folder / "S_TEST.ts", head + "1:1:1:1\n");
  const auto warnings = [&] { return open_sequence_dataset(folder.path()).warnings; };
  REQUIRE(warnings().size() == 1);  // the other constants are small
  CHECK_THAT(warnings()[0], Catch::StartsWith((folder / "S_TRAIN.ts").string() + ": dimension 0 has a mean of 1e+09") &&
                                Catch::Contains("subtract a constant"));
  write_text(folder / "S_TRAIN.ts", head + "1,2:1,2:5,?:700000100\n3:7:5:700000300\n");
  REQUIRE(warnings().size() == 1);
  CHECK_THAT(warnings()[0], Catch::Contains(": the target has a mean of 7e+08 and a deviation of "));
}

TEST_CASE("a test split may list its classes in another order, or fewer of them", "[sequence_dataset]") {
  const TemporaryFolder folder;
  write_text(folder / "S_TRAIN.ts", "@dimensions 1\n@classLabel true a b c\n@data\n1:c\n2:a\n3:b\n");
  write_text(folder / "S_TEST.ts", "@dimensions 1\n@classLabel true c a\n@data\n4:a\n5:c\n");
  const PackedItems packed = open_sequence_dataset(folder.path());
  CHECK(packed.schema.output_names == std::vector<std::string>{"a", "b", "c"});
  require_equal(packed.target, at::tensor({2, 0, 1, 0, 2}, at::kLong), "target");
}

TEST_CASE("series with a target are regression", "[sequence_dataset]") {
  const TemporaryFolder folder;
  const std::string targeted = "@dimensions 1\n@targetLabel true\n@data\n";
  write_text(folder / "S_TRAIN.ts", targeted + "1,2:0.5\n3:?\n");
  write_text(folder / "S_TEST.ts", targeted + "4,5,6:-2\n");
  const PackedItems packed = open_sequence_dataset(folder.path());
  REQUIRE(packed.schema.task == GraphTask::regression);
  REQUIRE(packed.schema.output_names == std::vector<std::string>{"target"});
  require_equal(packed.target.nan_to_num(9), at::tensor({0.5F, 9.0F, -2.0F}).view({3, 1}), "target");
  REQUIRE(packed.split->test == std::vector<int64_t>{2});
  REQUIRE(series_name(folder.path()) == "S");
  REQUIRE_FALSE(read_unlabelled_series(folder / "S_TEST.ts").target.defined());
  write_text(folder / "S_TEST.ts", "@problemName S\n@dimensions 1\n@classLabel true a\n@data\n4:a\n");
  require_error([&] { open_sequence_dataset(folder.path()); }, {"S_TEST.ts", "@targetLabel true)", "as in training"});
  write_text(folder / "T_TRAIN.ts", targeted);
  REQUIRE(series_name(folder.path()).empty());
  REQUIRE(series_name(folder / "absent").empty());
}

TEST_CASE("UCR's tables are read, and .ts files go before them", "[sequence_dataset]") {
  const TemporaryFolder folder;
  write_text(folder / "S_TRAIN.tsv", "1\t0.5\t1.5\n-1\t2\t3\n");
  write_text(folder / "S_TEST.tsv", "-1\t4\tNaN\n");
  const PackedItems packed = open_sequence_dataset(folder.path());
  CHECK(packed.schema.output_names == std::vector<std::string>{"-1", "1"});
  require_equal(packed.graphs.ptr, at::tensor({0, 2, 4, 5}, at::kLong), "ptr");
  require_equal(packed.node_values.squeeze(1), at::tensor({0.5, 1.5, 2.0, 3.0, 4.0}, at::kFloat), "values");
  require_equal(packed.target, at::tensor({1, 0, 0}, at::kLong), "target");
  write_text(folder / "S_TEST.tsv", "2\t4\t5\n");
  require_error([&] { open_sequence_dataset(folder.path()); }, {"S_TEST.tsv", "'2'"});
  write_text(folder / "S_TRAIN.ts", header + "1:2:a\n");
  write_text(folder / "S_TEST.ts", header + "1:2:b\n");
  CHECK(open_sequence_dataset(folder.path()).schema.node_values == 2);
}

TEST_CASE("ARFF files are a dataset, beside those of single dimensions", "[sequence_dataset]") {
  const TemporaryFolder folder;
  const std::string head =
      "@relation S\n@attribute r relational\n@attribute a numeric\n@attribute b numeric\n@end r\n@attribute c "
      "{x,y}\n@data\n";
  write_text(folder / "S_TRAIN.arff", head + "'1,?\\n2,3',y\n'4,5\\n6,7',x\n");
  write_text(folder / "S_TEST.arff", head + "'8,9\\n8,9',y\n");
  write_text(folder / "SDimension1_TRAIN.arff", "@relation S\n");
  CHECK(is_sequence_dataset(folder.path()));
  const PackedItems packed = open_sequence_dataset(folder.path());
  CHECK((packed.size() == 3 && packed.schema.node_values == 2));
  CHECK(packed.schema.output_names == std::vector<std::string>{"x", "y"});
  require_equal(packed.target, at::tensor({1, 0, 1}, at::kLong), "target");
  require_equal(packed.node_values.slice(0, 0, 2), at::tensor({1.0F, 2.0F, 1.0F, 3.0F}).view({2, 2}), "interpolated");
}

TEST_CASE("series for prediction need no classes, and have no target", "[sequence_dataset]") {
  const TemporaryFolder folder;
  write_text(folder / "new.TS", "@classLabel false\n@data\n1,?,3:4,5,6\n");
  const PackedItems series = read_unlabelled_series(folder / "new.TS");
  CHECK((series.size() == 1 && series.schema.node_values == 2));
  CHECK_FALSE(series.target.defined());
  require_equal(series.node_values.select(1, 0), at::tensor({1.0, 2.0, 3.0}, at::kFloat), "interpolated");
  write_text(folder / "new.tsv", "1\t7\t8\n");
  require_equal(read_unlabelled_series(folder / "new.tsv").node_values.squeeze(1), at::tensor({7.0F, 8.0F}), "values");
  write_text(folder / "new.arff", "@attribute a numeric\n@attribute b numeric\n@data\n7,8\n");
  require_equal(read_unlabelled_series(folder / "new.arff").node_values.squeeze(1), at::tensor({7.0F, 8.0F}), "ARFF");
  write_text(folder / "new.wav", "RIFF");
  require_error([&] { read_unlabelled_series(folder / "new.wav"); },
                {"new.wav", "*.ts", "*.arff", "*.tsv", "another ending"});
  require_error([&] { read_unlabelled_series(folder / "absent.ts"); }, {"absent.ts", "nothing"});
}

TEST_CASE("sequences are shortened at their ends", "[sequence_dataset]") {
  const TemporaryFolder folder;
  write_text(folder / "S_TRAIN.ts", header + "1,2,3:4,5,6:b\n7:8:a\n");
  write_text(folder / "S_TEST.ts", header + "9,10:11,12:a\n");
  const PackedItems shorter = truncated(open_sequence_dataset(folder.path()), 2);
  require_equal(shorter.graphs.ptr, at::tensor({0, 2, 3, 5}, at::kLong), "ptr");
  require_equal(shorter.node_values.select(1, 0), at::tensor({1.0, 2.0, 7.0, 9.0, 10.0}, at::kFloat), "values");
  CHECK(shorter.split->test == std::vector<int64_t>{2});
  CHECK(shorter.schema.items == "sequences");
  require_error([&] { truncated(shorter, 0); }, {"max_length", "0"});
}

TEST_CASE("folders and pairs of files that do not fit are refused", "[sequence_dataset]") {
  const TemporaryFolder folder;
  require_error([&] { open_sequence_dataset(folder / "absent"); }, {"absent", "a folder with sequences"});
  require_error([&] { open_sequence_dataset(folder.path()); },
                {"one file *_TRAIN.ts", "basic_train.tsv", "none of these"});
  CHECK_FALSE(is_sequence_dataset(folder.path()));
  CHECK_FALSE(is_sequence_dataset(folder / "absent"));
  write_text(folder / "S_TRAIN.ts", header + "1:2:a\n");
  CHECK(is_sequence_dataset(folder.path()));
  require_error([&] { open_sequence_dataset(folder.path()); }, {"S_TEST.ts"});
  write_text(folder / "S_TEST.ts", "@classLabel true a b\n@data\n1:2:3:a\n");
  require_error([&] { open_sequence_dataset(folder.path()); }, {"2 dimensions", "3"});
  write_text(folder / "S_TEST.ts", "@classLabel true a c\n@data\n1:2:a\n");
  CHECK(open_sequence_dataset(folder.path()).size() == 2);  // a class that no series has
  write_text(folder / "S_TEST.ts", "@problemName S\n@classLabel true a c\n@data\n1:2:a\n1:2:c\n");
  require_error([&] { open_sequence_dataset(folder.path()); }, {"S_TEST.ts", "classes of the training", "'c'"});
  write_text(folder / "S_TEST.ts", "@problemName S\n@classLabel false\n@data\n1:2\n");
  require_error([&] { open_sequence_dataset(folder.path()); }, {"S_TEST.ts", "@classLabel true", "prediction"});
  write_text(folder / "T_TRAIN.ts", header + "1:2:a\n");
  require_error([&] { open_sequence_dataset(folder.path()); }, {"one file *_TRAIN.ts", "2"});
}

}  // namespace geosft::test::test_sequence_dataset
