// SPDX-License-Identifier: Apache-2.0
#include "tools/classify/classify_experiment.h"

int main(int argc, char** argv) {
  geosft::run_trainer<geosft::ClassifyExperiment>(
      {{"export", "write a dataset as arrays, in the HDF5 form of ModelNet40", geosft::add_export_command},
       geosft::report_subcommand<geosft::ClassifyExperiment>},
      argc, argv);
}
