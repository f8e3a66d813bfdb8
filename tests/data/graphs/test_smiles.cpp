// SPDX-License-Identifier: Apache-2.0
#include "data/graphs/smiles.h"

#include <catch2/catch.hpp>

#include "tests/data/files.h"
#include "tests/data/graphs/molecules.h"
#include "tests/data/gz_files.h"
#include "tests/support.h"

namespace geosft::test::test_smiles {
namespace {

using Lines = std::vector<int64_t>;

SmilesFile read(const std::string& name, const std::string& text) {
  const TemporaryFolder folder;
  write_text(folder / name, text);
  return read_smiles_file(folder / name);
}

}  // namespace

TEST_CASE("a table of SMILES is known by its first line") {
  for (const char* text : {"smiles", "id,SMILES\r\n1,C\n", "\"Smiles\",y\n", " smiles ,y\n"}) {
    CHECK(begins_smiles_table(text));
  }
  for (const char* text : {"", "C\nsmiles\n", "smiles list\n", "id,smile\n", "\"smiles"}) {
    CHECK_FALSE(begins_smiles_table(text));
  }
}

TEST_CASE("a line of SMILES holds a molecule and its name") {
  const SmilesFile file = read("m.smi", "# made by hand\nC#N hydrogen cyanide \r\n\n  CCO\tethanol\n#C\n[Na+].[Cl-]");
  CHECK_THAT(file.column.file, Catch::EndsWith("m.smi"));
  CHECK(file.column.smiles == std::vector<std::string>{"C#N", "CCO", "[Na+].[Cl-]"});
  CHECK(file.names == std::vector<std::string>{"hydrogen cyanide", "ethanol", ""});
  CHECK(file.column.lines == Lines{2, 4, 6});
}

TEST_CASE("a table has a column of SMILES") {
  const SmilesFile file = read("m.CSV", "\xEF\xBB\xBFid,SMILES\n1,CCO\n\n2,\"C#N\"\n");
  CHECK(file.column.smiles == std::vector<std::string>{"CCO", "C#N"});
  CHECK(file.names == std::vector<std::string>{"", ""});
  CHECK(file.column.lines == Lines{2, 4});
  CHECK(file.others.names == std::vector<std::string>{"id"});
  CHECK(file.others.columns == std::vector<std::vector<std::string>>{{"1", "2"}});
}

TEST_CASE("a column of SMILES with another name is found by its contents, or named") {
  if (!has_rdkit()) return;
  const TemporaryFolder folder;
  write_text(folder / "m.csv", "id,a,b\n1,CCO,C\n2,,CC\n3,c1ccccc1,CCC\n");
  REQUIRE(read_smiles_file(folder / "m.csv").column.smiles == std::vector<std::string>{"CCO", "", "c1ccccc1"});
  write_text(folder / "broken.csv", "id,mol\n1,CCO\n2,C(C\n3,CN\n");
  REQUIRE(read_smiles_file(folder / "broken.csv").column.smiles == std::vector<std::string>{"CCO", "C(C", "CN"});
  REQUIRE(read_smiles_file(folder / "m.csv", "b").column.smiles == std::vector<std::string>{"C", "CC", "CCC"});
  require_error([&] { read_smiles_file(folder / "m.csv", "c"); }, {"m.csv:1", "\"c\"", "id, a, b"});
  write_text(folder / "m.smi", "CCO ethanol\n");
  REQUIRE(read_smiles_file(folder / "m.smi", "b").names == std::vector<std::string>{"ethanol"});
}

TEST_CASE("lists of SMILES may be compressed") {
  const TemporaryFolder folder;
  write_gz(folder / "m.smi.gz", "CCO\n");
  CHECK(read_smiles_file(folder / "m.smi.gz").column.smiles == std::vector<std::string>{"CCO"});
}

TEST_CASE("broken lists of SMILES are refused by line") {
  require_error([] { read("m.smi", "# nothing\n\n"); }, {"m.smi", "a molecule a line", "none"});
  require_error([] { read("m.csv", ""); }, {"m.csv", "an empty file"});
  require_error([] { read("m.csv", "smiles\n"); }, {"m.csv", "a molecule a line", "none"});
  require_error([] { read("m.csv", "id,name\n1,chair\n"); }, {"m.csv:1", "smiles", "id, name"});
  require_error([] { read("m.csv", "smiles,Smiles\nC,C\n"); }, {"m.csv:1", "several"});
  require_error([] { read("m.csv", "id,smiles\n1,CCO\n2\n"); }, {"m.csv:3", "2 columns"});
  require_error([] { read_smiles_file("/nowhere/m.smi"); }, {"/nowhere/m.smi"});
}

TEST_CASE("SMILES become packed graphs, invalid ones are counted and named by line") {
  if (!test::has_rdkit()) return;
  const SmilesColumn column = {"m.csv", {"CO", "C(C", "C", "CC(C)(C)(C)C", "C=CN"}, {2, 3, 5, 6, 9}};
  int64_t done = 0;
  const SmilesGraphs out = graphs_from_smiles(column, {"", [&](int64_t i, int64_t) { done = std::max(done, i); }});
  CHECK(done == 5);
  CHECK(out.rows == std::vector<int64_t>{0, 2, 4});
  REQUIRE(out.errors.size() == 5);
  for (size_t row = 0; row < 5; ++row) CHECK(out.errors[row].empty() == (row % 2 == 0));
  REQUIRE(out.packed.smiles == std::vector<std::string>{"CO", "C", "C=CN"});
  const PackedItems& packed = out.packed;
  check_batch(packed.graphs);
  require_equal(packed.graphs.ptr, at::tensor({0, 2, 3, 6}, at::kLong), "ptr");
  require_equal(packed.graphs.graph.rowptr, at::tensor({0, 1, 2, 2, 3, 5, 6}, at::kLong), "rowptr");
  require_equal(packed.graphs.graph.col, at::tensor({1, 0, 4, 3, 5, 4}, at::kLong), "col");
  require_equal(packed.edge_categories.select(1, 0), at::tensor({0, 0, 1, 1, 0, 0}, at::kLong), "bonds");
  require_equal(packed.node_categories.select(1, 0), at::tensor({5, 7, 5, 5, 5, 6}, at::kLong), "elements");
  REQUIRE(packed.warnings.size() == 3);
  CHECK(packed.warnings[0] == "m.csv: 2 of 5 SMILES are invalid and left out");
  CHECK_THAT(packed.warnings[1], Catch::Contains("m.csv:3: invalid SMILES \"C(C\""));
  CHECK_THAT(packed.warnings[2], Catch::Contains("m.csv:6") && Catch::Contains("valence"));
}

TEST_CASE("a table without a header is refused, where its first row has a SMILES") {
  if (!test::has_rdkit()) return;
  const TextTable table{"m.csv", {"c1ccccc1O", "3.5"}, {{"CCO", "CCN", "CO"}, {"1", "2", "3"}}, {2, 3, 4}};
  require_error([&] { smiles_column(table, ""); },
                {"m.csv:1: expected a header with the names of the columns", "the SMILES \"c1ccccc1O\""});
  CHECK(smiles_column(table, "c1ccccc1O") == 0);
}

TEST_CASE("a column without a valid SMILES is refused") {
  if (!test::has_rdkit()) return;
  require_error([] { graphs_from_smiles({"m.csv", {"C(C"}, {4}}); }, {"m.csv", "a valid SMILES", "m.csv:4"});
  require_error(
      [] {
        graphs_from_smiles({"m.csv", {"C(C", "CC)"}, {4, 5}});
      },
      {"m.csv:4: expected a valid SMILES, found \"C(C\"", "all 2 are invalid"});
  require_error([] { graphs_from_smiles({"m.csv", {}, {}}); }, {"m.csv", "a valid SMILES", "no rows"});
}

TEST_CASE("without RDKit SMILES are refused, not left out, with it they are read") {
  const auto read = [] { return graphs_from_smiles({"m.csv", {"C"}, {2}}); };
  if (molecule_library().empty()) {
    require_error([&] { read(); }, {"without RDKit"});
  } else {
    CHECK(read().rows == std::vector<int64_t>{0});
  }
}

}  // namespace geosft::test::test_smiles
