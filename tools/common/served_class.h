// SPDX-License-Identifier: Apache-2.0
// Classes that serve a RUN in Python: torch.classes.geosft.<name>(run).
#pragma once

#include <torch/custom_class.h>

#include <string>

namespace geosft {

// Registers a class that is made from the name of a RUN; `define` adds its methods. Returns whether it did: another
// copy of this library may have registered its own, which then serves.
template <class Class, class Define>
bool serve_class(const std::string& name, const Define& define) {
  if (torch::getCustomClass("__torch__.torch.classes.geosft." + name) != nullptr) return false;
  auto served = torch::class_<Class>("geosft", name);
  served.def(torch::init<std::string>());
  define(served);
  return true;
}

}  // namespace geosft
