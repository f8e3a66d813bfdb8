// SPDX-License-Identifier: Apache-2.0
#include "models/ops/seeded_dropout.h"

#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>

#include <algorithm>

#include "geometry/operators.h"
#include "models/ops/dropout_mask.h"
#include "models/ops/opmath.h"

namespace geosft {
namespace {

constexpr int64_t groups_per_task = 8192;

// Processes elements [begin, end) one by one, where `first` is the position of element 0.
template <typename T>
void drop_some(const T* x, T* out, int64_t begin, int64_t end, int64_t first, const DropoutScale& scale,
               uint64_t seed) {
  for (int64_t i = begin; i < end; ++i) {
    const int64_t place = first + i;
    const uint64_t bits = dropout_bits(seed, static_cast<uint64_t>(place / kDropoutLanes));
    out[i] = dropped(bits, place % kDropoutLanes, scale.threshold) ? T(0) : x[i] * static_cast<T>(scale.kept);
  }
}

template <typename T>
void drop(const T* x, T* out, int64_t count, int64_t first, const DropoutScale& scale, uint64_t seed) {
  // One random number decides a group of positions; the first and the last group may lie partly outside.
  const int64_t first_group = (first + kDropoutLanes - 1) / kDropoutLanes;
  const int64_t head = std::min(count, first_group * kDropoutLanes - first), groups = (count - head) / kDropoutLanes;
  const T kept = static_cast<T>(scale.kept);
  drop_some(x, out, 0, head, first, scale, seed);
  at::parallel_for(0, groups, groups_per_task, [&](int64_t begin, int64_t end) {
    for (int64_t group = begin; group < end; ++group) {
      const uint64_t bits = dropout_bits(seed, static_cast<uint64_t>(first_group + group));
      const int64_t at = head + group * kDropoutLanes;
      for (int64_t lane = 0; lane < kDropoutLanes; ++lane) {
        out[at + lane] = dropped(bits, lane, scale.threshold) ? T(0) : x[at + lane] * kept;
      }
    }
  });
  drop_some(x, out, head + groups * kDropoutLanes, count, first, scale, seed);
}

at::Tensor masked_cpu(const at::Tensor& x, double probability, const at::Tensor& seed, int64_t first) {
  check_dropout(x, probability, seed, first);
  const at::Tensor input = opmath_contiguous(x), out = at::empty_like(input);
  const DropoutScale scale = dropout_scale(probability);
  AT_DISPATCH_FLOATING_TYPES(input.scalar_type(), "seeded_dropout", [&] {
    drop(input.const_data_ptr<scalar_t>(), out.data_ptr<scalar_t>(), input.numel(), first, scale,
         static_cast<uint64_t>(*seed.const_data_ptr<int64_t>()));
  });
  return out.to(x.scalar_type());
}

}  // namespace

GEOSFT_KERNELS(CPU, m) {
  m.impl("_seeded_dropout", masked_cpu);
}

}  // namespace geosft
