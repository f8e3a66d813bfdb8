// SPDX-License-Identifier: Apache-2.0
// The option replay_steps of every training.
#pragma once

#include <ATen/ATen.h>

#include "models/training/distributed/communicator.h"
#include "models/training/step_graph.h"
#include "tools/common/experiment_settings.h"

namespace geosft {

// Throws UsageError where `train` asks for steps to be replayed and they cannot be: on a CPU, by several processes, and
// with a model whose steps wait for numbers of the device or copy to it.
void check_replay(const TrainSettings& train, const EncoderSettings& model, at::Device device,
                  const Communicator& processes);

// What steps on `device` are captured with; nothing unless `train` asks for that. Throws UsageError where the library
// is not there.
StepGraphMaker step_graphs(const TrainSettings& train, at::Device device);

}  // namespace geosft
