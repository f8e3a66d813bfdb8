// SPDX-License-Identifier: Apache-2.0
#include "models/layers/primal_mixing.h"

#include <algorithm>

#include "geometry/device_offsets.h"
#include "models/layers/sparse_masks.h"
#include "models/layers/token_convolution.h"
#include "models/ops/primal_attention.h"
#include "models/ops/primal_composition.h"
#include "models/ops/primal_heads.h"

namespace geosft {
namespace {

at::Tensor affine(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias) {
  return at::linear(x, weight, bias.defined() ? std::optional<at::Tensor>(bias) : std::nullopt);
}

// Returns the rows of a linear map for the heads of `group`.
at::Tensor rows_of_heads(const at::Tensor& weight, const HeadGroup& group, int64_t heads) {
  if (!weight.defined() || static_cast<int64_t>(group.heads.size()) == heads) return weight;
  std::vector<int64_t> shape = weight.sizes().vec();
  shape[0] = -1;
  return group.take(weight.reshape({1, heads, -1})).reshape(shape);
}

// Returns the rows of a parameter [h, …] for the heads of `group`; a shared or undefined parameter is returned
// unchanged.
at::Tensor part_of_heads(const at::Tensor& parameter, const HeadGroup& group, int64_t heads) {
  if (!parameter.defined() || parameter.dim() == 0 || parameter.size(0) != heads) return parameter;
  return group.take(parameter.unsqueeze(0)).squeeze(0);
}

SparseMask token_mask(const PrimalOptions& options, const std::vector<int64_t>& offsets,
                      const std::optional<at::Tensor>& ptr, const RelativeEncoding& relative) {
  switch (options.mask) {
    case MaskKind::nearest:
      TORCH_CHECK(relative.coordinates.defined(), "relative must have coordinates for a mask of the nearest");
      return nearest_mask(relative.coordinates, ptr, options.mask_size);
    case MaskKind::neighbours:
      TORCH_CHECK(relative.rowptr.defined(), "relative must have a graph for a mask of neighbours");
      return neighbour_mask(relative.rowptr, relative.col, offsets);
    default:
      return sequence_mask(options.mask, options.mask_size, offsets);
  }
}

at::Tensor convolved(const at::Tensor& x, const PrimalOptions& options, const at::Tensor& weight,
                     const std::vector<int64_t>& offsets) {
  if (options.convolution == ConvolutionKind::none) return x;
  if (options.convolution == ConvolutionKind::sequence) return convolve_sequence(x, weight, offsets);
  const int64_t places = options.grid_height * options.grid_width, before = options.class_token ? 1 : 0;
  for (size_t b = 0; b + 1 < offsets.size(); ++b) {
    TORCH_CHECK(offsets[b + 1] - offsets[b] == places + before, "ptr must have items of ", options.grid_height, " x ",
                options.grid_width, before > 0 ? " + 1" : "", " tokens for convolution on a grid, item ", b, " has ",
                offsets[b + 1] - offsets[b]);
  }
  if (before == 0) return convolve_grid(x, weight, options.grid_height, options.grid_width);
  const at::Tensor items = x.unflatten(0, {-1, places + 1});
  const at::Tensor grids =
      convolve_grid(items.slice(1, 1).flatten(0, 1), weight, options.grid_height, options.grid_width);
  return at::cat({items.slice(1, 0, 1), grids.unflatten(0, {-1, places})}, 1).flatten(0, 1);
}

// State shared by all groups of heads.
struct Mixing {
  const at::Tensor& x;
  int64_t heads;
  const PrimalWeights& weights;
  const PrimalOptions& options;
  std::vector<int64_t> offsets;
  at::Tensor q;
  SparseMask mask;
};

Mixing prepared(const at::Tensor& x, int64_t heads, const PrimalWeights& weights, const PrimalOptions& options,
                const std::optional<at::Tensor>& ptr, const RelativeEncoding& relative) {
  Mixing m{x, heads, weights, options, packed_offsets(ptr, x.size(0), "ptr"), {}, {}};
  m.mask = token_mask(options, m.offsets, ptr, relative);
  m.q =
      convolved(affine(x, weights.w_q, weights.b_q).unflatten(1, {heads, -1}), options, weights.convolution, m.offsets);
  return m;
}

// The inputs of the attention of one group of heads.
struct GroupInputs {
  PooledTokens tokens;
  at::Tensor q, k;
  std::optional<at::Tensor> beta, rowptr, col;
};

at::Tensor projected(const Mixing& m, const HeadGroup& group, const at::Tensor& tokens, const at::Tensor& weight,
                     const at::Tensor& bias) {
  return affine(tokens, rows_of_heads(weight, group, m.heads), rows_of_heads(bias, group, m.heads))
      .unflatten(1, {static_cast<int64_t>(group.heads.size()), -1});
}

// `pooling` as in pool_tokens.
GroupInputs group_inputs(const Mixing& m, const HeadGroup& group, const at::Tensor& pooling) {
  GroupInputs in;
  in.tokens = group.factor == 1 ? PooledTokens{m.x, m.offsets, {}}
                                : pool_tokens(m.x, m.offsets, group.factor, m.options.pooling, pooling);
  in.q = group.take(m.q);
  in.k = convolved(projected(m, group, in.tokens.x, m.weights.w_k, m.weights.b_k), m.options,
                   part_of_heads(m.weights.convolution, group, m.heads), in.tokens.offsets);
  if (m.options.variance) {
    const NormalizedHeads normalized = normalized_by_keys(in.q, in.k, m.options.eps, {m.offsets, in.tokens.offsets});
    // Under autocast products have a half type and, on a GPU, roots and sums are float32: attention needs a single
    // type.
    const at::ScalarType type = in.q.scalar_type();
    in.q = normalized.q.to(type);
    in.k = normalized.k.to(type);
  }
  if (m.weights.beta.defined()) in.beta = part_of_heads(m.weights.beta, group, m.heads).to(in.q.scalar_type());
  if (m.mask.rowptr.defined()) {
    const SparseMask seen = group.factor == 1 ? m.mask : pooled_mask(m.mask, m.offsets, group.factor);
    in.rowptr = copy_to_device(seen.rowptr, in.q.device());
    in.col = copy_to_device(seen.col, in.q.device());
  }
  return in;
}

const char* kernel_name(const PrimalOptions& options) {
  return options.linear ? "linear" : "softmax";
}

// Returns the result [N, heads of the group, cv].
at::Tensor mix_group(const Mixing& m, const HeadGroup& group, const at::Tensor& pooling) {
  const GroupInputs in = group_inputs(m, group, pooling);
  const at::Tensor v = projected(m, group, in.tokens.x, m.weights.w_v, m.weights.b_v);
  // The offsets stay on the CPU, without a synchronising copy.
  return primal_attention(in.q, in.k, v, in.beta, std::nullopt, kernel_name(m.options), m.options.eps,
                          offsets_tensor(m.offsets), offsets_tensor(in.tokens.offsets), in.rowptr, in.col);
}

// Returns the attention of some queries of a single item to all tokens, [count, N, heads of the group].
at::Tensor group_rows(const Mixing& m, const HeadGroup& group, const at::Tensor& pooling, int64_t first,
                      int64_t count) {
  const GroupInputs in = group_inputs(m, group, pooling);
  std::optional<at::Tensor> rowptr, col;
  if (in.rowptr) {
    const at::Tensor begins = in.rowptr->narrow(0, first, count + 1);
    rowptr = begins - begins[0];
    col = in.col->slice(0, begins[0].item<int64_t>(), begins[count].item<int64_t>());
  }
  const at::Tensor q = in.q.narrow(0, first, count);
  const std::optional<at::Tensor> one_item;
  at::Tensor weights = composed_primal_weights({q, in.k, /*v=*/in.k, in.beta, std::nullopt, kernel_name(m.options),
                                                m.options.eps, one_item, one_item, rowptr, col, std::nullopt});
  if (!in.tokens.group.defined()) return weights;
  const at::Tensor sizes = at::bincount(in.tokens.group, {}, weights.size(1)).clamp_min(1).view({1, -1, 1});
  return (weights / sizes).index_select(1, in.tokens.group);
}

// Calls `part` for each group of heads and concatenates the results along a dimension in head order.
template <typename Part>
at::Tensor over_groups(const Mixing& m, int64_t dim, const Part& part) {
  std::vector<at::Tensor> parts;
  std::vector<int64_t> order;
  size_t pooled = 0;
  const std::vector<int64_t> factors = m.options.pool.empty() ? std::vector<int64_t>(m.heads, 1) : m.options.pool;
  for (const HeadGroup& group : head_groups(factors, m.heads)) {
    const bool weighted = group.factor > 1 && m.options.pooling == PoolingKind::convolution;
    parts.push_back(part(group, weighted ? m.weights.pooling.at(pooled++) : at::Tensor()));
    order.insert(order.end(), group.heads.begin(), group.heads.end());
  }
  at::Tensor joined = parts.size() == 1 ? parts[0] : at::cat(parts, dim);
  if (std::is_sorted(order.begin(), order.end())) return joined;
  return joined.index_select(dim, copy_to_device(at::tensor(order, at::kLong).argsort(), m.x.device()));
}

}  // namespace

NormalizedHeads normalized_by_keys(const at::Tensor& q, const at::Tensor& k, double eps, const OffsetPair& offsets) {
  const at::Tensor sizes = segment_sizes(offsets.second, k), mean = segment_sums(k, offsets.second) / sizes;
  const at::Tensor centred = less_segments(k, mean, offsets.second);
  const at::Tensor variance = segment_sums(centred.square(), offsets.second) / sizes,
                   inverse = (variance + eps).rsqrt();
  return {less_segments(q, mean, offsets.first) * spread_segments(inverse, offsets.first),
          centred * spread_segments(inverse, offsets.second)};
}

at::Tensor mix_primal_heads(const at::Tensor& x, int64_t heads, const PrimalWeights& weights,
                            const PrimalOptions& options, const std::optional<at::Tensor>& ptr,
                            const RelativeEncoding& relative) {
  const Mixing m = prepared(x, heads, weights, options, ptr, relative);
  return over_groups(m, 1,
                     [&](const HeadGroup& group, const at::Tensor& pooling) { return mix_group(m, group, pooling); });
}

at::Tensor primal_attention_rows(const at::Tensor& x, int64_t heads, const PrimalWeights& weights,
                                 const PrimalOptions& options, const RelativeEncoding& relative, int64_t first,
                                 int64_t count) {
  const Mixing m = prepared(x, heads, weights, options, std::nullopt, relative);
  return over_groups(m, 2, [&](const HeadGroup& group, const at::Tensor& pooling) {
    return group_rows(m, group, pooling, first, count);
  });
}

}  // namespace geosft
