// SPDX-License-Identifier: Apache-2.0
// Selects the device of a program.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <string>

#include "models/training/distributed/communicator.h"

namespace geosft {

// Returns why this program cannot compute on a GPU, or an empty string if it can: the build has no CUDA kernels, there
// is no driver, LibTorch's CUDA libraries are missing, or the driver shows no GPU. Loads those libraries, as nothing
// links them, so it must be called before anything else asks LibTorch for a GPU.
std::string missing_for_cuda();

// Parses "cpu", "cuda", "cuda:1" …, or "auto": a GPU if there is one. Makes GPU results deterministic, bit for bit.
// Throws UsageError for another name, and for a device that cannot be used, with the reason.
at::Device chosen_device(const std::string& name);

// Local rank and local size of a process on its machine.
struct MachinePlace {
  int64_t rank = 0, size = 1;
};

// Returns a machine identifier; a container with its own host name counts as a machine.
std::string this_machine();
// Computes local rank and size from the global ranks, without the launcher. All processes must call it.
MachinePlace place_on_machine(const Communicator& processes, const std::string& machine = this_machine());

// Returns the GPU index of this process, where `gpus` GPUs are visible. Throws UsageError if there are fewer GPUs than
// processes on the machine.
int64_t local_gpu(const MachinePlace& place, int64_t gpus);

// Returns the CPU, or one GPU per process: the numbered one if the name has a number, otherwise by local rank. All
// processes must call it; `chosen` is the result of chosen_device(name) in each. Throws UsageError if only some have a
// GPU, or a number, and if a machine has too few GPUs.
at::Device shared_device(const std::string& name, at::Device chosen, const Communicator& processes);

}  // namespace geosft
