// SPDX-License-Identifier: Apache-2.0
// Clouds cut into blocks of few points, each of which a model sees alone.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <string>

namespace geosft {

// spread: every block is drawn from all over the cloud, as the points of a training cloud are. near: points that lie
// beside each other, by halving along the longest axis: for scenes that are larger than what a model knows.
enum class BlockKind { spread, near };
BlockKind block_kind_of(const std::string& name);  // "spread" or "near"

struct Blocks {
  at::Tensor rows;  // int64 [N]: every row of the clouds once, block after block, ascending within a block
  at::Tensor ptr;   // int64 [blocks + 1]
  at::Tensor item;  // int64 [blocks]: the cloud that a block is of
};

// points [N, 3] packed by ptr int64 [B + 1]: every cloud in as few blocks of at most `size` points as can be, all but
// equal in size; 0: a block a cloud. Spread blocks follow from the seed and the number of a cloud's points alone.
Blocks make_blocks(const at::Tensor& points, const at::Tensor& ptr, int64_t size, BlockKind kind, uint64_t seed);

}  // namespace geosft
