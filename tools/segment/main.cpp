// SPDX-License-Identifier: Apache-2.0
#include "tools/segment/segment_experiment.h"

int main(int argc, char** argv) {
  using namespace geosft;
  return run_trainer<SegmentExperiment>(
      {.description = "Parts of 3D shapes by the Sampling Foundational Transformer",
       .train = "train a model of the parts of shapes and leave it in a RUN folder",
       .eval = "how well a trained model finds the parts, upright or rotated",
       .predict = "the part of every point of some files",
       .info = "what a RUN folder, a checkpoint, a dataset or a shape file holds"},
      {{"report", "one HTML page on a run: curves, tables, and its worst mistakes, drawn",
        add_report_command<SegmentExperiment>}},
      argc, argv);
}
