// SPDX-License-Identifier: Apache-2.0
#include "data/points/part_dataset.h"
#include "tests/fuzz/target.h"

namespace geosft::fuzz {
namespace {

const Registration labelled_tree(
    {"labelled_tree",
     of_folder({"cup/a.ply", "cup/b.pcd", "cup/c.txt", "parts.txt"},
               [](const auto& folder) {
                 if (const auto set = open_part_dataset(folder, PartSplit::train); set->size() > 0) set->get(0);
               }),
     [] {
       const std::string ply =
           "ply\nformat ascii 1.0\nelement vertex 2\nproperty float x\nproperty float y\nproperty float z\n"
           "property float scalar_label\nend_header\n0 0 0 1\n1 0 0 -1\n";
       const std::string pcd = "FIELDS x y z label\nSIZE 4 4 4 4\nTYPE F F F I\nPOINTS 1\nDATA ascii\n0 0 0 2\n";
       const std::string table = "x y z label\n0 0 0 1\n1 0 0 2\n";
       return Inputs{joined({ply, pcd, table}), joined({ply, pcd, table, "1 cup bowl\n2 cup handle\n"})};
     }});

}  // namespace
}  // namespace geosft::fuzz
