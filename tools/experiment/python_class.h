// SPDX-License-Identifier: Apache-2.0
// What the classes that serve a RUN in Python share: torch.classes.geosft.<name>(run).
#pragma once

#include <ATen/ATen.h>
#include <torch/custom_class.h>

#include <optional>
#include <string>

#include "data/points/shape.h"

namespace geosft {

// Registers a class that is made from the name of a RUN; `define` adds its methods. Returns whether it did: another
// copy of this library may have registered its own, which then serves.
template <class Class, class Define>
bool register_python_class(const std::string& name, const Define& define) {
  if (torch::getCustomClass("__torch__.torch.classes.geosft." + name) != nullptr) return false;
  auto served = torch::class_<Class>("geosft", name);
  served.def(torch::init<std::string>());
  define(served);
  return true;
}

// A cloud that a caller hands over in place of a file, as readers give them: points float [n, 3] with n >= 1, normals
// float [n, 3] or none, both on any device. Throws an error naming the argument for shapes, dtypes and numbers that are
// not finite.
Shape input_cloud(const at::Tensor& points, const std::optional<at::Tensor>& normals);

}  // namespace geosft
