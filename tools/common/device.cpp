// SPDX-License-Identifier: Apache-2.0
#include "tools/common/device.h"

#include <ATen/Context.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <regex>

#include "tools/common/arguments.h"

namespace geosft {
namespace {

bool has_cuda_kernels() {
  const auto op = c10::Dispatcher::singleton().findSchema({"geosft::_maxout_attention_forward", ""});
  return op.has_value() && op->hasKernelForDispatchKey(c10::DispatchKey::CUDA);
}

// LibTorch's CUDA library is in the folder of its CPU library. Returns an error message, or nothing.
std::string load_torch_cuda() {
  Dl_info info;
  TORCH_CHECK(dladdr(reinterpret_cast<const void*>(&at::globalContext), &info) != 0,
              "LibTorch is not a shared library");
  const std::filesystem::path library = std::filesystem::path(info.dli_fname).parent_path() / "libtorch_cuda.so";
  // What depends on CUDA is bound when it is called, and found by everything that is loaded later.
  void* const loaded = dlopen(library.c_str(), RTLD_LAZY | RTLD_GLOBAL);
  if (loaded == nullptr) return dlerror();
  // The stubs that tools/setup.sh makes for `import torch` end a program that calls them.
  const bool stubs = dlsym(loaded, "geosft_cuda_stubs") != nullptr;
  return stubs ? "they are stubs; tools/setup.sh --cuda installs the libraries" : "";
}

// Sums in one order in LibTorch's operators too; cuBLAS wants its workspace fixed for that.
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

}  // namespace geosft
