// SPDX-License-Identifier: Apache-2.0
#include "tools/segment/segment_experiment.h"

int main(int argc, char** argv) {
  geosft::run_trainer<geosft::SegmentExperiment>({geosft::report_subcommand<geosft::SegmentExperiment>}, argc, argv);
}
