// SPDX-License-Identifier: Apache-2.0
#include "data/sequences/sequence_dataset.h"
#include "tests/fuzz/target.h"

namespace geosft::fuzz {
namespace {

const Registration ucr_table(
    {"ucr_table", of_folder({"A_TRAIN.tsv", "A_TEST.tsv"}, [](const auto& folder) { open_sequence_dataset(folder); }),
     [] {
       return Inputs{joined({"1\t0.5\t2\tNaN\n-1\t1e3\t-4\t5\n", "-1\t0\n1\tNaN\t7\n"})};
     }});

const Registration arff(
    {"arff", of_folder({"A_TRAIN.arff", "A_TEST.arff"}, [](const auto& folder) { open_sequence_dataset(folder); }), [] {
       const std::string one =
           "% a\n@relation 'a b'\n@attribute a numeric\n@attribute b real\n@attribute c {x,'y z'}\n@data\n";
       const std::string several =
           "@relation a\n@attribute r relational\n@attribute a numeric\n@end r\n@attribute c {x,y}\n@data\n";
       return Inputs{joined({one + "1,?,x\n-2e3,4,'y z'\n", one + "1.0D+00,2,x\n"}),
                     joined({several + "'1\\n2',x\n\"?\\n4\",y\n", several + "'5\\n6',y\n"})};
     }});

const Registration unlabelled_series(
    {"unlabelled_series", of_file("a.ts", [](const auto& file) { read_unlabelled_series(file); }), [] {
       return Inputs{"@classLabel false\n@data\n1,2:3,?\n4:5\n", "\xEF\xBB\xBF@classLabel true a\n@data\n1.0D+00:a\n"};
     }});

}  // namespace
}  // namespace geosft::fuzz
