// SPDX-License-Identifier: Apache-2.0
#include "tools/common/shared_device.h"

#include <ATen/Context.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <functional>

#include "tools/common/arguments.h"

namespace geosft {

std::string this_machine() {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  std::string since;  // its last start: names alone may be those of many containers
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), since);
  return name.data() + (" " + since);
}

MachinePlace place_on_machine(const Communicator& processes, const std::string& machine) {
  const auto own = static_cast<int64_t>(std::hash<std::string>()(machine));
  const at::Tensor all = all_gather(processes, at::full({1}, own, at::kLong), processes.rank(), processes.size());
  const int64_t* const machines = all.const_data_ptr<int64_t>();
  MachinePlace place{0, 0};
  for (int64_t i = 0; i < processes.size(); ++i) {
    if (machines[i] != own) continue;
    if (i < processes.rank()) ++place.rank;
    ++place.size;
  }
  return place;
}

int64_t own_gpu(const MachinePlace& place, int64_t gpus) {
  if (place.size <= gpus) return place.rank;
  throw UsageError(std::to_string(place.size) + " processes on a machine with " + std::to_string(gpus) +
                   (gpus == 1 ? " GPU" : " GPUs") +
                   ": each takes one; start fewer, or let them compute on CPUs (--device cpu), or give each a GPU "
                   "itself (--device cuda:NUMBER)");
}

at::Device shared_device(const std::string& name, at::Device chosen, const Communicator& processes) {
  const bool some = processes.any(chosen.is_cuda()), others = processes.any(!chosen.is_cuda());
  if (some && others) {
    throw UsageError("some of the processes have a GPU and some have none: --device cpu lets all compute on CPUs");
  }
  const bool numbered = name.find(':') != std::string::npos;
  const bool told = processes.any(numbered), left = processes.any(!numbered);
  if (some && told && left) {
    throw UsageError("some of the processes have a --device with a number and some have none: give it to all or none");
  }
  if (!some || numbered) return chosen;
  const c10::DeviceIndex gpus = at::detail::getCUDAHooks().deviceCount();
  return {chosen.type(), static_cast<c10::DeviceIndex>(own_gpu(place_on_machine(processes), gpus))};
}

}  // namespace geosft
