// SPDX-License-Identifier: Apache-2.0
// What the processes of one training settle among themselves at the ends of epochs, so that none waits forever.
#pragma once

#include <ATen/ATen.h>
#include <torch/nn/module.h>

#include <optional>

#include "models/training/communicator.h"
#include "models/training/training_task.h"

namespace geosft {

// Throws in all processes unless they hold the same weights, epoch and position in it. Called by all of them.
void check_alike(const Communicator& processes, const torch::nn::Module& module, int64_t epoch,
                 at::IntArrayRef position);

// Ends the loop of a process that has waited for a validation which the leading process left by an exception.
struct LeaderStopped {};

// What the leading process's task.validate() gives, in all processes: the others wait for it. Its exception there,
// LeaderStopped in the others.
std::optional<Tally> validated_by_leader(TrainingTask& task, const Communicator& processes);

}  // namespace geosft
