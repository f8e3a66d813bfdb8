// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/ATen.h>

#include <optional>

namespace geosft {

// While it lives, LibTorch computes matrix products on `device` in `type` (float16 or bfloat16), where it deems that
// safe; without a type nothing changes.
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

// What autocast has left in a half type, in float32: computed from it a loss would be rounded to three digits.
at::Tensor out_of_autocast(const at::Tensor& x);

}  // namespace geosft
