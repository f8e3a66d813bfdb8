// SPDX-License-Identifier: Apache-2.0
// Splits clouds into small blocks, which a model processes separately.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>

#include "tools/experiment/enum_names.h"

namespace geosft {

// spread: the points of a block are sampled from the whole cloud, as for a training cloud. near: neighbouring points,
// by recursive bisection of the longest axis, for scenes larger than the training shapes.
enum class BlockKind { spread, near };
GEOSFT_ENUM_NAMES(BlockKind, spread, near);

struct Blocks {
  at::Tensor rows;  // int64 [N]: every row of the clouds once, grouped by block, ascending within a block
  at::Tensor ptr;   // int64 [blocks + 1]
  at::Tensor item;  // int64 [blocks]: index of the block's cloud
};

// Splits each cloud of points [N, 3], packed by ptr int64 [B + 1], into as few blocks of at most `size` points as
// possible, of nearly equal size; 0: one block. Spread blocks depend only on the seed and the number of points.
Blocks make_blocks(const at::Tensor& points, const at::Tensor& ptr, int64_t size, BlockKind kind, uint64_t seed);

}  // namespace geosft
