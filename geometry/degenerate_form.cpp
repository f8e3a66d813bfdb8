// SPDX-License-Identifier: Apache-2.0
#include "geometry/degenerate_form.h"

#include "geometry/operators.h"
#include "geometry/points.h"

namespace geosft {
namespace {

// For the models in Python.
GEOSFT_OPERATORS(m) {
  m.def("_degenerate_form(Tensor points) -> str");
}

GEOSFT_KERNELS(CPU, m) {
  m.impl("_degenerate_form", degenerate_form);
}

}  // namespace

std::string degenerate_form(const at::Tensor& points) {
  check_points(points, "points");
  TORCH_CHECK(points.is_cpu(), "points must be on the CPU");
  constexpr double tolerance = 1e-5;  // float32 rounds more finely
  if (points.size(0) < 2) return "";
  const at::Tensor exact = points.detach().to(at::kDouble), offset = exact - exact[0];
  const at::Tensor distance = offset.square().sum(1);
  const at::Tensor farthest = offset[distance.argmax().item<int64_t>()];
  const double extent = distance.max().item<double>();
  if (extent == 0) return "are equal";
  const at::Tensor beside = at::linalg_cross(offset, farthest.expand_as(offset)).norm(2, 1);
  return beside.max().item<double>() <= tolerance * extent ? "lie on one line" : "";
}

}  // namespace geosft
