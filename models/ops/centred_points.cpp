// SPDX-License-Identifier: Apache-2.0
#include "models/ops/centred_points.h"

#include "geometry/deterministic_scatter_sum.h"
#include "geometry/device_offsets.h"
#include "geometry/packed.h"

namespace geosft {

at::Tensor centred_points(const at::Tensor& points, const std::optional<at::Tensor>& ptr) {
  const at::Tensor item = item_of_row_on_device(ptr, points.size(0), points.device());
  const at::Tensor count =
      given(ptr) ? ptr_on_device(ptr, points.device(), "ptr").diff() : at::full({1}, points.size(0), item.options());
  const at::Tensor sum = deterministic_scatter_sum(points, item, count.size(0));
  return points - (sum / count.clamp_min(1).unsqueeze(1).to(points.scalar_type())).index_select(0, item);
}

}  // namespace geosft
