// SPDX-License-Identifier: Apache-2.0
#include "data/points/part_dataset.h"
#include "tests/fuzz/target.h"

namespace geosft::fuzz {
namespace {

const Registration older_shapenet_part(
    {"older_shapenet_part",
     of_folder({"synsetoffset2category.txt", "train_test_split/shuffled_train_file_list.json",
                "train_test_split/shuffled_val_file_list.json", "train_test_split/shuffled_test_file_list.json",
                "03797390/points/p.pts", "03797390/points_label/p.seg"},
               [](const auto& folder) {
                 if (const auto set = open_part_dataset(folder, PartSplit::train); set->size() > 0) set->get(0);
               }),
     [] {
       return Inputs{
           joined({"Mug\t03797390\n", "[\"shape_data/03797390/p\"]", "[]", "[]", "0 0 0\n1 1 1\n", "1\n2\n"})};
     }});

}  // namespace
}  // namespace geosft::fuzz
