// SPDX-License-Identifier: Apache-2.0
// Where a program computes.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <string>

#include "models/training/distributed/communicator.h"

namespace geosft {

// What keeps this program from computing on a GPU, empty where nothing does: the build has no CUDA kernels, there is no
// driver, LibTorch's CUDA libraries are not there, or the driver shows no GPU. Loads those libraries, which nothing is
// linked with, so it must come before anything else asks LibTorch for a GPU.
std::string missing_for_cuda();

// "cpu", "cuda", "cuda:1" …, or "auto": a GPU where there is one. On a GPU the same numbers come out every time, bit
// for bit. Throws UsageError for another name, and for a device that cannot be used, saying why.
at::Device chosen_device(const std::string& name);

// A process among those of its machine.
struct MachinePlace {
  int64_t rank = 0, size = 1;
};

// What tells machines apart; containers with host names of their own are machines.
std::string this_machine();
// In the order of the ranks; the launcher is not asked. All processes call it together.
MachinePlace place_on_machine(const Communicator& processes, const std::string& machine = this_machine());

// The number of the GPU that is this process's own, of so many that it sees. Throws UsageError where they are fewer
// than the processes of the machine.
int64_t own_gpu(const MachinePlace& place, int64_t gpus);

// `chosen` is what chosen_device(name) gives each of the processes, all of which call this together. CPUs, or a GPU for
// each: by number where the name says so, otherwise its own. Throws UsageError where some have a GPU, or a number,
// and some have none, and where a machine has too few GPUs.
at::Device shared_device(const std::string& name, at::Device chosen, const Communicator& processes);

}  // namespace geosft
