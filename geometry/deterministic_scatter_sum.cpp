// SPDX-License-Identifier: Apache-2.0
#include "geometry/deterministic_scatter_sum.h"

namespace geosft {

at::Tensor deterministic_scatter_sum(const at::Tensor& x, const at::Tensor& index, int64_t count) {
  std::vector<int64_t> shape = x.sizes().vec();
  shape[0] = count;
  const at::Tensor none = at::zeros(shape, x.options());
  // index_add is deterministic only on the CPU, index_put only on a GPU.
  return x.is_cpu() ? none.index_add(0, index, x) : none.index_put({index}, x, /*accumulate=*/true);
}

}  // namespace geosft
