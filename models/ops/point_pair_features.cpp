// SPDX-License-Identifier: Apache-2.0
#include "models/ops/point_pair_features.h"

#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/custom_function.h>

#include "geometry/no_autocast.h"
#include "geometry/normalize.h"
#include "geometry/operators.h"
#include "geometry/packed.h"
#include "geometry/transform_checks.h"
#include "models/ops/composite_gradient.h"
#include "models/ops/once_differentiable.h"

namespace geosft {
namespace {

using Optional = std::optional<at::Tensor>;
using FeaturesForward = at::Tensor(const at::Tensor& points, const Optional& normals, const at::Tensor& index,
                                   const Optional& ptr);
using FeaturesBackward = PointGradients(const at::Tensor& grad, const at::Tensor& points, const Optional& normals,
                                        const at::Tensor& index, const Optional& ptr);

at::Tensor product(const at::Tensor& a, const at::Tensor& b) {
  return (a * b).sum(-1);
}

// Returns rows [N, 3] of length 1, and 0 where there is no direction.
at::Tensor directions(const at::Tensor& rows) {
  return rows / rows.norm(2, -1, true).clamp_min(smallest_pair_length);
}

// The angle of directions u [N, K, 3] around the axes [N, 3], from an arbitrary direction.
at::Tensor angle_around(const at::Tensor& axes, const at::Tensor& u) {
  const at::Tensor smallest = axes.abs().argmin(1, true) == at::arange(3, axes.options().dtype(at::kLong));
  const at::Tensor first = directions(at::linalg_cross(axes, smallest.to(axes.scalar_type())));
  const at::Tensor second = at::linalg_cross(axes, first);
  return at::atan2(product(u, second.unsqueeze(1)), product(u, first.unsqueeze(1)));
}

// The cosine [N, K] between the direction u [N, K, 3] of each neighbour that exists and that of the next one by angle.
at::Tensor corners(const at::Tensor& u, const at::Tensor& angle, const at::Tensor& exists) {
  const at::Tensor order = angle.masked_fill(exists.logical_not(), 10.0).argsort(/*stable=*/true, 1);
  const at::Tensor next = at::arange(1, angle.size(1) + 1, order.options()).unsqueeze(0);
  const at::Tensor after = order.gather(1, at::where(next < exists.sum(1, true), next, 0));
  const auto along = [&](const at::Tensor& place) { return u.gather(1, place.unsqueeze(2).expand_as(u)); };
  return at::empty_like(angle).scatter(1, order, product(along(order), along(after)));
}

at::Tensor announced(const at::Tensor& points, const std::optional<at::Tensor>& normals, const at::Tensor& index,
                     const std::optional<at::Tensor>& ptr) {
  check_point_pairs(points, normals, index, ptr);
  return points.new_empty_symint({points.sym_size(0), index.sym_size(1), point_pair_channels});
}

at::Tensor features_forward(const at::Tensor& points, const Optional& normals, const at::Tensor& index,
                            const Optional& ptr) {
  const at::NoGradGuard guard;
  return composite_point_pair_features(points, normals, index, ptr);
}

PointGradients features_backward(const at::Tensor& grad, const at::Tensor& points, const Optional& normals,
                                 const at::Tensor& index, const Optional& ptr) {
  return point_gradients(grad, points, normals, [&](const at::Tensor& of_points, const at::Tensor& of_normals) {
    return composite_point_pair_features(of_points, if_defined(of_normals), index, ptr);
  });
}

PointGradients features_backward_meta(const at::Tensor& /*grad*/, const at::Tensor& points, const Optional& normals,
                                      const at::Tensor&, const Optional&) {
  return point_gradients_meta(points, normals);
}

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct DifferentiableFeatures : torch::autograd::Function<DifferentiableFeatures> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& points, const Optional& normals,
                            const at::Tensor& index, const Optional& ptr) {
    static const auto op = find_operator<FeaturesForward>("_point_pair_features");
    context->save_for_backward({points, normals.value_or(at::Tensor()), index, ptr.value_or(at::Tensor())});
    at::AutoDispatchBelowADInplaceOrView below;
    return op.call(points, normals, index, ptr);
  }

  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    static const auto op = find_operator<FeaturesBackward>("_point_pair_features_backward");
    const variable_list s = context->get_saved_variables();
    variable_list gradients = once_differentiable("point_pair_features", {grads[0], s[0], s[1]}, [&] {
      auto [of_points, of_normals] = op.call(grads[0], s[0], if_defined(s[1]), s[2], if_defined(s[3]));
      return variable_list{of_points, s[1].defined() ? of_normals : at::Tensor()};
    });
    gradients.resize(4);
    return gradients;
  }
};

at::Tensor features_with_gradient(const at::Tensor& points, const Optional& normals, const at::Tensor& index,
                                  const Optional& ptr) {
  static const auto op = find_operator<FeaturesForward>("_point_pair_features");
  if (!needs_gradient({points, normals.value_or(at::Tensor())})) {
    at::AutoDispatchBelowADInplaceOrView below;
    return op.call(points, normals, index, ptr);
  }
  check_point_pairs(points, normals, index, ptr);
  check_transforms("point_pair_features", {points, normals.value_or(at::Tensor())});
  return DifferentiableFeatures::apply(points, normals, index, ptr);
}

GEOSFT_OPERATORS(m) {
  define_operator<c10::DispatchKey::CompositeExplicitAutograd, c10::DispatchKey::Meta, c10::DispatchKey::Autograd>(
      m, "_point_pair_features(Tensor points, Tensor? normals, Tensor index, Tensor? ptr=None) -> Tensor",
      features_forward, announced, features_with_gradient);
  define_operator<c10::DispatchKey::CompositeExplicitAutograd, c10::DispatchKey::Meta>(
      m,
      "_point_pair_features_backward(Tensor grad, Tensor points, Tensor? normals, Tensor index, Tensor? ptr) -> "
      "(Tensor points_grad, Tensor normals_grad)",
      features_backward, features_backward_meta);
}

}  // namespace

void check_point_pairs(const at::Tensor& points, const std::optional<at::Tensor>& normals, const at::Tensor& index,
                       const std::optional<at::Tensor>& ptr) {
  TORCH_CHECK(points.dim() == 2 && points.sym_size(1) == 3 && points.is_floating_point(),
              "points must be floating of shape [N, 3], got ", points.scalar_type(), " ", points.sym_sizes());
  TORCH_CHECK(!given(normals) || normals->sym_sizes() == points.sym_sizes(), "normals must have the shape of points, ",
              points.sym_sizes(), ", got ", normals->sym_sizes());
  TORCH_CHECK(index.scalar_type() == at::kLong && index.dim() == 2 && index.sym_size(0) == points.sym_size(0),
              "index must be int64 [N, K] with N = ", points.sym_size(0), ", got ", index.scalar_type(), " ",
              index.sym_sizes());
  check_ptr(ptr, "ptr", points);
}

at::Tensor composite_point_pair_features(const at::Tensor& points, const std::optional<at::Tensor>& normals,
                                         const at::Tensor& index, const std::optional<at::Tensor>& ptr) {
  check_point_pairs(points, normals, index, ptr);
  const NoAutocast no_autocast;
  const int64_t rows = points.size(0), neighbours = index.size(1);
  if (points.numel() == 0 || neighbours == 0) return points.new_zeros({rows, neighbours, point_pair_channels});
  const at::Tensor p = centred_points(points, ptr).to(at::kDouble), radius = p.norm(2, -1), outward = directions(p);
  const at::Tensor n = given(normals) ? normals->to(at::kDouble) : outward;
  const at::Tensor row = index.clamp_min(0).flatten();
  const auto of_neighbours = [&](const at::Tensor& x) { return x.index_select(0, row).view({rows, neighbours, -1}); };
  const at::Tensor offset = of_neighbours(p) - p.unsqueeze(1), distance = offset.norm(2, -1);
  const at::Tensor exists = (index >= 0).logical_and(distance > smallest_pair_length);
  const at::Tensor square = distance.square() * exists / exists.sum(1, true).clamp_min(1);
  // The slope of a root is infinite at 0.
  const at::Tensor scale = square.sum(1, true).clamp_min(smallest_pair_length * smallest_pair_length).sqrt();
  const at::Tensor u = offset / distance.clamp_min(smallest_pair_length).unsqueeze(2);
  const at::Tensor normal = of_neighbours(n), centre_normal = n.unsqueeze(1), away = of_neighbours(radius).squeeze(2);
  const at::Tensor features = at::stack(
      {distance / scale, product(centre_normal, u), product(normal, u), product(centre_normal, normal),
       corners(u, angle_around(n, u), exists), (away - radius.unsqueeze(1)) / scale, product(outward.unsqueeze(1), u)},
      2);
  // Missing neighbours take the place of the first that exists.
  const at::Tensor first = exists.to(at::kInt).argmax(1, true), column = at::arange(neighbours, first.options());
  const at::Tensor place = at::where(exists, column.unsqueeze(0), first).unsqueeze(2).expand_as(features);
  return (features.gather(1, place) * exists.any(1).view({rows, 1, 1})).to(points.scalar_type());
}

at::Tensor point_pair_features(const at::Tensor& points, const std::optional<at::Tensor>& normals,
                               const at::Tensor& index, const std::optional<at::Tensor>& ptr) {
  static const auto op = find_operator<FeaturesForward>("_point_pair_features");
  return op.call(points, normals, index, ptr);
}

}  // namespace geosft
