// SPDX-License-Identifier: Apache-2.0
// Declares the kernels of point_attention, with or without normals. Each set is compiled in its own source, since
// attention kernels take longest to compile.
#pragma once

#include "models/ops/cpu/attention_bias.h"
#include "models/ops/cpu/attention_gradients.h"

namespace geosft {

template <typename T>
struct PointKernels {
  void (*forward)(const AttentionProblem<T>&, const PointInput<T>&, const RowAccessor<T>& out, T* denominator);
  void (*backward)(const AttentionProblem<T>&, const PointInput<T>&, const PointOutput<T>&, const BackwardPlan&,
                   const AttentionGradOutput<T>&, const CoreGradients<T>&);
};

// Kernels for squared distances, for the vector target of this processor.
template <typename T>
PointKernels<T> distance_kernels();

// Kernels for squared distances and products of normals.
template <typename T>
PointKernels<T> distance_and_normal_kernels();

}  // namespace geosft
