// SPDX-License-Identifier: Apache-2.0
#include "data/graphs/smiles_files.h"

#include <catch2/catch.hpp>

#include "tests/data/files.h"
#include "tests/data/gz_files.h"
#include "tests/support.h"

namespace geosft::test::test_smiles_files {
namespace {

using Lines = std::vector<int64_t>;

SmilesFile read(const std::string& name, const std::string& text) {
  const TemporaryFolder folder;
  write_text(folder / name, text);
  return read_smiles_file(folder / name);
}

}  // namespace

TEST_CASE("lists of SMILES are known by their names") {
  for (const char* name : {"a.smi", "a.smiles", "a.csv", "b.smi.gz", "b.smiles.gz", "b.csv.gz"}) {
    CHECK(is_smiles_file(name));
  }
  for (const char* name : {"a.txt", "a.gz", "smi", "a.smi.zip"}) CHECK_FALSE(is_smiles_file(name));
}

TEST_CASE("a line of SMILES holds a molecule and its name") {
  const SmilesFile file = read("m.smi", "# made by hand\nC#N hydrogen cyanide \r\n\n  CCO\tethanol\n#C\n[Na+].[Cl-]");
  CHECK_THAT(file.column.file, Catch::EndsWith("m.smi"));
  CHECK(file.column.smiles == std::vector<std::string>{"C#N", "CCO", "[Na+].[Cl-]"});
  CHECK(file.names == std::vector<std::string>{"hydrogen cyanide", "ethanol", ""});
  CHECK(file.column.lines == Lines{2, 4, 6});
}

TEST_CASE("a table has a column of SMILES") {
  const SmilesFile file = read("m.csv", "id,SMILES\n1,CCO\n\n2,\"C#N\"\n");
  CHECK(file.column.smiles == std::vector<std::string>{"CCO", "C#N"});
  CHECK(file.names == std::vector<std::string>{"", ""});
  CHECK(file.column.lines == Lines{2, 4});
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
  require_error([] { read("m.csv", "id,name\n1,CCO\n"); }, {"m.csv:1", "smiles"});
  require_error([] { read("m.csv", "smiles,Smiles\nC,C\n"); }, {"m.csv:1", "several"});
  require_error([] { read("m.csv", "id,smiles\n1,CCO\n2\n"); }, {"m.csv:3", "2 columns"});
  require_error([] { read_smiles_file("/nowhere/m.smi"); }, {"/nowhere/m.smi"});
}

}  // namespace geosft::test::test_smiles_files
