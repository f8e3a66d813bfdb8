// SPDX-License-Identifier: Apache-2.0
#include "data/sequences/sequence_dataset.h"

#include <catch2/catch.hpp>

#include "tests/data/files.h"
#include "tests/data/gz_files.h"
#include "tests/support.h"
#include "tests/tensors.h"

namespace geosft::test::test_arff_file {
namespace {

TsFile read(const std::string& text) {
  return read_written("S_TRAIN.arff", text, [](const auto& file) { return read_arff_file(file); });
}

const std::string univariate =
    "% The archive's remarks\n%\n@relation GunPoint\n\n@ATTRIBUTE att0 numeric\n@attribute 'att 1' REAL\n"
    "@attribute att2 integer\n@attribute target {2, 1}\n\n@data\n";
const std::string multivariate =
    "@relation 'Basic Motions'\n@attribute relationalAtt relational\n@attribute att0 numeric\n@attribute att1 numeric\n"
    "@end relationalAtt\n@attribute activity {Standing,'Walking fast'}\n@data\n";

}  // namespace

TEST_CASE("ARFF: series of one dimension are numeric attributes", "[arff_file]") {
  const TsFile set =
      read("\xEF\xBB\xBF" + univariate + "0.5,-1e-1,3,1\r\n% between\n1.0D+00, ?, 4 ,2 % behind\n7,?,?,1\n");
  CHECK_THAT(set.file, Catch::EndsWith("S_TRAIN.arff"));
  CHECK(set.classes == std::vector<std::string>{"2", "1"});
  require_equal(set.labels, longs({1, 0, 1}), "labels");
  require_equal(set.ptr, longs({0, 3, 6, 7}), "ptr");
  require_equal(set.values.squeeze(1).nan_to_num(99), at::tensor({0.5F, -0.1F, 3.0F, 1.0F, 99.0F, 4.0F, 7.0F}),
                "values");
}

TEST_CASE("ARFF: series of several dimensions are rows of a relational attribute", "[arff_file]") {
  const TsFile set = read(multivariate + "'1,2\\n3,4\\n5,6','Walking fast'\n\"7,?\\n8,?\\n9,?\\n\",Standing\n");
  CHECK(set.classes == std::vector<std::string>{"Standing", "Walking fast"});
  CHECK(set.dimensions() == 3);
  require_equal(set.labels, longs({1, 0}), "labels");
  require_equal(set.ptr, longs({0, 2, 3}), "padding is left out");
  require_equal(set.values, at::tensor({1.0F, 3.0F, 5.0F, 2.0F, 4.0F, 6.0F, 7.0F, 8.0F, 9.0F}).view({3, 3}), "values");
}

TEST_CASE("ARFF: series without a class, and packed by gzip", "[arff_file]") {
  const TemporaryFolder folder;
  write_gz(folder / "new.arff", "@relation x\n@attribute a numeric\n@attribute b numeric\n@data\n1,2\n3,4\n");
  const TsFile set = read_arff_file(folder / "new.arff");
  CHECK_FALSE(set.labels.defined());
  CHECK(set.classes.empty());
  require_equal(set.values.squeeze(1), at::tensor({1.0F, 2.0F, 3.0F, 4.0F}), "values");
  CHECK(read("@attribute r relational\n@attribute a numeric\n@end r\n@data\n'1\\n2'\n").dimensions() == 2);
}

TEST_CASE("ARFF: broken and unsupported files are refused by line", "[arff_file]") {
  const auto refused = [](const std::string& text, std::vector<std::string> words) {
    words.emplace_back("S_TRAIN.arff");
    require_error([&] { read(text); }, words);
  };
  refused("", {"@data", "end of the file"});
  refused("@relation x\n@data\n1\n", {":2", "numeric attributes"});
  refused("@relation x\nsomething\n", {":2", "a keyword of ARFF", "something"});
  refused("@attribute a string\n", {":1", "numeric attributes", "string"});
  refused("@attribute a date \"yyyy\"\n", {":1", "numeric", "date"});
  refused("@attribute c {a,b}\n@attribute v numeric\n", {":2", "the class as the last"});
  refused("@attribute v numeric\n@attribute Target NUMERIC\n", {":2", "classes {", "target", "numbers"});
  refused("@attribute c {}\n", {":1", "names of classes"});
  refused("@attribute c {a b}\n", {":1", "a comma or }"});
  refused("@attribute v numeric\n@attribute r relational\n", {":2", "one relational attribute"});
  refused("@attribute r relational\n@attribute v {a}\n", {":2", "in a relational"});
  refused("@attribute r relational\n@attribute v numeric\n@data\n", {":3", "@end"});
  refused("@attribute r relational\n@attribute v numeric\n@end r\n@attribute w numeric\n",
          {":4", "a class", "numeric"});
  refused(univariate, {"series below @data", "none"});
  refused(univariate + "1,2,3\n", {":11", "a class behind the values"});
  refused(univariate + "1,2\n", {":11", "3 values", "2"});
  refused(univariate + "1,2,x,1\n", {":11", "a number or ?", "x"});
  refused(univariate + "1,2,inf,1\n", {":11", "finite"});
  refused(univariate + "1,2,3,5\n", {":11", "a class", "5"});
  refused(univariate + "1,2,3,1,2\n", {":11", "end of the line"});
  refused(univariate + "?,?,?,1\n", {":11", "a series with a value"});
  refused(univariate + "{0 1, 3 2}\n", {":11", "sparse"});
  refused(multivariate + "1,2,Standing\n", {":8", "a quoted relation"});
  refused(multivariate + "'1,2\\n3',Standing\n", {":8", "2 values", "1"});
  refused(multivariate + "'1,2\\n3,4,5',Standing\n", {":8", "2 values", "more"});
  refused(multivariate + "'1,2'\n", {":8", "a class behind"});
  refused(multivariate + "'1,2,Standing\n", {":8", "a quote that closes"});
  refused(multivariate + "'1,2',Standing\n'1,2\\n3,4',Standing\n", {":9", "1 dimensions", "2"});
}

}  // namespace geosft::test::test_arff_file
