// SPDX-License-Identifier: Apache-2.0
#include "data/graphs/smiles.h"
#include "tests/fuzz/target.h"

namespace geosft::fuzz {
namespace {

void read_smiles_list(const std::string& input) {
  static const InputFolder folder({"list.smi", "table.csv"});
  folder.fill(input);
  if (std::filesystem::exists(folder / "list.smi")) read_smiles_file(folder / "list.smi");
  if (std::filesystem::exists(folder / "table.csv")) read_smiles_file(folder / "table.csv");
}

const Registration smiles_list({"smiles_list", read_smiles_list, [] {
                                  return Inputs{joined({"CCO ethanol\n# none\nC#N\n", "id,SMILES\n1,\"C#N\"\n2,CO\n"}),
                                                joined({"[Na+].[Cl-]\tsalt\r\n"})};
                                }});

}  // namespace
}  // namespace geosft::fuzz
