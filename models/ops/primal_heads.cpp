// SPDX-License-Identifier: Apache-2.0
#include "models/ops/primal_heads.h"

#include <algorithm>

#include "geometry/device_offsets.h"
#include "geometry/packed.h"

namespace geosft {
namespace {

std::vector<int64_t> sizes_of(const std::vector<int64_t>& offsets) {
  std::vector<int64_t> sizes(offsets.size() - 1);
  for (size_t b = 0; b < sizes.size(); ++b) sizes[b] = offsets[b + 1] - offsets[b];
  return sizes;
}

at::Tensor sizes_tensor(const std::vector<int64_t>& offsets, const at::Tensor& x) {
  return copy_to_device(at::tensor(sizes_of(offsets), at::kLong), x.device());
}

// Returns the size of all segments if they are equal, otherwise 0.
int64_t common_size(const std::vector<int64_t>& offsets) {
  const std::vector<int64_t> sizes = sizes_of(offsets);
  const bool equal = std::all_of(sizes.begin(), sizes.end(), [&](int64_t size) { return size == sizes.front(); });
  return equal && !sizes.empty() ? sizes.front() : 0;
}

std::vector<int64_t> with_rows(const at::Tensor& x, std::initializer_list<int64_t> rows) {
  std::vector<int64_t> shape(rows);
  shape.insert(shape.end(), x.sizes().begin() + 1, x.sizes().end());
  return shape;
}

}  // namespace

at::Tensor HeadGroup::take(const at::Tensor& x) const {
  if (range()) return x.narrow(1, heads.front(), static_cast<int64_t>(heads.size()));
  return x.index_select(1, copy_to_device(at::tensor(heads, at::kLong), x.device()));
}

void HeadGroup::put(const at::Tensor& x, const at::Tensor& to) const {
  if (range()) {
    to.narrow(1, heads.front(), static_cast<int64_t>(heads.size())).copy_(x);
  } else {
    at::Tensor(to).index_copy_(1, copy_to_device(at::tensor(heads, at::kLong), x.device()), x.to(to.scalar_type()));
  }
}

std::vector<HeadGroup> head_groups(at::OptionalIntArrayRef pool, int64_t heads) {
  std::vector<HeadGroup> groups;
  for (int64_t head = 0; head < heads; ++head) {
    const int64_t factor = pool.has_value() ? (*pool)[head] : 1;
    auto found = std::find_if(groups.begin(), groups.end(), [&](const HeadGroup& g) { return g.factor == factor; });
    if (found == groups.end()) found = groups.insert(groups.end(), HeadGroup{factor, {}});
    found->heads.push_back(head);
  }
  return groups;
}

at::Tensor segment_sums(const at::Tensor& x, const std::vector<int64_t>& offsets) {
  const auto segments = static_cast<int64_t>(offsets.size()) - 1;
  if (const int64_t size = common_size(offsets); size > 0) return x.reshape(with_rows(x, {segments, size})).sum(1);
  if (x.numel() == 0) return at::zeros(with_rows(x, {segments}), x.options());
  // unsafe=true avoids waiting for a check of the sizes, which are right.
  return at::segment_reduce(x.contiguous(), "sum", sizes_tensor(offsets, x), {}, {}, 0, /*unsafe=*/true);
}

at::Tensor spread_segments(const at::Tensor& x, const std::vector<int64_t>& offsets) {
  if (const int64_t size = common_size(offsets); size > 0) {
    return x.unsqueeze(1).expand(with_rows(x, {x.size(0), size})).reshape(with_rows(x, {offsets.back()}));
  }
  return at::repeat_interleave(x, sizes_tensor(offsets, x), 0, offsets.back());
}

at::Tensor less_segments(const at::Tensor& x, const at::Tensor& y, const std::vector<int64_t>& offsets) {
  if (const int64_t size = common_size(offsets); size > 0) {  // avoids a copy of y for every row
    return (x.reshape(with_rows(x, {y.size(0), size})) - y.unsqueeze(1)).reshape(x.sizes());
  }
  return x - spread_segments(y, offsets);
}

at::Tensor segment_sizes(const std::vector<int64_t>& offsets, const at::Tensor& x) {
  return sizes_tensor(offsets, x).clamp_min(1).to(x.scalar_type()).view({-1, 1, 1});
}

PooledRows::PooledRows(const std::vector<int64_t>& offsets, int64_t factor) : groups{0}, items{0} {
  for (size_t b = 0; b + 1 < offsets.size(); ++b) {
    // `row += factor` could overflow for a large factor.
    for (int64_t row = offsets[b]; row < offsets[b + 1]; row = groups.back()) {
      groups.push_back(row + std::min(factor, offsets[b + 1] - row));
    }
    items.push_back(static_cast<int64_t>(groups.size()) - 1);
  }
}

PrimalHeads::PrimalHeads(const PrimalArguments& a, const OffsetPair& packed, const HeadGroup& group)
    : pooled(packed.second, group.factor),
      offsets{packed.first, pooled.items},
      linear(a.linear()),
      q(group.take(a.q)),
      k(pool(group.take(a.k))),
      v(pool(group.take(a.v))) {
  if (!given(a.beta)) return;
  const at::Tensor all = a.beta->expand({a.q.size(1)});
  beta = group.take(all.unsqueeze(0)).squeeze(0).unsqueeze(1);
  mean = segment_sums(k, offsets.second) / segment_sizes(offsets.second, k);
  const at::Tensor shift = beta * mean;
  q = less_segments(q, shift, offsets.first);
  if (linear) k = less_segments(k, shift, offsets.second);
}

at::Tensor PrimalHeads::pool(const at::Tensor& x) const {
  if (pooled.groups.size() == static_cast<size_t>(x.size(0)) + 1) return x;
  return segment_sums(x, pooled.groups) / segment_sizes(pooled.groups, x);
}

at::Tensor PrimalHeads::unpool(const at::Tensor& grad) const {
  if (grad.size(0) == pooled.groups.back()) return grad;
  return spread_segments(grad / segment_sizes(pooled.groups, grad), pooled.groups);
}

PrimalGradients PrimalHeads::gradients(const at::Tensor& q_grad, const at::Tensor& k_grad,
                                       const at::Tensor& v_grad) const {
  if (!mean.defined()) return {q_grad, unpool(k_grad), unpool(v_grad), {}};
  at::Tensor shift_grad = -segment_sums(q_grad, offsets.first);
  if (linear) shift_grad = shift_grad - segment_sums(k_grad, offsets.second);
  const at::Tensor mean_grad = beta * shift_grad / segment_sizes(offsets.second, shift_grad);
  return {q_grad, unpool(k_grad + spread_segments(mean_grad, offsets.second)), unpool(v_grad),
          (shift_grad * mean).sum(at::IntArrayRef({0, 2}))};
}

PrimalMask::PrimalMask(const PrimalArguments& a, const OffsetPair& packed, const std::vector<HeadGroup>& groups) {
  if (!geosft::given(a.mask_rowptr)) return;
  rowptr = a.mask_rowptr->contiguous();
  col = a.mask_col->contiguous();
  queries = a.q.size(0);
  a_head = rowptr.size(0) != queries + 1;
  check_offsets(rowptr.const_data_ptr<int64_t>(), rowptr.size(0) - 1, col.size(0), "mask_rowptr",
                "the number of entries of mask_col");
  for (const HeadGroup& group : groups) {
    const PooledRows pooled(packed.second, group.factor);
    for (const int64_t head : group.heads) {
      check_columns(head, packed.first, pooled.items);
      if (!a_head) return;
    }
  }
}

void PrimalMask::check_columns(int64_t head, const std::vector<int64_t>& q_items,
                               const std::vector<int64_t>& k_items) const {
  const int64_t *begin = rows(head), *keys = columns();
  for (size_t b = 0; b + 1 < q_items.size(); ++b) {
    for (int64_t i = q_items[b]; i < q_items[b + 1]; ++i) {
      int64_t minimum = k_items[b];
      for (int64_t e = begin[i]; e < begin[i + 1]; ++e) {
        TORCH_CHECK(keys[e] >= minimum && keys[e] < k_items[b + 1],
                    "mask_col must rise in each row and stay in the item: ", "query ", i, " of head ", head, " sees ",
                    keys[e], ", expected ", minimum, " to ", k_items[b + 1] - 1);
        minimum = keys[e] + 1;
      }
    }
  }
}

}  // namespace geosft
