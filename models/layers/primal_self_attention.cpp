// SPDX-License-Identifier: Apache-2.0
#include "models/layers/primal_self_attention.h"

#include <algorithm>
#include <numeric>

#include "models/layers/token_convolution.h"
#include "models/ops/primal_attention.h"
#include "models/ops/primal_composition.h"
#include "models/ops/primal_heads.h"

namespace geosft {
namespace {

at::Tensor affine(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias) {
  return at::linear(x, weight, bias.defined() ? std::optional<at::Tensor>(bias) : std::nullopt);
}

// The rows of a map that make the heads of `group`.
at::Tensor rows_of_heads(const at::Tensor& weight, const HeadGroup& group, int64_t heads) {
  if (!weight.defined() || static_cast<int64_t>(group.heads.size()) == heads) return weight;
  std::vector<int64_t> shape = weight.sizes().vec();
  shape[0] = -1;
  return group.take(weight.reshape({1, heads, -1})).reshape(shape);
}

// Of a parameter [h, …] what belongs to the heads of `group`; one for all heads, or none, as it is.
at::Tensor part_of_heads(const at::Tensor& parameter, const HeadGroup& group, int64_t heads) {
  if (!parameter.defined() || parameter.dim() == 0 || parameter.size(0) != heads) return parameter;
  return group.take(parameter.unsqueeze(0)).squeeze(0);
}

SparseMask token_mask(const PrimalOptions& options, const std::vector<int64_t>& offsets,
                      const std::optional<at::Tensor>& ptr, const Relative& relative) {
  switch (options.mask) {
    case MaskKind::window:
      return window_mask(offsets, options.mask_size);
    case MaskKind::strided:
      return strided_mask(offsets, options.mask_size);
    case MaskKind::block:
      return block_mask(offsets, options.mask_size);
    case MaskKind::nearest:
      TORCH_CHECK(relative.coordinates.defined(), "relative must have coordinates for a mask of the nearest");
      return nearest_mask(relative.coordinates, ptr, options.mask_size);
    case MaskKind::neighbours:
      TORCH_CHECK(relative.rowptr.defined(), "relative must have a graph for a mask of neighbours");
      return neighbour_mask(relative.rowptr, relative.col, offsets);
    default:
      return {};
  }
}

at::Tensor convolved(const at::Tensor& x, const PrimalOptions& options, const at::Tensor& weight,
                     const std::vector<int64_t>& offsets) {
  if (options.convolution == ConvolutionKind::none) return x;
  if (options.convolution == ConvolutionKind::sequence) return convolve_sequence(x, weight, offsets);
  for (size_t b = 0; b + 1 < offsets.size(); ++b) {
    TORCH_CHECK(offsets[b + 1] - offsets[b] == options.grid_height * options.grid_width, "ptr must have items of ",
                options.grid_height, " x ", options.grid_width, " tokens for convolution on a grid, item ", b, " has ",
                offsets[b + 1] - offsets[b]);
  }
  return convolve_grid(x, weight, options.grid_height, options.grid_width);
}

// What all groups of heads share.
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
                const std::optional<at::Tensor>& ptr, const Relative& relative) {
  Mixing m{x, heads, weights, options, packed_offsets(ptr, x.size(0), "ptr"), {}, {}};
  m.mask = token_mask(options, m.offsets, ptr, relative);
  m.q = convolved(affine(x, weights.w_q, weights.b_q).view({x.size(0), heads, -1}), options, weights.convolution,
                  m.offsets);
  return m;
}

// What the attention of one group of heads is made of.
struct GroupInputs {
  PooledTokens tokens;
  at::Tensor q, k;
  std::optional<at::Tensor> beta, rowptr, col;
};

at::Tensor projected(const Mixing& m, const HeadGroup& group, const at::Tensor& tokens, const at::Tensor& weight,
                     const at::Tensor& bias) {
  return affine(tokens, rows_of_heads(weight, group, m.heads), rows_of_heads(bias, group, m.heads))
      .view({tokens.size(0), static_cast<int64_t>(group.heads.size()), -1});
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
    in.q = normalized.q;
    in.k = normalized.k;
  }
  if (m.weights.beta.defined()) in.beta = part_of_heads(m.weights.beta, group, m.heads).to(in.q.scalar_type());
  if (m.mask.rowptr.defined()) {
    const SparseMask seen = group.factor == 1 ? m.mask : pooled_mask(m.mask, m.offsets, group.factor);
    in.rowptr = seen.rowptr.to(in.q.device());
    in.col = seen.col.to(in.q.device());
  }
  return in;
}

const char* kernel_name(const PrimalOptions& options) {
  return options.linear ? "linear" : "softmax";
}

// Result [N, heads of the group, cv].
at::Tensor mix_group(const Mixing& m, const HeadGroup& group, const at::Tensor& pooling) {
  const GroupInputs in = group_inputs(m, group, pooling);
  const at::Tensor v = projected(m, group, in.tokens.x, m.weights.w_v, m.weights.b_v);
  const auto pointer = [&](const std::vector<int64_t>& offsets) { return offsets_tensor(offsets).to(in.q.device()); };
  return primal_attention(in.q, in.k, v, in.beta, std::nullopt, kernel_name(m.options), m.options.eps,
                          pointer(m.offsets), pointer(in.tokens.offsets), in.rowptr, in.col);
}

// What some queries of the one item give to all tokens, [count, N, heads of the group].
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
  const at::Tensor weights =
      composed_primal_weights({q, in.k, /*v=*/in.k, in.beta, std::nullopt, kernel_name(m.options), m.options.eps,
                               one_item, one_item, rowptr, col, std::nullopt});
  if (!in.tokens.group.defined()) return weights;
  const at::Tensor sizes = at::bincount(in.tokens.group, {}, weights.size(1)).view({1, -1, 1});
  return (weights / sizes).index_select(1, in.tokens.group);
}

// `part` of every group of heads, joined along a dimension in the order of the heads.
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
  return joined.index_select(dim, at::tensor(order, at::kLong).argsort().to(m.x.device()));
}

struct NamedMask {
  const char* name;
  MaskKind kind;
};
constexpr NamedMask named_masks[] = {{"none", MaskKind::none},       {"window", MaskKind::window},
                                     {"strided", MaskKind::strided}, {"block", MaskKind::block},
                                     {"nearest", MaskKind::nearest}, {"neighbours", MaskKind::neighbours}};

constexpr double paper_beta = 0.5;  // in the middle of those that the paper has found

std::string joined(const std::vector<std::string>& names) {
  return std::accumulate(names.begin(), names.end(), std::string(),
                         [](const std::string& a, const std::string& b) { return a.empty() ? b : a + ", " + b; });
}

}  // namespace

MaskKind mask_kind(const std::string& name) {
  std::vector<std::string> names;
  for (const NamedMask& mask : named_masks) {
    if (name == mask.name) return mask.kind;
    names.emplace_back(mask.name);
  }
  TORCH_CHECK(false, "name of a mask must be one of ", joined(names), ", not ", name);
}

std::vector<int64_t> default_pool(int64_t heads) {
  int64_t levels = 1;
  while (levels < 4 && (int64_t{2} << (levels - 1)) <= heads) ++levels;
  std::vector<int64_t> factors;
  factors.reserve(static_cast<size_t>(heads));
  for (int64_t s = 0; s < heads; ++s) factors.push_back(int64_t{1} << (s * levels / heads));
  return factors;
}

const std::vector<std::string>& primal_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const char* kernel : {"softmax", "linear", "sparse"}) {
      all.emplace_back(kernel);
      const std::string prefix = all.back() == "softmax" ? "" : all.back() + "_";
      for (const char* member : {"bn", "bn_variance", "sh", "bn_sh", "conv1d", "conv2d"})
        all.push_back(prefix + member);
    }
    return all;
  }();
  return names;
}

PrimalOptions primal_options(const std::string& name, int64_t heads) {
  const auto& names = primal_names();
  TORCH_CHECK(std::find(names.begin(), names.end(), name) != names.end(), "name of an attention must be one of ",
              joined(names), ", not ", name);
  const auto has = [&](const std::string& part) {
    return ("_" + name + "_").find("_" + part + "_") != std::string::npos;
  };
  PrimalOptions options;
  options.linear = has("linear");
  if (has("sparse")) options.mask = MaskKind::window;
  options.variance = has("variance");
  if (has("bn") && !options.variance) options.beta = paper_beta;
  if (has("sh")) options.pool = default_pool(heads);
  if (has("conv1d")) options.convolution = ConvolutionKind::sequence;
  if (has("conv2d")) {
    options.convolution = ConvolutionKind::grid;
    options.convolution_size = 2;
  }
  return options;
}

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
                            const Relative& relative) {
  const Mixing m = prepared(x, heads, weights, options, ptr, relative);
  return over_groups(
      m, 1, [&](const HeadGroup& group, const at::Tensor& pooling) { return mix_group(m, group, pooling); });
}

at::Tensor primal_attention_rows(const at::Tensor& x, int64_t heads, const PrimalWeights& weights,
                                 const PrimalOptions& options, const Relative& relative, int64_t first, int64_t count) {
  const Mixing m = prepared(x, heads, weights, options, std::nullopt, relative);
  return over_groups(m, 2, [&](const HeadGroup& group, const at::Tensor& pooling) {
    return group_rows(m, group, pooling, first, count);
  });
}

PrimalSelfAttentionImpl::PrimalSelfAttentionImpl(int64_t width, int64_t head_count,
                                                 const PrimalOptions& attention_options)
    : heads(head_count), options(attention_options) {
  TORCH_CHECK(heads >= 1 && width % heads == 0, "heads must divide width ", width, ", got ", heads);
  check();
  query = register_module("query", torch::nn::Linear(width, width));
  key = register_module("key", torch::nn::Linear(width, width));
  value = register_module("value", torch::nn::Linear(width, width));
  output = register_module("output", torch::nn::Linear(width, width));
  register_extras(width);
}

void PrimalSelfAttentionImpl::check() const {
  TORCH_CHECK(options.pool.empty() || static_cast<int64_t>(options.pool.size()) == heads,
              "pool must have a factor a head, ", heads, ", got ", options.pool.size());
  for (const int64_t factor : options.pool)
    TORCH_CHECK(factor >= 1, "pool must have factors of at least 1, got ", factor);
  const bool pooled = std::any_of(options.pool.begin(), options.pool.end(), [](int64_t factor) { return factor > 1; });
  const bool masked = options.mask != MaskKind::none, grid = options.convolution == ConvolutionKind::grid;
  TORCH_CHECK(!(options.linear && masked), "mask must be none with linear attention: a sum of features has no mask");
  TORCH_CHECK(!(pooled && masked && options.pooling == PoolingKind::k_means),
              "pooling must not be k_means with a mask: clusters have no place in the item");
  TORCH_CHECK(!(pooled && grid), "pool must be 1 with convolution on a grid: pooled tokens are not one");
  TORCH_CHECK(!grid || (options.grid_height >= 1 && options.grid_width >= 1),
              "grid_height and grid_width must be at least 1 for convolution on a grid, got ", options.grid_height,
              " and ", options.grid_width);
  TORCH_CHECK(!(options.variance && (options.beta != 0 || options.learn_beta)),
              "beta must be 0 with variance, which recentres by the whole mean");
  TORCH_CHECK(options.convolution_size >= 1, "convolution_size must be at least 1, got ", options.convolution_size);
}

void PrimalSelfAttentionImpl::register_extras(int64_t width) {
  const int64_t size = options.convolution_size;
  if (options.learn_beta) {
    beta = register_parameter("beta", at::full({heads}, options.beta));
  } else if (options.beta != 0) {
    beta = register_buffer("beta", at::scalar_tensor(options.beta));
  }
  // Convolutions begin near the identity, which is softmax attention, and with the mean of a group.
  if (options.convolution != ConvolutionKind::none) {
    const bool line = options.convolution == ConvolutionKind::sequence;
    at::Tensor kernel = at::randn(line ? at::IntArrayRef({heads, size}) : at::IntArrayRef({heads, size, size})) * 0.1;
    const int64_t middle = (size - 1) / 2;
    (line ? kernel.select(1, middle) : kernel.select(1, middle).select(1, middle)) += 1;
    convolution = register_parameter("convolution", kernel);
  }
  if (options.pooling != PoolingKind::convolution || options.pool.empty()) return;
  for (const HeadGroup& group : head_groups(options.pool, heads)) {
    if (group.factor == 1) continue;
    const at::Tensor mean = at::full({width, group.factor}, 1.0 / static_cast<double>(group.factor));
    pooling.push_back(register_parameter("pooling_" + std::to_string(group.factor), mean));
  }
}

at::Tensor PrimalSelfAttentionImpl::forward(const at::Tensor& x, const std::optional<at::Tensor>& ptr,
                                            const Relative& relative) {
  TORCH_CHECK(x.dim() == 2 && x.size(1) == query->options.in_features(), "x must have shape [N, ",
              query->options.in_features(), "], got ", x.sizes());
  const at::Tensor mixed = mix_primal_heads(x, heads, all_weights(), options, ptr, relative);
  if (distances) {
    distances->sum += head_distance(mixed).sum().item<double>();
    distances->tokens += mixed.size(0);
  }
  return output->forward(mixed.reshape(x.sizes()));
}

PrimalWeights PrimalSelfAttentionImpl::all_weights() const {
  return {query->weight, query->bias, key->weight, key->bias, value->weight, value->bias, beta, convolution, pooling};
}

AttentionTrace PrimalSelfAttentionImpl::trace(const at::Tensor& x, const std::optional<at::Tensor>& ptr,
                                              const Relative& relative) const {
  AttentionTrace found{ptr ? ptr->size(0) - 1 : 1, x.size(0), heads, {}, x.size(0) * heads, {}, {}};
  found.rows = [x, relative, heads = heads, weights = all_weights(), options = options](int64_t first, int64_t count) {
    return primal_attention_rows(x, heads, weights, options, relative, first, count);
  };
  return found;
}

at::Tensor head_distance(const at::Tensor& mixed) {
  TORCH_CHECK(mixed.dim() == 3 && mixed.size(1) >= 2, "mixed must be [N, h, cv] with h >= 2, got shape ",
              mixed.sizes());
  const at::Tensor each = mixed.detach().to(at::kDouble);
  const auto heads = static_cast<double>(mixed.size(1));
  return at::cdist(each, each).sum({1, 2}) / (heads * (heads - 1));
}

void watch_heads(const torch::nn::Module& module) {
  for (const auto& part : module.modules()) {
    auto* const attention = part->as<PrimalSelfAttentionImpl>();
    if (attention != nullptr && attention->heads >= 2) attention->distances.emplace();
  }
}

std::vector<double> mean_head_distances(const torch::nn::Module& module) {
  std::vector<double> means;
  for (const auto& part : module.modules()) {
    const auto* const attention = part->as<PrimalSelfAttentionImpl>();
    if (attention == nullptr || !attention->distances || attention->distances->tokens == 0) continue;
    means.push_back(attention->distances->sum / static_cast<double>(attention->distances->tokens));
  }
  return means;
}

}  // namespace geosft
