// SPDX-License-Identifier: Apache-2.0
#include "models/ops/point_tokens.h"

#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <utility>

#include "geometry/knn.h"
#include "geometry/no_autocast.h"
#include "geometry/normalize.h"
#include "geometry/operators.h"
#include "geometry/packed.h"
#include "geometry/transform_checks.h"
#include "models/ops/composite_gradient.h"
#include "models/ops/once_differentiable.h"
#include "models/ops/shape_context.h"

namespace geosft {
namespace {

constexpr int64_t neighbourhood_sizes[] = {8, 32};
constexpr int64_t shape_channels = 4;   // per neighbourhood, from coordinates
constexpr int64_t normal_channels = 4;  // and from normals

std::vector<at::Tensor> radial(const at::Tensor& points, const at::Tensor& normals,
                               const std::optional<at::Tensor>& ptr) {
  const at::Tensor offset = centred_points(points, ptr);
  const at::Tensor distance = offset.norm(2, -1);
  std::vector<at::Tensor> channels{at::ones_like(distance), distance};
  if (normals.defined()) channels.push_back((offset * normals).sum(-1) / distance.clamp_min(1e-6));
  return channels;
}

// Mean over the neighbours that exist: values [N, K, ...], exists [N, K] as 0 and 1.
at::Tensor neighbour_mean(const at::Tensor& values, const at::Tensor& exists) {
  at::Tensor weight = exists / exists.sum(1, true);
  while (weight.dim() < values.dim()) weight = weight.unsqueeze(-1);
  return (values * weight).sum(1);
}

void append_mean_and_spread(std::vector<at::Tensor>& channels, const at::Tensor& values, const at::Tensor& exists) {
  const at::Tensor mean = neighbour_mean(values, exists);
  channels.push_back(mean);
  channels.push_back((neighbour_mean(values.square(), exists) - mean.square()).clamp_min(1e-8).sqrt());
}

at::Tensor determinant(const at::Tensor& c) {
  const auto e = [&](int64_t i, int64_t j) { return c.select(1, i).select(1, j); };
  return e(0, 0) * (e(1, 1) * e(2, 2) - e(1, 2) * e(2, 1)) - e(0, 1) * (e(1, 0) * e(2, 2) - e(1, 2) * e(2, 0)) +
         e(0, 2) * (e(1, 0) * e(2, 1) - e(1, 1) * e(2, 0));
}

// Shape descriptors of the neighbourhoods index [N, K] (-1: no neighbour), by LibTorch's operators.
void append_neighbourhood(std::vector<at::Tensor>& channels, const at::Tensor& points, const at::Tensor& normals,
                          const at::Tensor& index) {
  const at::Tensor exists = (index >= 0).to(points.scalar_type());
  const at::Tensor rows = index.clamp_min(0).flatten();
  const auto neighbours = [&](const at::Tensor& x) { return x.index_select(0, rows).view({-1, index.size(1), 3}); };
  const at::Tensor offset = neighbours(points) - points.unsqueeze(1);
  const at::Tensor radius = neighbour_mean(offset.square().sum(-1), exists).clamp_min(1e-12).sqrt();
  const at::Tensor scaled = offset / radius.view({-1, 1, 1});
  channels.push_back(radius);
  channels.push_back(neighbour_mean(scaled, exists).norm(2, -1));
  const at::Tensor weighted = scaled * (exists / exists.sum(1, true)).unsqueeze(-1);
  const at::Tensor covariance = at::bmm(scaled.transpose(1, 2), weighted);
  channels.push_back(covariance.square().sum({1, 2}));
  channels.push_back(27 * determinant(covariance));
  if (!normals.defined()) return;
  append_mean_and_spread(channels, (neighbours(normals) * normals.unsqueeze(1)).sum(-1), exists);
  append_mean_and_spread(channels, (scaled * normals.unsqueeze(1)).sum(-1), exists);
}

// Sums over the nearest neighbours of a point: offsets d, and the products of normals n . m and n . d.
struct NeighbourSums {
  double count = 0, offset[3] = {}, square[6] = {};  // xx, yy, zz, xy, xz, yz
  double normals[2] = {}, heights[2] = {};           // the sum, and the sum of squares

  void add(const double d[3]) {
    ++count;
    for (int axis = 0; axis < 3; ++axis) {
      offset[axis] += d[axis];
      square[axis] += d[axis] * d[axis];
    }
    square[3] += d[0] * d[1];
    square[4] += d[0] * d[2];
    square[5] += d[1] * d[2];
  }
  void add_products(double product, double height) {
    normals[0] += product;
    normals[1] += product * product;
    heights[0] += height;
    heights[1] += height * height;
  }

  // Writes the descriptors in the order of append_neighbourhood.
  template <typename T>
  void write(T* to, bool with_normals) const {
    const double radius = std::sqrt(std::max((square[0] + square[1] + square[2]) / count, 1e-12));
    const auto length = [](double x, double y, double z) { return std::sqrt(x * x + y * y + z * z); };
    double c[6];
    for (int i = 0; i < 6; ++i) c[i] = square[i] / (count * radius * radius);
    to[0] = static_cast<T>(radius);
    to[1] = static_cast<T>(length(offset[0], offset[1], offset[2]) / (count * radius));
    to[2] = static_cast<T>(c[0] * c[0] + c[1] * c[1] + c[2] * c[2] + 2 * (c[3] * c[3] + c[4] * c[4] + c[5] * c[5]));
    to[3] = static_cast<T>(27 * (c[0] * (c[1] * c[2] - c[5] * c[5]) - c[3] * (c[3] * c[2] - c[5] * c[4]) +
                                 c[4] * (c[3] * c[5] - c[1] * c[4])));
    if (!with_normals) return;
    const auto mean_and_spread = [&](const double sums[2], double unit, T* two) {
      const double mean = sums[0] / (count * unit);
      two[0] = static_cast<T>(mean);
      two[1] = static_cast<T>(std::sqrt(std::max(sums[1] / (count * unit * unit) - mean * mean, 1e-8)));
    };
    mean_and_spread(normals, 1, to + 4);
    mean_and_spread(heights, radius, to + 6);
  }
};

// Writes the descriptors of row `row`, at all scales, to `to`; near [widest]: its neighbours, the missing ones last.
template <typename T>
void write_neighbourhoods(const T* points, const T* normals, int64_t row, const int64_t* near, T* to) {
  const int64_t channels = shape_channels + (normals != nullptr ? normal_channels : 0);
  const T *const p = points + 3 * row, *const n = normals + (normals != nullptr ? 3 * row : 0);
  NeighbourSums sums;
  int64_t column = 0;
  for (const int64_t size : neighbourhood_sizes) {
    for (; column < size && near[column] >= 0; ++column) {
      const T* const q = points + 3 * near[column];
      const double d[3] = {static_cast<double>(q[0]) - static_cast<double>(p[0]),
                           static_cast<double>(q[1]) - static_cast<double>(p[1]),
                           static_cast<double>(q[2]) - static_cast<double>(p[2])};
      sums.add(d);
      if (normals == nullptr) continue;
      const T* const m = normals + 3 * near[column];
      double product = 0, height = 0;
      for (int axis = 0; axis < 3; ++axis) {
        product += static_cast<double>(m[axis]) * static_cast<double>(n[axis]);
        height += d[axis] * static_cast<double>(n[axis]);
      }
      sums.add_products(product, height);
    }
    sums.write(to, normals != nullptr);
    to += channels;
  }
}

// Computes the descriptors of all scales on the CPU in one pass over the neighbours index [N, widest], with sums in
// double precision: [N, channels].
at::Tensor neighbourhoods_cpu(const at::Tensor& points_in, const at::Tensor& normals_in, const at::Tensor& index_in) {
  constexpr int64_t rows_per_task = 256;
  const bool with_normals = normals_in.defined();
  const at::Tensor points = points_in.contiguous(), index = index_in.contiguous(),
                   normals = with_normals ? normals_in.to(points.scalar_type()).contiguous() : at::Tensor();
  const int64_t scales = std::size(neighbourhood_sizes), widest = index.size(1),
                channels = scales * (shape_channels + (with_normals ? normal_channels : 0));
  at::Tensor result = at::empty({points.size(0), channels}, points.options());
  AT_DISPATCH_FLOATING_TYPES(points.scalar_type(), "point_tokens", [&] {
    const scalar_t *const p = points.const_data_ptr<scalar_t>(), *const n = with_normals
                                                                                ? normals.const_data_ptr<scalar_t>()
                                                                                : nullptr;
    const int64_t* const near = index.const_data_ptr<int64_t>();
    scalar_t* const to = result.mutable_data_ptr<scalar_t>();
    at::parallel_for(0, points.size(0), rows_per_task, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        write_neighbourhoods(p, n, row, near + widest * row, to + channels * row);
      }
    });
  });
  return result;
}

bool has_cpu_kernel(const at::Tensor& points) {
  return points.device().is_cpu() && (points.scalar_type() == at::kFloat || points.scalar_type() == at::kDouble);
}

// Returns the nearest points of each point, of the largest neighbourhood.
at::Tensor nearest_points(const at::Tensor& points, const std::optional<at::Tensor>& ptr) {
  const at::NoGradGuard guard;
  const int64_t widest = neighbourhood_sizes[std::size(neighbourhood_sizes) - 1];
  const at::Tensor exact = points.to(at::kDouble);  // fewer near-ties between neighbours
  return std::get<0>(knn(exact, exact, widest, ptr, ptr));
}

at::Tensor constant_tokens(PointTokens kind, const at::Tensor& points, const at::Tensor& normals,
                           const std::optional<at::Tensor>& ptr, std::vector<at::Tensor>* neighbourhoods) {
  at::NoGradGuard guard;
  const NoAutocast no_autocast;  // rounded descriptors would differ from those in evaluation
  if (kind == PointTokens::ones) return at::ones({points.size(0), 1}, points.options());
  const at::Tensor basic = at::stack(radial(points, normals, ptr), 1);
  if (kind != PointTokens::local && kind != PointTokens::shape_context) return basic;
  const at::Tensor index = nearest_points(points, ptr);
  if (neighbourhoods != nullptr) {
    for (const int64_t size : neighbourhood_sizes) neighbourhoods->push_back(index.narrow(1, 0, size));
  }
  std::vector<at::Tensor> parts = {basic, has_cpu_kernel(points) ? neighbourhoods_cpu(points, normals, index)
                                                                 : composite_neighbourhoods(points, normals, index)};
  if (kind == PointTokens::shape_context) parts.push_back(shape_context(points, normals, ptr));
  return at::cat(parts, 1);
}

// Names the kinds that operators take.
constexpr std::pair<PointTokens, const char*> invariant_kinds[] = {{PointTokens::ones, "ones"},
                                                                   {PointTokens::radial, "radial"},
                                                                   {PointTokens::local, "local"},
                                                                   {PointTokens::shape_context, "shape_context"}};

const char* name_of_kind(PointTokens kind) {
  return std::ranges::find(invariant_kinds, kind, &std::pair<PointTokens, const char*>::first)->second;
}

PointTokens invariant_kind(c10::string_view name) {
  for (const auto& [kind, known] : invariant_kinds) {
    if (name == known) return kind;
  }
  TORCH_CHECK(false, "kind must be ones, radial, local or shape_context, not ", name);
}

void check_clouds(const at::Tensor& points, const std::optional<at::Tensor>& normals) {
  TORCH_CHECK(points.dim() == 2 && points.sym_size(1) == 3, "points must have shape [N, 3], got ", points.sym_sizes());
  TORCH_CHECK(!normals.has_value() || normals->sym_sizes() == points.sym_sizes(),
              "normals must have the shape of points, ", points.sym_sizes(), ", got ", normals->sym_sizes());
}

using Optional = std::optional<at::Tensor>;
using TokensForward = at::Tensor(const at::Tensor& points, const Optional& normals, const Optional& ptr,
                                 c10::string_view kind);
using TokensBackward = PointGradients(const at::Tensor& grad, const at::Tensor& points, const Optional& normals,
                                      const Optional& ptr, c10::string_view kind);

at::Tensor tokens_forward(const at::Tensor& points, const Optional& normals, const Optional& ptr,
                          c10::string_view kind) {
  check_clouds(points, normals);
  return constant_tokens(invariant_kind(kind), points, normals.value_or(at::Tensor()), ptr, nullptr);
}

PointGradients tokens_backward(const at::Tensor& grad, const at::Tensor& points, const Optional& normals,
                               const Optional& ptr, c10::string_view kind) {
  check_clouds(points, normals);
  return point_gradients(grad, points, normals, [&](const at::Tensor& of_points, const at::Tensor& of_normals) {
    return composite_point_tokens(invariant_kind(kind), of_points, of_normals, ptr);
  });
}

PointGradients tokens_backward_meta(const at::Tensor& /*grad*/, const at::Tensor& points, const Optional& normals,
                                    const Optional&, c10::string_view) {
  return point_gradients_meta(points, normals);
}

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// Gives the tokens that `compute` returns the gradient of composite_point_tokens.
struct DifferentiableTokens : torch::autograd::Function<DifferentiableTokens> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& points, const Optional& normals,
                            const Optional& ptr, const std::string& kind, const std::function<at::Tensor()>& compute) {
    context->save_for_backward({points, normals.value_or(at::Tensor()), ptr.value_or(at::Tensor())});
    context->saved_data["kind"] = kind;
    at::AutoDispatchBelowADInplaceOrView below;
    return compute();
  }

  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    static const auto op = find_operator<TokensBackward>("_point_tokens_backward");
    const variable_list s = context->get_saved_variables();
    variable_list gradients = once_differentiable("point_tokens", {grads[0], s[0], s[1]}, [&] {
      auto [of_points, of_normals] =
          op.call(grads[0], s[0], if_defined(s[1]), if_defined(s[2]), context->saved_data["kind"].toStringRef());
      return variable_list{of_points, s[1].defined() ? of_normals : at::Tensor()};
    });
    gradients.resize(5);
    return gradients;
  }
};

// Returns the tokens that `compute` computes, with their gradient where one is needed.
at::Tensor differentiable_tokens(const at::Tensor& points, const Optional& normals, const Optional& ptr,
                                 c10::string_view kind, const std::function<at::Tensor()>& compute) {
  const at::Tensor of_normals = normals.value_or(at::Tensor());
  if (kind == "ones" || !needs_gradient({points, of_normals})) return compute();
  check_transforms("point_tokens", {points, of_normals});
  return DifferentiableTokens::apply(points, normals, ptr, std::string(kind), compute);
}

at::Tensor tokens_with_gradient(const at::Tensor& points, const Optional& normals, const Optional& ptr,
                                c10::string_view kind) {
  static const auto op = find_operator<TokensForward>("_point_tokens");
  return differentiable_tokens(points, normals, ptr, kind, [&] {
    at::AutoDispatchBelowADInplaceOrView below;
    return op.call(points, normals, ptr, kind);
  });
}

at::Tensor invariant_tokens_meta(const at::Tensor& points, const std::optional<at::Tensor>& normals,
                                 const std::optional<at::Tensor>&, c10::string_view kind) {
  check_clouds(points, normals);
  return points.new_empty_symint({points.sym_size(0), point_token_channels(invariant_kind(kind), normals.has_value())});
}

// The invariant kinds, for the models in Python.
GEOSFT_OPERATORS(m) {
  define_operator<c10::DispatchKey::CompositeExplicitAutograd, c10::DispatchKey::Meta, c10::DispatchKey::Autograd>(
      m, "_point_tokens(Tensor points, Tensor? normals, Tensor? ptr, str kind) -> Tensor", tokens_forward,
      invariant_tokens_meta, tokens_with_gradient);
  define_operator<c10::DispatchKey::CompositeExplicitAutograd, c10::DispatchKey::Meta>(
      m,
      "_point_tokens_backward(Tensor grad, Tensor points, Tensor? normals, Tensor? ptr, str kind) -> (Tensor "
      "points_grad, Tensor normals_grad)",
      tokens_backward, tokens_backward_meta);
}

}  // namespace

at::Tensor composite_point_tokens(PointTokens kind, const at::Tensor& points, const at::Tensor& normals,
                                  const std::optional<at::Tensor>& ptr) {
  if (kind == PointTokens::ones) return at::ones({points.size(0), 1}, points.options());
  std::vector<at::Tensor> parts{at::stack(radial(points, normals, ptr), 1)};
  if (kind != PointTokens::radial) {
    parts.push_back(composite_neighbourhoods(points, normals, nearest_points(points, ptr)));
  }
  if (kind == PointTokens::shape_context) parts.push_back(composite_shape_context(points, normals, ptr));
  return at::cat(parts, 1);
}

at::Tensor composite_neighbourhoods(const at::Tensor& points, const at::Tensor& normals, const at::Tensor& index) {
  std::vector<at::Tensor> channels;
  for (const int64_t size : neighbourhood_sizes) {
    append_neighbourhood(channels, points, normals, index.narrow(1, 0, size));
  }
  return at::stack(channels, 1);
}

int64_t point_token_channels(PointTokens kind, bool normals) {
  switch (kind) {
    case PointTokens::ones:
      return 1;
    case PointTokens::radial:
      return normals ? 3 : 2;
    case PointTokens::local:
    case PointTokens::ppf: {
      const int64_t scales = std::size(neighbourhood_sizes);
      return point_token_channels(PointTokens::radial, normals) +
             scales * (shape_channels + (normals ? normal_channels : 0));
    }
    case PointTokens::shape_context:
      return point_token_channels(PointTokens::local, normals) + shape_context_channels(normals);
    case PointTokens::absolute:
      return normals ? 6 : 3;
    case PointTokens::absolute_local:
      return point_token_channels(PointTokens::absolute, normals) + point_token_channels(PointTokens::local, normals);
  }
  TORCH_CHECK(false, "unknown kind of point tokens");
}

at::Tensor point_tokens(PointTokens kind, const at::Tensor& points, const at::Tensor& normals,
                        const std::optional<at::Tensor>& ptr, std::vector<at::Tensor>* neighbourhoods) {
  TORCH_CHECK(points.dim() == 2 && points.size(1) == 3, "points must have shape [N, 3], got ", points.sizes());
  std::vector<at::Tensor> parts;
  if (kind == PointTokens::absolute || kind == PointTokens::absolute_local) {
    parts.push_back(points);
    if (normals.defined()) parts.push_back(normals);
  }
  if (kind == PointTokens::absolute_local || kind == PointTokens::ppf) kind = PointTokens::local;
  if (kind != PointTokens::absolute) {
    parts.push_back(differentiable_tokens(points, if_defined(normals), ptr, name_of_kind(kind),
                                          [&] { return constant_tokens(kind, points, normals, ptr, neighbourhoods); }));
  }
  return at::cat(parts, 1);
}

}  // namespace geosft
