// SPDX-License-Identifier: Apache-2.0
#include "models/training/autocast.h"

#include <ATen/OpMathType.h>
#include <ATen/autocast_mode.h>

namespace geosft {

Autocast::Autocast(at::DeviceType device, std::optional<at::ScalarType> type)
    : device_(device), active_(type.has_value()) {
  if (!active_) return;
  enabled_before_ = at::autocast::is_autocast_enabled(device_);
  type_before_ = at::autocast::get_autocast_dtype(device_);
  at::autocast::set_autocast_dtype(device_, *type);
  at::autocast::set_autocast_enabled(device_, true);
  at::autocast::increment_nesting();
}

Autocast::~Autocast() {
  if (!active_) return;
  if (at::autocast::decrement_nesting() == 0)
    at::autocast::clear_cache();  // converted weights are valid for this pass only
  at::autocast::set_autocast_enabled(device_, enabled_before_);
  at::autocast::set_autocast_dtype(device_, type_before_);
}

at::Tensor out_of_autocast(const at::Tensor& x) {
  return x.to(at::toOpMathType(x.scalar_type()));
}

}  // namespace geosft
