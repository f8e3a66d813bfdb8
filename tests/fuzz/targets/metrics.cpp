// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/target.h"
#include "tools/experiment/metrics_csv.h"

namespace geosft::fuzz {
namespace {

void read_metrics_file(const std::string& input) {
  static const InputFolder folder({"metrics.csv"});
  folder.fill(input);
  read_metrics(folder / "metrics.csv");
}

const Registration metrics({"metrics", read_metrics_file, [] {
                              return Inputs{
                                  "step,epoch,split,loss,accuracy,learning_rate,seconds,clouds_per_second,waiting\n"
                                  "1,1,train,0.5,0.25,0.001,1.5,100,0.1\n2,1,test,nan,0.25,0.001,1.5,100,nan\n"};
                            }});

}  // namespace
}  // namespace geosft::fuzz
