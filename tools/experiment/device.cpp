// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/device.h"

#include <ATen/Context.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <dlfcn.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <regex>

#include "tools/experiment/arguments.h"

namespace geosft {
namespace {

bool has_cuda_kernels() {
  const auto op = c10::Dispatcher::singleton().findSchema({"geosft::_maxout_attention_forward", ""});
  return op.has_value() && op->hasKernelForDispatchKey(c10::DispatchKey::CUDA);
}

// Loads LibTorch's CUDA library from the folder of its CPU library. Returns an error message, or an empty string.
std::string load_torch_cuda() {
  Dl_info info;
  TORCH_CHECK(dladdr(reinterpret_cast<const void*>(&at::globalContext), &info) != 0,
              "LibTorch is not a shared library");
  const std::filesystem::path library = std::filesystem::path(info.dli_fname).parent_path() / "libtorch_cuda.so";
  // Lazy binding resolves CUDA symbols when they are called; global symbols are visible to libraries loaded later.
  void* const loaded = dlopen(library.c_str(), RTLD_LAZY | RTLD_GLOBAL);
  if (loaded == nullptr) return dlerror();
  // Calls to the stubs that tools/setup.sh makes for `import torch` end the program.
  const bool stubs = dlsym(loaded, "geosft_cuda_stubs") != nullptr;
  return stubs ? "they are stubs; tools/setup.sh --cuda installs the libraries" : "";
}

// Makes LibTorch's operators deterministic too; cuBLAS needs a fixed workspace for that.
void make_deterministic() {
  setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:8", /*overwrite=*/0);
  at::globalContext().setDeterministicAlgorithms(true, /*warn_only=*/true);
  at::globalContext().setDeterministicFillUninitializedMemory(false);
}

}  // namespace

std::string missing_for_cuda() {
  if (!has_cuda_kernels()) return "this build has no CUDA kernels";
  if (dlopen("libcuda.so.1", RTLD_LAZY) == nullptr) return "there is no NVIDIA driver here";
  if (const std::string error = load_torch_cuda(); !error.empty()) {
    return "LibTorch's CUDA libraries cannot be loaded: " + error;
  }
  return at::detail::getCUDAHooks().deviceCount() > 0 ? "" : "the driver shows no GPU";
}

at::Device chosen_device(const std::string& name) {
  if (name == "cpu") return at::kCPU;
  std::smatch parts;
  if (name != "auto" && !std::regex_match(name, parts, std::regex("cuda(:([0-9]{1,3}))?"))) {
    throw UsageError("--device must be auto, cpu, cuda or cuda:NUMBER, not " + name);
  }
  const std::string missing = missing_for_cuda();
  if (name == "auto" && !missing.empty()) return at::kCPU;
  if (!missing.empty()) throw UsageError("--device " + name + ": " + missing + "; --device cpu works");
  const int number = name == "auto" || !parts[2].matched ? 0 : std::stoi(parts[2]);
  const c10::DeviceIndex count = at::detail::getCUDAHooks().deviceCount();
  if (number >= count) throw UsageError("--device " + name + ": there are only " + std::to_string(count) + " GPUs");
  make_deterministic();
  return at::Device(at::kCUDA, static_cast<c10::DeviceIndex>(number));
}

std::string this_machine() {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  std::string since;  // boot ID, as containers may share a host name
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), since);
  return name.data() + (" " + since);
}

MachinePlace place_on_machine(const Communicator& processes, const std::string& machine) {
  const auto hash = static_cast<int64_t>(std::hash<std::string>()(machine));
  const at::Tensor all = all_gather(processes, at::full({1}, hash, at::kLong), processes.rank(), processes.size());
  const int64_t* const machines = all.const_data_ptr<int64_t>();
  MachinePlace place{0, 0};
  for (int64_t i = 0; i < processes.size(); ++i) {
    if (machines[i] != hash) continue;
    if (i < processes.rank()) ++place.rank;
    ++place.size;
  }
  return place;
}

int64_t local_gpu(const MachinePlace& place, int64_t gpus) {
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
  return {chosen.type(), static_cast<c10::DeviceIndex>(local_gpu(place_on_machine(processes), gpus))};
}

}  // namespace geosft
