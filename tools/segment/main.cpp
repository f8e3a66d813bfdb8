// SPDX-License-Identifier: Apache-2.0
#include "tools/segment/segment_experiment.h"

int main(int argc, char** argv) {
  return geosft::run_trainer<geosft::SegmentExperiment>(
      {{"report", "one HTML page on a run: curves, tables, and its worst mistakes, drawn",
        geosft::add_report_command<geosft::SegmentExperiment>}},
      argc, argv);
}
