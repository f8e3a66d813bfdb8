// SPDX-License-Identifier: Apache-2.0
#include "data/sequences/sequence_dataset.h"
#include "tests/fuzz/target.h"

namespace geosft::fuzz {
namespace {

const Registration ts(
    {"ts", of_folder({"A_TRAIN.ts", "A_TEST.ts"}, [](const auto& folder) { open_sequence_dataset(folder); }), [] {
       return Inputs{
           joined({"@problemName a\n@timeStamps false\n@missing true\n@univariate false\n@dimensions 2\n@equalLength "
                   "true\n@seriesLength 3\n@classLabel true a b\n@data\n1,2,3:4,?,6:a\n1,2,3:4,NaN,6e1:b\n",
                   "@problemName a\n@timeStamps false\n@missing true\n@univariate false\n@dimensions 2\n@equalLength "
                   "true\n@seriesLength 3\n@classLabel true a b\n@data\n1,2,3:4,?,6:a\n1,2,3:4,NaN,6e1:b\n"})};
     }});

}  // namespace
}  // namespace geosft::fuzz
