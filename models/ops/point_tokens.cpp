// SPDX-License-Identifier: Apache-2.0
#include "models/ops/point_tokens.h"

#include <ATen/core/grad_mode.h>

#include "geometry/knn.h"
#include "geometry/no_autocast.h"
#include "geometry/normalize.h"
#include "geometry/operators.h"

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

// Shape descriptors of the neighbourhoods index [N, K] (-1: no neighbour).
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

at::Tensor invariant_tokens(PointTokens kind, const at::Tensor& points, const at::Tensor& normals,
                            const std::optional<at::Tensor>& ptr, std::vector<at::Tensor>* neighbourhoods) {
  at::NoGradGuard guard;
  const NoAutocast no_autocast;  // rounded descriptors would differ from those in evaluation
  if (kind == PointTokens::ones) return at::ones({points.size(0), 1}, points.options());
  std::vector<at::Tensor> channels = radial(points, normals, ptr);
  if (kind == PointTokens::local) {
    const int64_t widest = neighbourhood_sizes[std::size(neighbourhood_sizes) - 1];
    const at::Tensor exact = points.to(at::kDouble);  // fewer near-ties between neighbours
    const at::Tensor index = std::get<0>(knn(exact, exact, widest, ptr, ptr));
    for (const int64_t size : neighbourhood_sizes) {
      append_neighbourhood(channels, points, normals, index.narrow(1, 0, size));
      if (neighbourhoods) neighbourhoods->push_back(index.narrow(1, 0, size));
    }
  }
  return at::stack(channels, 1);
}

PointTokens invariant_kind(c10::string_view name) {
  if (name == "ones") return PointTokens::ones;
  if (name == "radial") return PointTokens::radial;
  TORCH_CHECK(name == "local", "kind must be ones, radial or local, not ", name);
  return PointTokens::local;
}

void check_clouds(const at::Tensor& points, const std::optional<at::Tensor>& normals) {
  TORCH_CHECK(points.dim() == 2 && points.sym_size(1) == 3, "points must have shape [N, 3], got ", points.sym_sizes());
  TORCH_CHECK(!normals.has_value() || normals->sym_sizes() == points.sym_sizes(),
              "normals must have the shape of points, ", points.sym_sizes(), ", got ", normals->sym_sizes());
}

at::Tensor invariant_tokens_of(const at::Tensor& points, const std::optional<at::Tensor>& normals,
                               const std::optional<at::Tensor>& ptr, c10::string_view kind) {
  check_clouds(points, normals);
  return invariant_tokens(invariant_kind(kind), points, normals.value_or(at::Tensor()), ptr, nullptr);
}

at::Tensor invariant_tokens_meta(const at::Tensor& points, const std::optional<at::Tensor>& normals,
                                 const std::optional<at::Tensor>&, c10::string_view kind) {
  check_clouds(points, normals);
  return points.new_empty_symint({points.sym_size(0), point_token_channels(invariant_kind(kind), normals.has_value())});
}

// The kinds that have no gradient, for the models in Python.
GEOSFT_OPERATORS(m) {
  m.def("_point_tokens(Tensor points, Tensor? normals, Tensor? ptr, str kind) -> Tensor", {at::Tag::pt2_compliant_tag});
}

GEOSFT_KERNELS(CompositeExplicitAutograd, m) {
  m.impl("_point_tokens", invariant_tokens_of);
}

GEOSFT_KERNELS(Meta, m) {
  m.impl("_point_tokens", invariant_tokens_meta);
}

}  // namespace

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
  if (kind != PointTokens::absolute) parts.push_back(invariant_tokens(kind, points, normals, ptr, neighbourhoods));
  return at::cat(parts, 1);
}

}  // namespace geosft
