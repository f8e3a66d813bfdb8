// SPDX-License-Identifier: Apache-2.0
#include "data/graphs/molecule_table.h"

#include <catch2/catch.hpp>
#include <limits>

#include "data/graphs/graph_dataset.h"
#include "tests/data/files.h"
#include "tests/data/graphs/graphs.h"
#include "tests/data/graphs/molecules.h"
#include "tests/data/gz_files.h"
#include "tests/support.h"

namespace geosft::test::test_molecule_table {
namespace {

using Names = std::vector<std::string>;
using Items = std::vector<int64_t>;

constexpr float nan = std::numeric_limits<float>::quiet_NaN();

struct Choice {
  std::string smiles;
  Names labels;
};

PackedItems read(const std::string& text, const Choice& choice = {}) {
  const TemporaryFolder folder;
  write_text(folder / "m.csv", text);
  GraphReadOptions options{folder / "cache"};
  options.smiles_column = choice.smiles;
  options.label_columns = choice.labels;
  return read_molecule_table(folder / "m.csv", options);
}

void require_targets(const PackedItems& packed, const std::vector<float>& expected) {
  const at::Tensor target = at::tensor(expected).view({packed.size(), packed.schema.outputs()});
  require_equal(packed.target.nan_to_num(-99), target.nan_to_num(-99), "target");
}

}  // namespace

TEST_CASE("columns of two values are labels, of which some are unknown") {
  if (!has_rdkit()) return;
  const PackedItems packed = read("name,smiles,A,B,n\na,CO,0,1,5\nb,C(C,1,1,6\nc,CN,,0,7\nd,CCC,1,nan,8\n");
  REQUIRE(packed.schema.task == GraphTask::multi_label);
  REQUIRE(packed.schema.output_names == Names{"A", "B"});
  require_targets(packed, {0, 1, nan, 0, 1, nan});
  REQUIRE(packed.smiles == Names{"CO", "CN", "CCC"});
  REQUIRE(packed.lines == std::vector<int64_t>{2, 4, 5});
  REQUIRE_FALSE(packed.split);
  REQUIRE(packed.warnings.size() == 3);
  REQUIRE_THAT(packed.warnings[0], Catch::Contains("SMILES in column \"smiles\"") &&
                                       Catch::Contains("labels \"A\", \"B\"") && Catch::Contains("classification"));
  REQUIRE_THAT(packed.warnings[2], Catch::Contains("m.csv:3"));
}

TEST_CASE("two other values are 0 and 1 in their order") {
  if (!has_rdkit()) return;
  require_targets(read("y,smiles\n-1,C\n1,CC\n,CCC\n"), {0, 1, nan});
  require_targets(read("y,smiles\nTrue,C\nFalse,CC\n"), {1, 0});
  CHECK(read("y,smiles\nTrue,C\nFalse,CC\n").schema.label_values.empty());
  CHECK(read("y,z,smiles\n-1,0,C\n1,1,CC\n").schema.label_values == std::vector<float>{-1, 1, 0, 1});
  CHECK(read("y,smiles\n-1,C\n1,CC\n2,CCC\n").schema.label_values.empty());  // a regression
}

TEST_CASE("columns of more values are a regression") {
  if (!has_rdkit()) return;
  const PackedItems packed = read("smiles,logS\nCO,-0.5\nCN,1e1\nCCC,\nC,2\n");
  REQUIRE(packed.schema.task == GraphTask::regression);
  REQUIRE(packed.schema.output_names == Names{"logS"});
  require_targets(packed, {-0.5, 10, nan, 2});
  REQUIRE_THAT(packed.warnings[0], Catch::Contains("label \"logS\", numbers: regression"));
}

TEST_CASE("a regression of a few whole numbers says how they become classes") {
  if (!has_rdkit()) return;
  const auto note_of = [](const std::string& values) {
    std::string text = "smiles,y\n";
    for (const char value : values) text += std::string("CO,") + value + "\n";
    const PackedItems packed = read(text);
    REQUIRE(packed.schema.task == GraphTask::regression);
    return packed.warnings.at(0);
  };
  REQUIRE_THAT(note_of("012201102210021"), Catch::Contains("\"y\" has 3 values") && Catch::Contains("\"class 0\""));
  REQUIRE_THAT(note_of("01220110221002"), !Catch::Contains("class"));                  // too few rows
  REQUIRE_THAT(note_of("012345012345012345012345012345"), !Catch::Contains("class"));  // too many values
  const PackedItems halves =
      read("smiles,y\nC,0.5\nC,1\nC,2\nC,1\nC,2\nC,1\nC,2\nC,1\nC,2\nC,1\nC,2\nC,1\nC,2\nC,1\nC,2\nC,1\n");
  REQUIRE_THAT(halves.warnings.at(0), !Catch::Contains("class"));
}

TEST_CASE("SMILES in more than one row are counted, with those whose labels differ") {
  if (!has_rdkit()) return;
  const auto warnings = [](const std::string& text) { return read(text).warnings; };
  CHECK(warnings("smiles,y\nC,1\nCC,2\nCCC,5\n").size() == 1);
  const auto repeated = [&](const std::string& text) {
    const Names found = warnings(text);
    REQUIRE(found.size() == 2);
    return found[1].substr(found[1].find(": ") + 2);
  };
  CHECK(repeated("smiles,y\nC,0.5\nCC,2\nC,0.5\nC,\nCC,2\nCO,3\n") ==
        "2 SMILES occur in more than one row, always with the same labels (for example lines 2 and 4)");
  // Unknown labels are not different, also where they come first. The first rows with different labels are named.
  CHECK(repeated("smiles,a,b\nC,0,1\nCO,,0\nC,0,\nCC,1,0\nCO,1,1\nCC,0,0\nN,1,1\nCO,0,0\n") ==
        "3 SMILES occur in more than one row, 2 of them with different labels (for example lines 3 and 6)");
  CHECK(repeated("smiles,y\nC,\nC,0\nC,1\nCC,1\n") ==
        "1 SMILES occurs in more than one row, with different labels (for example lines 3 and 4)");
  const PackedItems classes = read("smiles,y\nC,a\nCC,b\nC,b\nCC,b\n", {"", {"y"}});
  CHECK_THAT(classes.warnings.at(1), Catch::EndsWith("2 SMILES occur in more than one row, 1 of them with different "
                                                     "labels (for example lines 2 and 4)"));
}

TEST_CASE("the column of SMILES is found by its contents, or named") {
  if (!has_rdkit()) return;
  const std::string text = "compound,structure,other,y\nx1,CCO,CC,1\nx2,c1ccccc1,N,0\nx3,CC(=O)O,CO,1\n";
  REQUIRE(read(text).smiles == Names{"CCO", "c1ccccc1", "CC(=O)O"});
  REQUIRE(read(text, {"OTHER", {}}).smiles == Names{"CC", "N", "CO"});
  require_error([&] { read(text, {"mol", {}}); }, {"m.csv:1", "\"mol\"", "structure"});
  require_error([] { read("a,b\nchair,1\n"); }, {"m.csv:1", "smiles", "a, b"});
}

TEST_CASE("labels are named, also of both kinds, or one of texts") {
  if (!has_rdkit()) return;
  const std::string text = "id,smiles,A,B,C\n7,CO,0,1.5,yes\n9,CN,1,2.5,no\n11,CCC,0,3.5,\n13,CC,1,4,no\n";
  require_error([&] { read(text); }, {"m.csv:1", "--label-columns", "\"A\"", "\"B\""});
  REQUIRE(read(text, {"", {"b"}}).schema.task == GraphTask::regression);
  const PackedItems mixed = read(text, {"", {"B", "A"}});
  REQUIRE(mixed.schema.task == GraphTask::regression);
  REQUIRE(mixed.schema.output_names == Names{"B", "A"});
  const PackedItems classes = read(text, {"", {"C"}});
  REQUIRE(classes.schema.task == GraphTask::classification);
  REQUIRE(classes.schema.output_names == Names{"no", "yes"});
  REQUIRE(classes.smiles == Names{"CO", "CN", "CC"});
  require_equal(classes.target, at::tensor({1, 0, 0}, at::kLong), "classes");
  // The words of unknown labels are no classes, and their rows are counted.
  const PackedItems words = read("smiles,t\nC,a\nCC, NA\nCCC,b\nCO,None\nCN,-\nN,a\nO,n/a\nF,\nS,b\n", {"", {"t"}});
  REQUIRE(words.schema.output_names == Names{"a", "b"});
  REQUIRE(words.smiles == Names{"C", "CCC", "N", "S"});
  CHECK_THAT(words.warnings[0], Catch::EndsWith("; 5 rows without a class are left out (an empty field, NA, None, null "
                                                "or -)"));
  CHECK_THAT(classes.warnings[0], Catch::Contains("; 1 row without a class is left out"));
  require_error([&] { read(text, {"", {"A", "C"}}); }, {"m.csv:2", "a number", "\"C\"", "\"yes\""});
  require_error([&] { read(text, {"", {"D"}}); }, {"m.csv:1", "\"D\"", "smiles, A"});
  require_error([] { read("smiles,t\nC,a\nCC,b\nCCC,c\n", {"", {"t"}}); }, {"m.csv:1", "3 texts"});
  require_error([] { read("smiles,t\nC,\nCC,\n", {"", {"t"}}); }, {"m.csv", "a known label", "\"t\""});
}

TEST_CASE("indices, constants and texts are no labels") {
  if (!has_rdkit()) return;
  const PackedItems packed = read("row,smiles,same,text,y\n3,CO,1,x,0\n4,CN,1,y,1\n5,CCC,1,z,1\n");
  REQUIRE(packed.schema.output_names == Names{"y"});
  require_error([] { read("row,smiles,same\n3,CO,1\n4,CN,1\n5,CCC,1\n"); }, {"m.csv:1", "--label-columns", "none"});
  require_error([] { read("smiles,y\nC,1\nCC\n"); }, {"m.csv:3", "2 columns"});
}

TEST_CASE("columns that are no labels are listed with the reason") {
  if (!has_rdkit()) return;
  const PackedItems packed = read(
      "cmpd_id,Identifier,date,smiles,same,text,none,row,y\n5,9,2020,CO,1,ab,,3,0.5\n7,4,2021,CN,1,cd,NA,4,1\n"
      "6,1,2022,CCC,1,2,-,5,2\n");
  REQUIRE(packed.schema.output_names == Names{"y"});
  CHECK_THAT(packed.warnings[0],
             Catch::EndsWith("; left out: \"cmpd_id\" (by its name), \"Identifier\" (by its name), \"date\" (by its "
                             "name), \"same\" (one value), \"text\" (texts, as \"ab\" in line 2), \"none\" (no value), "
                             "\"row\" (the numbers of the rows)"));
  require_error([] { read("smiles,y\nC,a\nCC,1\nCCC,b\n"); },
                {"m.csv:1", "none beside column \"smiles\"", "\"y\" (texts, as \"a\" in line 2)"});
}

TEST_CASE("a second column of SMILES is listed with the option that learns from it") {
  if (!has_rdkit()) return;
  const PackedItems packed = read("solvent,structure,y\nCCO,c1ccccc1,0.5\nCO,CCN,1\nCCO,CCCC,2\n");
  CHECK_THAT(packed.warnings[0], Catch::Contains("SMILES in column \"solvent\"; ") &&
                                     Catch::EndsWith("left out: \"structure\" (SMILES, too: --smiles-column learns "
                                                     "from these instead)"));
}

TEST_CASE("a column of words that may be classes says how it is learned, and names in camel case are no labels") {
  if (!has_rdkit()) return;
  const auto note = [](int rows) {
    std::string text = "MolID,Smiles,Outcome,pAcid,ID\n";
    for (int row = 0; row < rows; ++row) {
      text += std::to_string(3 * row) + ",CO," + (row % 2 == 0 ? "active" : "inactive") + "," +
              std::to_string(row * row) + "," + std::to_string(5 - row) + "\n";
    }
    const PackedItems packed = read(text);
    CHECK(packed.schema.output_names == Names{"pAcid"});
    return packed.warnings.at(0);
  };
  CHECK_THAT(note(10), Catch::Contains("\"MolID\" (by its name)") && Catch::Contains("\"ID\" (by its name)") &&
                           Catch::Contains("in line 2; classes to learn by --label-columns)"));
  CHECK_THAT(note(9), Catch::Contains("in line 2)"));
}

TEST_CASE("words for unknown labels and blanks around numbers are taken") {
  if (!has_rdkit()) return;
  require_targets(read("smiles,y\nC,None\nCC,null\nCCC,-\nCO,#N/A\nCN,\" 3.5 \"\nCCO,1\nCCN,2\n"),
                  {nan, nan, nan, nan, 3.5, 1, 2});
}

TEST_CASE("a text in a column of numbers is refused with its line, whether the column is named or found") {
  if (!has_rdkit()) return;
  for (const char* odd : {">5", "inf", "\"1,234\"", "3.2%", "~ 4", "high"}) {
    CAPTURE(odd);
    const std::string text =
        std::string("smiles,MW,pIC50\nC,10,1.5\nCC,11,2\nCCC,12.5,") + odd + "\nCO,13,4\nCN,14,5\nCCO,15,7\n";
    const std::string_view word = odd[0] == '"' ? "1,234" : odd;
    for (const Names& labels : {Names{}, Names{"pIC50"}, Names{"MW", "pIC50"}}) {
      require_error(
          [&] {
            read(text, {"", labels});
          },
          {"m.csv:4", "a number in column \"pIC50\", which has 5 numbers, and 1 text",
           "found \"" + std::string(word) + "\""});
    }
    require_targets(read(text, {"", {"MW"}}), {10, 11, 12.5, 13, 14, 15});
  }
  require_error([] { read("smiles,y\nC,\"1,5\"\nCC,\"2,5\"\n"); }, {"m.csv:2", "1234.5", "\"1,5\""});
}

TEST_CASE("two labels of one name are refused") {
  if (!has_rdkit()) return;
  require_error([] { read("smiles,y,z,y\nC,0,1,1\nCC,1,0,1\nCO,0,0,0\n"); },
                {"m.csv:1", "labels of different names", "two of \"y\""});
  require_error(
      [] {
        read("smiles,y,z\nC,0,1\nCC,1,0\nCO,0,0\n", {"", {"y", "z", "Y"}});
      },
      {"--label-columns: expected each column once, found \"Y\" again"});
}

TEST_CASE("the labels of a trained model are read, whatever the table suggests") {
  if (!has_rdkit()) return;
  ItemSchema known;
  known.task = GraphTask::regression;
  known.output_names = {"lipo", "logS"};
  const auto read_known = [&](const std::string& text, const Names& labels = {}) {
    const TemporaryFolder folder;
    write_text(folder / "m.csv", text);
    GraphReadOptions options{folder / "cache"};
    options.label_columns = labels;
    options.known = known;
    const PackedItems packed = read_molecule_table(folder / "m.csv", options);
    require_same(read_molecule_table(folder / "m.csv", options), packed);  // from the cache
    CHECK(packed.schema.task == known.task);
    CHECK(packed.schema.output_names == known.output_names);
    CHECK(packed.schema.label_values == known.label_values);
    return packed;
  };
  // A further column of numbers, two values, and an absent column.
  const PackedItems packed = read_known("smiles,Lipo,MW\nC,3,16\nCC,3,30\nCCC,NA,44\n");
  require_targets(packed, {3, nan, 3, nan, nan, nan});
  CHECK_THAT(packed.warnings[0], Catch::Contains("and so unknown: \"logS\""));
  require_error([&] { read_known("smiles,lipo\nC,high\n"); }, {"m.csv:2", "a number in column \"lipo\"", "high"});
  require_targets(read_known("smiles,name\nC,a\nCC,b\n"), {nan, nan, nan, nan});
  known.task = GraphTask::multi_label;
  require_targets(read_known("lipo,smiles,logS\n0,C,2\n0,CC,1\n"), {0, 1, 0, 0});
  const PackedItems of_two = read_known("lipo,smiles,logS\n1,C,2\n0,CC,1\n");
  CHECK_THAT(of_two.warnings[0],
             Catch::Contains("\"logS\" has 1 and 2, taken for 0 and 1") && !Catch::Contains("\"lipo\" has"));
  require_error([&] { read_known("lipo,smiles\n5,C\n5,CC\n"); }, {"m.csv", "\"lipo\"", "found only 5"});
  require_error([&] { read_known("lipo,smiles\n5,C\n6,CC\n7,CCC\n"); }, {"m.csv", "\"lipo\"", "more values"});
  known.label_values = {-1, 1, 0, 1};
  require_targets(read_known("lipo,smiles,logS\n-1,C,1\n-1,CC,1\n"), {0, 1, 0, 1});  // one value alone has its meaning
  require_targets(read_known("lipo,smiles\n1,C\nNA,CC\n"), {1, nan, nan, nan});
  require_error([&] { read_known("lipo,smiles\n2,C\n3,CC\n"); }, {"m.csv", "-1 and 1 in column \"lipo\"", "found 2"});
  require_error([&] { read_known("lipo,smiles,logS\n1,C,5\n"); }, {"m.csv", "0 and 1 in column \"logS\"", "found 5"});
  known.label_values.clear();
  known.task = GraphTask::classification;
  known.output_names = {"active", "inactive"};
  const PackedItems classes = read_known("smiles,act\nC,inactive\nCC,\nCCC,inactive\nCO,nan\n", {"act"});
  require_equal(classes.target, at::tensor({1, 1}, at::kLong), "classes");
  CHECK(classes.smiles == Names{"C", "CCC"});
  known.output_names = {"active", "none"};  // as runs may have that were trained before
  require_equal(read_known("smiles,act\nC,none\nCC,NA\nCCC,active\n", {"act"}).target, at::tensor({1, 0}, at::kLong),
                "a class none");
  require_error([&] { read_known("smiles,act\nC,weak\n", {"act"}); }, {"m.csv:2", "\"active\"", "found \"weak\""});
}

TEST_CASE("semicolons and tabs separate columns, too") {
  if (!has_rdkit()) return;
  for (const char* text :
       {"ID;Smiles;pIC50\nx;CO;1.5\ny;CN;2\nz;C(C,C)C;3\nw;CC;4\n",
        "ID\tsmiles\tpIC50\nx\tCO\t1.5\ny\tCN\t2\nz\t?\t3\nw\tCC\t4\n",
        "sep=,\nID,smiles,pIC50\nx,CO,1.5\ny,CN,2\nz,?,3\nw,CC,4\n",
        "\xEF\xBB\xBFsep=;\r\nsmiles;ID, other;pIC50\r\nCO;x;1.5\r\nCN;x;2\r\n?;x;3\r\nCC;x;4\r\n"}) {
    CAPTURE(text);
    const PackedItems packed = read(text);
    CHECK(packed.schema.output_names == Names{"pIC50"});
    CHECK(packed.smiles == Names{"CO", "CN", "CC"});
    require_targets(packed, {1.5, 2, 4});
  }
  require_error([] { read("smiles;y\nC;1,5\nCC;2,5\n"); }, {"m.csv:2", "a number in column \"y\"", "\"1,5\""});
  require_error([] { read("sep=;\nsmiles;y\nC\n"); }, {"m.csv:3", "2 columns"});
  const TemporaryFolder folder;
  write_text(folder / "m.tsv", "structure\ty\nCCO\t1\nCC\t0\n");
  write_text(folder / "edges.tsv", "0\t1\n1\t2\n");
  CHECK(is_molecule_table(folder / "m.tsv"));
  CHECK_FALSE(is_molecule_table(folder / "edges.tsv"));
}

TEST_CASE("a split is a column or lists of rows") {
  if (!has_rdkit()) return;
  const std::string text = "smiles,y,Split\nC,1,train\nC(C,0,test\nCC,0,val\nCCC,1,test\n";
  const PackedItems packed = read(text);
  REQUIRE(packed.split);
  REQUIRE(packed.split->train == Items{0});
  REQUIRE(packed.split->validation == Items{1});
  REQUIRE(packed.split->test == Items{2});
  REQUIRE_FALSE(read("smiles,y,split\nC,1,a\nCC,0,b\n").split);
  CHECK_THAT(read("smiles,y,split\nC,1,a\nCC,0,b\n").warnings.back(), !Catch::Contains("is not used"));
  CHECK_THAT(read("smiles,y,split\nC,1,train\nCC,0,a\nCCC,1,b\n").warnings.back(),
             Catch::Contains("is not used, as \"a\""));
  const PackedItems others = read("smiles,y,split\nC,1,training\nCC,0,dev\nCCC,1,testing\n");
  CHECK((others.split && others.split->train == Items{0} && others.split->validation == Items{1} &&
         others.split->test == Items{2}));
  const std::string misspelt = "smiles,y,Split\nC,1,train\nCC,0,hold\nCCC,1, Test\n";
  const PackedItems unused = read(misspelt);
  CHECK_FALSE(unused.split);
  CHECK_THAT(unused.warnings.back(), Catch::EndsWith("m.csv:3: column \"Split\" is not used, as \"hold\" is none of "
                                                     "train, valid and test"));
  CHECK_FALSE(read("smiles,y,split\nC,1,train\nCC,0,\nCCC,1,test\n").split);
  // Rows that are left out need no split.
  CHECK(read("smiles,y,split\nC,1,train\nC(C,0,\nCCC,0,test\n").split->test == Items{1});
  const TemporaryFolder folder;
  write_text(folder / "m.csv", text);
  write_text(folder / "lists/train.csv", "3\n1\n");
  write_gz(folder / "lists/valid.csv.gz", "0\n");
  write_text(folder / "lists/test.csv", "2\n");
  GraphReadOptions options{folder / "cache"};
  options.split_folder = folder / "lists";
  const PackedItems listed = read_molecule_table(folder / "m.csv", options);
  REQUIRE(listed.split->train == Items{2});
  REQUIRE(listed.split->validation == Items{0});
  REQUIRE(listed.split->test == Items{1});
  require_same(read_molecule_table(folder / "m.csv", options), listed);
  write_text(folder / "lists/test.csv", "4\n");
  require_error([&] { read_molecule_table(folder / "m.csv", options); }, {"test.csv:1", "0 to 3", "4"});
}

TEST_CASE("tables of molecules are told from lists of edges") {
  if (!has_rdkit()) return;
  const TemporaryFolder folder;
  write_text(folder / "m.csv", "mol,y\nCCO,1\nCC,0\n");
  write_text(folder / "edges.csv", "0,1\n1,2\n");
  write_text(folder / "smiles.csv", "SMILES,y\nchair,1\n");
  write_gz(folder / "m.csv.gz", "mol,y\nCCO,1\nCC,0\n");
  write_text(folder / "m.txt", "mol,y\nCCO,1\nCC,0\n");
  REQUIRE(is_molecule_table(folder / "m.csv"));
  REQUIRE(is_molecule_table(folder / "m.csv.gz"));
  REQUIRE(is_molecule_table(folder / "smiles.csv"));
  REQUIRE_FALSE(is_molecule_table(folder / "edges.csv"));
  REQUIRE_FALSE(is_molecule_table(folder / "m.txt"));
  GraphReadOptions options{folder / "cache"};
  REQUIRE(open_graph_dataset(folder / "m.csv.gz", options).size() == 2);
  options.smiles_column = "mol";
  REQUIRE(open_graph_dataset(folder / "m.txt", options).size() == 2);
  REQUIRE_FALSE(is_molecule_table(folder.path(), options));
}

}  // namespace geosft::test::test_molecule_table
