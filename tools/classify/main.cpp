// SPDX-License-Identifier: Apache-2.0
#include "tools/classify/classify_experiment.h"

int main(int argc, char** argv) {
  return geosft::run_trainer<geosft::ClassifyExperiment>(
      {{"export", "write a dataset as arrays, in the HDF5 form of ModelNet40", geosft::add_export_command},
       {"report", "one HTML page on a run: curves, tables, and its worst mistakes, drawn",
        geosft::add_report_command<geosft::ClassifyExperiment>}},
      argc, argv);
}
