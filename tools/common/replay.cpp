// SPDX-License-Identifier: Apache-2.0
#include "tools/common/replay.h"

#include <memory>

#include "models/training/cuda/cuda_step_graph.h"
#include "tools/common/arguments.h"
#include "tools/common/library_beside.h"

namespace geosft {
namespace {

[[noreturn]] void refuse(const std::string& needed) {
  throw UsageError("--replay-steps needs " + needed);
}

}  // namespace

void check_replay(const TrainSettings& train, const EncoderSettings& model, at::Device device,
                  const Communicator& processes) {
  if (!train.replay_steps) return;
  if (!device.is_cuda()) refuse("a GPU (--device cuda): CUDA graphs are what is replayed");
  if (processes.size() > 1) refuse("one process, there are " + std::to_string(processes.size()));
  if (model.attention != "sampling" && model.attention != "polynomial") {
    refuse("attention sampling or polynomial, not " + model.attention);
  }
  if (model.attention == "polynomial" && model.polynomial.tolerance > 0) {
    refuse("a degree instead of a tolerance, for which the program looks at every batch");
  }
}

StepGraphMaker step_graphs(const TrainSettings& train, at::Device device) {
  if (!train.replay_steps) return {};
  const auto make =
      reinterpret_cast<MakeCudaStepGraph>(function_beside("libgeosft_cuda_graph.so", make_cuda_step_graph_name));
  if (make == nullptr) refuse("libgeosft_cuda_graph.so beside the program's libraries");
  return [make, device] { return std::unique_ptr<StepGraph>(make(device.index())); };
}

}  // namespace geosft
