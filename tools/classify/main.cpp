// SPDX-License-Identifier: Apache-2.0
#include "tools/classify/classify_experiment.h"

namespace {

using geosft::ClassifyExperiment;

const std::vector<geosft::Subcommand> subcommands = {
    {"train", "train a classifier on a dataset and leave it in a RUN folder",
     geosft::add_train_command<ClassifyExperiment>},
    {"eval", "accuracy of a trained classifier, upright or rotated", geosft::add_eval_command<ClassifyExperiment>},
    {"predict", "class of each of some files", geosft::add_predict_command<ClassifyExperiment>},
    {"info", "what a RUN folder, a checkpoint or a shape file holds", geosft::add_info_command<ClassifyExperiment>},
    {"export", "write a dataset as arrays, in the HDF5 form of ModelNet40", geosft::add_export_command},
    {"list", "pretrained models: their names may stand for a RUN folder", geosft::add_list_command<ClassifyExperiment>},
    {"report", "one HTML page on a run: curves, tables, and its worst mistakes, drawn",
     geosft::add_report_command<ClassifyExperiment>},
    {"fetch", "download a published dataset", geosft::add_fetch_command<ClassifyExperiment>},
};

constexpr const char* description = "Classification of 3D shapes by the Sampling Foundational Transformer";

}  // namespace

int main(int argc, char** argv) {
  geosft::end_tool(geosft::run_tool(ClassifyExperiment::program,
                                    [&] { return geosft::run_subcommands(description, subcommands, argc, argv); }));
}
