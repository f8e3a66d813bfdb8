// SPDX-License-Identifier: Apache-2.0
// A class that serves a RUN in Python, found and called by name as Python does.
#pragma once

#include <torch/custom_class.h>

#include <catch2/catch.hpp>

#include "models/training/module_state.h"
#include "tests/data/files.h"
#include "tools/experiment/run_checkpoint.h"
#include "tools/experiment/run_folder.h"
#include "tools/experiment/run_observer.h"

namespace geosft::test {

class Served {
 public:
  Served(const std::string& name, const std::string& run)
      : class_(torch::getCustomClass("__torch__.torch.classes.geosft." + name)) {
    REQUIRE(class_ != nullptr);
    object_ = c10::ivalue::Object::create(class_, 1);
    call("__init__", {run});
  }
  // The object of a state, as Python's pickle and copy.deepcopy make it.
  Served copy() const {
    const Served made(class_);
    const at::IValue state = call("__getstate__", {});
    made.call("__setstate__", {state.deepcopy()});
    return made;
  }
  at::IValue call(const std::string& method, std::vector<at::IValue> arguments) const {
    arguments.insert(arguments.begin(), object_);
    return class_->getMethod(method)(std::move(arguments));
  }
  std::vector<std::string> names(const std::string& method) const {
    return call(method, {}).to<std::vector<std::string>>();
  }

 private:
  explicit Served(const at::ClassTypePtr& type) : class_(type), object_(c10::ivalue::Object::create(type, 1)) {}

  at::ClassTypePtr class_;
  at::IValue object_;
};

// Writes a RUN folder of a model that nobody has trained.
inline void write_run(const std::filesystem::path& run, const RunDescription& description,
                      const torch::nn::Module& model) {
  Checkpoint checkpoint{{}, description.texts()};
  for (const auto& [name, tensor] : module_state(model)) checkpoint.tensors.emplace("model." + name, tensor);
  RunFolder::create(run).write_config("");
  save_checkpoint(run / "best.ckpt", checkpoint);
}

}  // namespace geosft::test
