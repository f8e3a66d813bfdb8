// SPDX-License-Identifier: Apache-2.0
// Declares the attention kernels of the CPU, which all attention operators share, and the attention bias that an
// operator gives them.
#pragma once

#include <functional>
#include <memory>

#include "models/ops/cpu/attention_gradients.h"

namespace geosft {

// The attention bias of one head for a tile of keys x queries, [keys][kQueryBlock].
template <typename T>
struct BiasTile {
  const T* mul = nullptr;
  const T* add = nullptr;
};

// Computes the attention bias tile by tile, and in the backward pass its gradients. Each thread has one. Lanes of a
// tile are queries, as many as the vector target pads them to (padded_rows).
template <typename T>
class AttentionBias {
 public:
  virtual ~AttentionBias() = default;
  virtual void begin_unit(const AttentionUnit& unit) = 0;           // gradients begin at zero
  virtual void begin_block(int64_t first_query, int64_t rows) = 0;  // rows <= kQueryBlock
  virtual void begin_tile(int64_t first_key, int64_t keys) = 0;     // keys <= kKeyTile
  virtual BiasTile<T> fill(int64_t head) = 0;

  // The rest is called in the backward pass alone. add_grad is the gradient of add; that of mul is add_grad * raw. Both
  // tiles may be overwritten.
  virtual void backward(int64_t head, T* add_grad, T* raw) = 0;
  virtual void end_tile() {}
  virtual void end_block() {}
  virtual void end_unit() {}
};

// Returns the bias of one thread, or null if there is none. `backward` says that gradients will be computed, too.
template <typename T>
using MakeBias = std::function<std::unique_ptr<AttentionBias<T>>(bool backward)>;

// Computes out [Nq, heads, cv] and the denominator [Nq, heads].
template <typename T>
void attention_forward(const AttentionProblem<T>& problem, const MakeBias<T>& make_bias, const RowAccessor<T>& out,
                       T* denominator);

// Computes the gradients of the core; the bias adds its own.
template <typename T>
void attention_backward(const AttentionProblem<T>& problem, const MakeBias<T>& make_bias, const BackwardPlan& plan,
                        const AttentionGradOutput<T>& grad_output, const CoreGradients<T>& to);

}  // namespace geosft
