// SPDX-License-Identifier: Apache-2.0
#include "models/layers/primal_head_distance.h"

#include <ATen/core/grad_mode.h>

#include <algorithm>

#include "models/layers/primal_self_attention.h"

namespace geosft {
namespace {

constexpr int64_t max_chunk_elements = 1 << 22;  // elements of the attention of a chunk of queries

// Returns the relative encoding of the tokens begin … end - 1, as far as masks use it.
RelativeEncoding of_item(const RelativeEncoding& all, int64_t begin, int64_t end) {
  RelativeEncoding item;
  if (all.coordinates.defined()) item.coordinates = all.coordinates.slice(0, begin, end);
  if (!all.rowptr.defined()) return item;
  const int64_t first = all.rowptr[begin].item<int64_t>(), last = all.rowptr[end].item<int64_t>();
  item.rowptr = all.rowptr.slice(0, begin, end + 1) - first;
  item.col = all.col.slice(0, first, last) - begin;
  return item;
}

at::Tensor mean_of_pairs(const at::Tensor& distances, int64_t heads) {
  return distances.sum({-2, -1}) / static_cast<double>(heads * (heads - 1));
}

}  // namespace

HeadDistances head_distances(const at::Tensor& x, int64_t heads, const PrimalWeights& weights,
                             const PrimalOptions& options, const std::optional<at::Tensor>& ptr,
                             const RelativeEncoding& relative) {
  TORCH_CHECK(heads >= 2, "heads must be at least 2, got ", heads);
  const at::NoGradGuard guard;
  const std::vector<int64_t> offsets = packed_offsets(ptr, x.size(0), "ptr");
  const auto wide = x.options().dtype(at::kDouble);
  std::vector<at::Tensor> tokens{at::empty({0}, wide)}, items;
  for (size_t b = 0; b + 1 < offsets.size(); ++b) {
    const int64_t begin = offsets[b], size = offsets[b + 1] - begin;
    const RelativeEncoding seen = of_item(relative, begin, begin + size);
    at::Tensor squares = at::zeros({heads, heads}, wide);
    const int64_t chunk = std::max<int64_t>(1, max_chunk_elements / std::max<int64_t>(1, size * heads));
    for (int64_t first = 0; first < size; first += chunk) {
      const at::Tensor rows = primal_attention_rows(x.slice(0, begin, begin + size), heads, weights, options, seen,
                                                    first, std::min(chunk, size - first))
                                  .to(at::kDouble)
                                  .transpose(1, 2)
                                  .contiguous();
      const at::Tensor apart = at::cdist(rows, rows, 2.0, /*compute_mode=*/2);
      tokens.push_back(mean_of_pairs(apart, heads));
      squares += apart.square().sum(0);
    }
    items.push_back(mean_of_pairs(squares.sqrt(), heads));
  }
  return {at::cat(tokens), items.empty() ? at::empty({0}, wide) : at::stack(items)};
}

void HeadDistanceSums::add(const HeadDistances& found) {
  tokens += found.tokens.sum().item<double>();
  items += found.items.sum().item<double>();
  token_count += found.tokens.size(0);
  item_count += found.items.size(0);
}

int64_t watch_heads(const torch::nn::Module& module) {
  int64_t watched = 0;
  for (const auto& part : module.modules()) {
    auto* const attention = part->as<PrimalSelfAttentionImpl>();
    if (attention == nullptr || attention->heads < 2) continue;
    attention->distances.emplace();
    ++watched;
  }
  return watched;
}

std::vector<MeanHeadDistance> mean_head_distances(const torch::nn::Module& module) {
  std::vector<MeanHeadDistance> means;
  for (const auto& part : module.modules()) {
    const auto* const attention = part->as<PrimalSelfAttentionImpl>();
    if (attention == nullptr || !attention->distances || attention->distances->token_count == 0) continue;
    const HeadDistanceSums& sums = *attention->distances;
    means.push_back(
        {sums.tokens / static_cast<double>(sums.token_count), sums.items / static_cast<double>(sums.item_count)});
  }
  return means;
}

}  // namespace geosft
