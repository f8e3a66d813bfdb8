// SPDX-License-Identifier: Apache-2.0
// Fine-tuning: a training that starts from the weights of another run.
#pragma once

#include <torch/nn/module.h>

#include <cstdint>
#include <set>
#include <string>

#include "tools/experiment/config.h"
#include "tools/experiment/experiment_settings.h"
#include "tools/experiment/run_observer.h"

namespace geosft {

// Sets the keys of section [model], the points and normals of section [clouds], and the features of section [molecules]
// to those of a RUN folder, a checkpoint or a pretrained model. Throws DataError for an invalid one.
void take_model_keys(Config& config, const std::string& run);

// Throws UsageError if an option of the command line gives another architecture than that of the RUN to begin with:
// `named` are the keys that the command line gives, `of_run` and `asked` the configurations without and with it.
void check_architecture(const std::set<std::string>& named, const std::string& run, const std::string& of_run,
                        const std::string& asked);

// Returns the seed of the initial weights of a model: `seed`, or with train.init_from one that follows from it and from
// the configuration of that run. So new outputs do not begin with the numbers that those of the run began with, where
// both have the same seed. Returns `seed` if `resumes`: the weights are then those of the checkpoint. Throws DataError
// naming the checkpoint of init_from if it is of another tool than `run`.
uint64_t initial_seed(uint64_t seed, const TrainSettings& train, const RunDescription& run, bool resumes);

// Copies the weights of train.init_from into `model`; if it is empty, or `resumes`, the weights stay. If both runs have
// the same outputs (classes, parts or targets), the output layer is copied, too, with the units of regression targets.
// Otherwise its rows are copied for outputs that the checkpoint has by name, of parts with their class, and of
// regression in the same units; other rows and the units stay as they are. All other tensors must match. Where the
// class of a shape is an input, the columns of classes that the checkpoint does not have by name stay as they are.
// With train.freeze_encoder, parameters outside the head no longer require a gradient. Returns a text for the user,
// such as ", from furniture with the outputs of 5 of its 7 classes" or ", from furniture with a new output layer";
// empty without init_from. Throws DataError naming the checkpoint if it is of another tool than `run` or a tensor
// differs in shape, UsageError for a frozen encoder without init_from.
std::string start_from_run(torch::nn::Module& model, const TrainSettings& train, const RunDescription& run,
                           bool resumes);

}  // namespace geosft
