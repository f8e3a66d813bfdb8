// SPDX-License-Identifier: Apache-2.0
#include "data/graphs/molecule_table.h"

#include "data/graphs/molecule_features.h"
#include "tests/fuzz/target.h"

namespace geosft::fuzz {
namespace {

void read_table_of_molecules(const std::string& input) {
  static const InputFolder folder({"table.csv", "lists/train.csv", "lists/valid.csv", "lists/test.csv"});
  folder.fill(input);
  if (molecule_library().empty() || !is_molecule_table(folder / "table.csv")) return;
  GraphReadOptions options;
  if (std::filesystem::exists(folder / "lists/train.csv")) options.split_folder = folder / "lists";
  read_molecule_table(folder / "table.csv", options);
}

const Registration molecule_table(
    {"molecule_table", read_table_of_molecules, [] {
       return Inputs{joined({"smiles,A,B\nCCO,0,1\nCC,1,\nC(C,1,0\n"}),
                     joined({"id,mol,y,split\n1,CCO,0.5,train\n3,\"C#N\",nan,val\n4,c1ccccc1,-2,test\n"}),
                     joined({"SMILES,y\nCO,true\nCN,false\n", "0\n", "", "1\n"})};
     }});

}  // namespace
}  // namespace geosft::fuzz
