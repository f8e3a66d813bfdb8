// SPDX-License-Identifier: Apache-2.0
// Enables autocast in a scope.
#pragma once

#include <ATen/ATen.h>

#include <optional>

namespace geosft {

// During its lifetime LibTorch runs operators that autocast lists (matrix products) on `device` in `type`, float16 or
// bfloat16; without a type nothing changes.
class Autocast {
 public:
  Autocast(at::DeviceType device, std::optional<at::ScalarType> type);
  ~Autocast();
  Autocast(const Autocast&) = delete;
  Autocast& operator=(const Autocast&) = delete;

 private:
  at::DeviceType device_;
  bool active_, enabled_before_ = false;
  at::ScalarType type_before_ = at::kFloat;
};

// Converts half types to float32, so that a loss is not computed with three digits.
at::Tensor out_of_autocast(const at::Tensor& x);

}  // namespace geosft
