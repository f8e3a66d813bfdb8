// SPDX-License-Identifier: Apache-2.0
// Checks the state of the processes of a distributed training at the beginning of an epoch, and validates at its end.
#pragma once

#include <ATen/ATen.h>
#include <torch/nn/module.h>

#include <optional>

#include "models/training/distributed/communicator.h"
#include "models/training/training_task.h"

namespace geosft {

// Throws in all processes unless all have the same weights, epoch and position in the epoch. Called by all processes.
void check_same_state(const Communicator& processes, const torch::nn::Module& module, int64_t epoch,
                      at::IntArrayRef position);

// Thrown in the other processes when the validation in rank 0 has thrown an exception.
struct RootStopped {};

// Calls task.validate() in rank 0 and returns its result in all processes. If it throws, rank 0 rethrows its exception,
// and the others throw RootStopped.
std::optional<MetricSum> validate_on_root(TrainingTask& task, const Communicator& processes);

}  // namespace geosft
