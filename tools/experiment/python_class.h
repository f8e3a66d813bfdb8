// SPDX-License-Identifier: Apache-2.0
// Helpers for the classes that serve a RUN in Python: torch.classes.geosft.<name>(run).
#pragma once

#include <ATen/ATen.h>
#include <torch/custom_class.h>
#include <torch/nn/module.h>

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

#include "data/checkpoint.h"
#include "tools/experiment/trained_run.h"

namespace geosft {

// Holds what a pickled or deep-copied object consists of: the tensors and texts of its checkpoint.
using ServedState = std::tuple<c10::Dict<std::string, at::Tensor>, c10::Dict<std::string, std::string>>;
ServedState served_state(const torch::nn::Module& model, const std::map<std::string, std::string>& texts);
Checkpoint checkpoint_of(const ServedState& state);
// Begins the names of the tensors of a kernel regression there.
inline constexpr std::string_view kernel_prefix = "kernel.";
// Names such a checkpoint in messages.
constexpr const char* served_state_name = "the state of a served model";

// Registers a class constructed from the path of a RUN or from the ServedState that its state() returns; `define` adds
// its methods. Returns false if another copy of this library has registered its own, which is then used.
template <class Class, class Define>
bool register_python_class(const std::string& name, const Define& define) {
  if (torch::getCustomClass("__torch__.torch.classes.geosft." + name) != nullptr) return false;
  auto served = torch::class_<Class>("geosft", name);
  served.def(torch::init<std::string>());
  served.def_pickle([](const c10::intrusive_ptr<Class>& self) { return self->state(); },
                    [](const ServedState& state) { return c10::make_intrusive<Class>(state); });
  define(served);
  return true;
}

// The base of a class that serves a trained run of a task.
template <class Task>
class ServedRun : public torch::CustomClassHolder {
 public:
  explicit ServedRun(const std::string& run) : run_(load_trained_run<Task>(run)) {}
  explicit ServedRun(const ServedState& state) : run_(trained_run_of<Task>(checkpoint_of(state), served_state_name)) {
    if constexpr (requires { run_.companion.regression; }) {
      std::map<std::string, at::Tensor> tensors;
      for (const auto& entry : std::get<0>(state)) {
        if (entry.key().rfind(kernel_prefix, 0) == 0)
          tensors.emplace(entry.key().substr(kernel_prefix.size()), entry.value());
      }
      if (!tensors.empty()) run_.companion.take(std::move(tensors));
    }
  }

  ServedState state() const {
    TORCH_CHECK(run_.more_models.empty(),
                "the state of a served model must be that of one model, found an ensemble of ",
                1 + run_.more_models.size());
    ServedState state = served_state(*run_.model, describe_run<Task>(run_.settings, run_).texts());
    if constexpr (requires { run_.companion.regression; }) {
      if (run_.companion.regression) {
        for (const auto& [name, tensor] : run_.companion.tensors()) {
          std::get<0>(state).insert(std::string(kernel_prefix) + name, tensor);
        }
      }
    }
    return state;
  }
  // Returns the names of the classes or targets.
  std::vector<std::string> names() const { return run_.names(); }

 protected:
  TrainedRun<Task> run_;
};

// Registers as register_python_class does, a class derived from ServedRun; also adds class_names().
template <class Class, class Define>
bool register_served_run(const std::string& name, const Define& define) {
  return register_python_class<Class>(name, [&](auto& served) {
    served.def("class_names", [](const c10::intrusive_ptr<Class>& self) { return self->names(); });
    define(served);
  });
}

}  // namespace geosft
