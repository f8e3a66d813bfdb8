// SPDX-License-Identifier: Apache-2.0
#include "tools/classify/classify_experiment.h"

int main(int argc, char** argv) {
  using namespace geosft;
  return run_trainer<ClassifyExperiment>(
      {.description = "Classification of 3D shapes by the Sampling Foundational Transformer",
       .train = "train a classifier on a dataset and leave it in a RUN folder",
       .eval = "accuracy of a trained classifier, upright or rotated",
       .predict = "class of each of some files",
       .info = "what a RUN folder, a checkpoint or a shape file holds"},
      {{"export", "write a dataset as arrays, in the HDF5 form of ModelNet40", add_export_command},
       {"report", "one HTML page on a run: curves, tables, and its worst mistakes, drawn",
        add_report_command<ClassifyExperiment>}},
      argc, argv);
}
