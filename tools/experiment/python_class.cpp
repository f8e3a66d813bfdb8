// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/python_class.h"

#include "geometry/points.h"
#include "models/training/module_state.h"

namespace geosft {
namespace {

at::Tensor checked(const at::Tensor& rows, const char* name, at::ScalarType type) {
  check_points(rows, name);
  TORCH_CHECK(rows.size(0) > 0, name, " must have at least one row");
  return rows.detach().to(at::kCPU, type).contiguous();
}

}  // namespace

ServedState served_state(const torch::nn::Module& model, const std::map<std::string, std::string>& texts) {
  ServedState state;
  for (const auto& [name, tensor] : module_state(model)) std::get<0>(state).insert("model." + name, tensor.detach());
  for (const auto& [name, text] : texts) std::get<1>(state).insert(name, text);
  return state;
}

Checkpoint checkpoint_of(const ServedState& state) {
  Checkpoint checkpoint;
  for (const auto& entry : std::get<0>(state)) checkpoint.tensors.emplace(entry.key(), entry.value());
  for (const auto& entry : std::get<1>(state)) checkpoint.texts.emplace(entry.key(), entry.value());
  return checkpoint;
}

Shape input_cloud(const at::Tensor& points, const std::optional<at::Tensor>& normals) {
  Shape shape{.points = {}, .normals = {}, .name = "points"};
  const at::Tensor coordinates = checked(points, "points", at::kDouble);
  check_finite(coordinates, "points");
  set_points(shape, coordinates);
  check_finite(shape.points, "points");
  if (!normals.has_value()) return shape;
  const at::Tensor given = checked(*normals, "normals", at::kFloat);
  shape.normals = at::where(given.isfinite().all(1, /*keepdim=*/true), given, at::zeros_like(given));
  TORCH_CHECK(shape.normals.sizes() == shape.points.sizes(), "normals must have the shape of points, ",
              shape.points.sizes(), ", got ", shape.normals.sizes());
  return shape;
}

}  // namespace geosft
