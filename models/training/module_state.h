// SPDX-License-Identifier: Apache-2.0
// Saves and loads the weights of a module as tensors by name.
#pragma once

#include <torch/nn/module.h>

#include <map>
#include <memory>
#include <optional>
#include <string>

namespace geosft {

// Returns parameters and buffers by name, which share the memory of the module.
std::map<std::string, at::Tensor> module_state(const torch::nn::Module& module);

// Copies them into the module. Throws c10::Error, and changes nothing, unless names and shapes match exactly.
void load_module_state(torch::nn::Module& module, const std::map<std::string, at::Tensor>& state);

// Gives LibTorch's default CPU generator the state back that it had at the beginning.
class KeptDefaultGenerator {
 public:
  KeptDefaultGenerator();
  ~KeptDefaultGenerator();
  KeptDefaultGenerator(const KeptDefaultGenerator&) = delete;
  KeptDefaultGenerator& operator=(const KeptDefaultGenerator&) = delete;

 private:
  at::Tensor state_;
};

// Gives `copy`, which was made with the same options, copies of the parameters and buffers of `module` with their
// dtypes, on `device` or where they are, and the mode of each submodule. Throws c10::Error unless names and shapes
// match.
void copy_module_state(torch::nn::Module& copy, const torch::nn::Module& module,
                       const std::optional<torch::Device>& device);

// Returns such a copy of a module that its `options` make. The default generator stays as it is.
template <class Impl>
std::shared_ptr<torch::nn::Module> copy_of_module(const Impl& module, const std::optional<torch::Device>& device) {
  const KeptDefaultGenerator generator;
  auto copy = std::make_shared<Impl>(module.options);
  copy_module_state(*copy, module, device);
  return copy;
}

// Sets the dtype that LibTorch makes new floating-point tensors with, in the whole process, until the end of its life.
class DefaultDtypeGuard {
 public:
  explicit DefaultDtypeGuard(at::ScalarType dtype);
  ~DefaultDtypeGuard();
  DefaultDtypeGuard(const DefaultDtypeGuard&) = delete;
  DefaultDtypeGuard& operator=(const DefaultDtypeGuard&) = delete;

 private:
  caffe2::TypeMeta before_;
};

// Returns whether a parameter or buffer of a model belongs to its head: to a child named head, or ending with _head.
bool is_of_head(const std::string& name);

}  // namespace geosft
