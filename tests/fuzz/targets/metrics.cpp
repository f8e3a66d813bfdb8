// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/target.h"
#include "tools/experiment/metrics_csv.h"

namespace geosft::fuzz {
namespace {

const Registration metrics({"metrics", of_file("metrics.csv", [](const auto& file) { read_metrics(file); }), [] {
                              return Inputs{
                                  "step,epoch,split,loss,accuracy,learning_rate,seconds,clouds_per_second,waiting\n"
                                  "1,1,train,0.5,0.25,0.001,1.5,100,0.1\n2,1,test,nan,0.25,0.001,1.5,100,nan\n"};
                            }});

}  // namespace
}  // namespace geosft::fuzz
