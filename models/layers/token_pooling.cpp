// SPDX-License-Identifier: Apache-2.0
#include "models/layers/token_pooling.h"

#include "geometry/deterministic_scatter_sum.h"
#include "geometry/device_offsets.h"
#include "models/ops/primal_heads.h"

namespace geosft {
namespace {

constexpr int k_means_rounds = 5;

at::Tensor segment_mean(const at::Tensor& x, const std::vector<int64_t>& offsets) {
  return segment_sums(x, offsets) / segment_sizes(offsets, x).squeeze(2);
}

// Returns the rows of each group, [groups, factor, d]. The last group of an item is padded with its last row if
// `repeat_last`, otherwise with zeros.
at::Tensor grouped(const at::Tensor& x, const PooledRows& pooled, int64_t factor, bool repeat_last) {
  const auto groups = static_cast<int64_t>(pooled.groups.size()) - 1;
  const at::Tensor first = at::tensor(pooled.groups, at::kLong).slice(0, 0, groups).unsqueeze(1);
  const at::Tensor last = at::tensor(pooled.groups, at::kLong).slice(0, 1).unsqueeze(1) - 1;
  const at::Tensor row = first + at::arange(factor, at::kLong).unsqueeze(0);
  const at::Tensor rows = copy_to_device(at::minimum(row, last), x.device());
  at::Tensor side_by_side = x.index_select(0, rows.flatten()).view({groups, factor, x.size(1)});
  if (repeat_last) return side_by_side;
  return side_by_side * copy_to_device((row <= last).to(x.scalar_type()), x.device()).unsqueeze(-1);
}

// Returns the group of each row, for contiguous groups.
at::Tensor group_of_rows(const std::vector<int64_t>& ends) {
  return at::repeat_interleave(at::diff(at::tensor(ends, at::kLong)));
}

// The clusters of one item: assignment of the rows, sizes, and final centres [count, d].
struct Clusters {
  at::Tensor of_row, sizes, centres;
};

// Returns the means of the clusters, [count, d]; empty clusters keep their centres.
at::Tensor cluster_means(const at::Tensor& x, const Clusters& in) {
  const at::Tensor sizes = in.sizes.unsqueeze(1);
  return at::where(sizes > 0, deterministic_scatter_sum(x, in.of_row, sizes.size(0)) / sizes.clamp_min(1), in.centres);
}

Clusters clusters(const at::Tensor& x, int64_t count) {
  const at::Tensor all = at::arange(count, x.options().dtype(at::kLong)), places = all.to(at::kDouble) + 0.5;
  const auto rows = (places * (static_cast<double>(x.size(0)) / static_cast<double>(count))).floor().to(at::kLong);
  Clusters found{{}, {}, x.index_select(0, rows)};
  for (int round = 0; round < k_means_rounds; ++round) {
    found.of_row = at::cdist(x, found.centres).argmin(1);
    found.sizes = (found.of_row.unsqueeze(1) == all).sum(0);
    found.centres = cluster_means(x, found);
  }
  return found;
}

// Pools by k-means. The number of clusters is known on the host: no synchronisation.
PooledTokens pool_clusters(const at::Tensor& x, const std::vector<int64_t>& offsets, int64_t factor) {
  std::vector<at::Tensor> means{x.narrow(0, 0, 0)}, groups{at::empty({0}, x.options().dtype(at::kLong))};
  PooledTokens pooled{{}, {0}, {}};
  for (size_t b = 0; b + 1 < offsets.size(); ++b) {
    const int64_t rows = offsets[b + 1] - offsets[b], count = rows == 0 ? 0 : (rows - 1) / factor + 1;
    if (rows > 0) {
      const at::Tensor item = x.narrow(0, offsets[b], rows);
      const Clusters in = clusters(item.detach(), count);
      means.push_back(cluster_means(item, in));
      groups.push_back(in.of_row + pooled.offsets.back());
    }
    pooled.offsets.push_back(pooled.offsets.back() + count);
  }
  pooled.x = at::cat(means);
  pooled.group = at::cat(groups);
  return pooled;
}

}  // namespace

PooledTokens pool_tokens(const at::Tensor& x, const std::vector<int64_t>& offsets, int64_t factor, PoolingKind kind,
                         const at::Tensor& weight) {
  TORCH_CHECK(x.dim() == 2 && x.size(0) == offsets.back(), "x must be [N, d] with N = ", offsets.back(), ", got shape ",
              x.sizes());
  TORCH_CHECK(factor >= 1, "factor must be at least 1, not ", factor);
  if (kind == PoolingKind::k_means) return pool_clusters(x, offsets, factor);
  const PooledRows pooled(offsets, factor);
  const at::Tensor group = copy_to_device(group_of_rows(pooled.groups), x.device());
  if (kind == PoolingKind::average) return {segment_mean(x, pooled.groups), pooled.items, group};
  if (kind == PoolingKind::max) return {grouped(x, pooled, factor, true).amax(1), pooled.items, group};
  TORCH_CHECK(weight.defined() && weight.dim() == 2 && weight.size(0) == x.size(1) && weight.size(1) == factor,
              "weight must be [d, factor] = [", x.size(1), ", ", factor, "] for a convolution");
  return {at::einsum("gfd,df->gd", {grouped(x, pooled, factor, false), weight}), pooled.items, group};
}

}  // namespace geosft
