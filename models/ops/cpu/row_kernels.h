// SPDX-License-Identifier: Apache-2.0
// Parallel loops and registration of kernels that take rows: sums over edges, and pooling.
#pragma once

#include <ATen/Parallel.h>

#include <algorithm>
#include <cstdint>

namespace geosft {

// Calls run(begin, end) for ranges of `rows`, in parallel: each range has at least 32,768 elements if `elements` are
// spread evenly over all rows, which take longer than starting a thread.
template <class Run>
void parallel_over_rows(int64_t rows, int64_t elements, const Run& run) {
  constexpr int64_t kGrain = 32768;
  const int64_t each = std::max<int64_t>(1, elements / std::max<int64_t>(rows, 1));
  at::parallel_for(0, rows, std::max<int64_t>(1, kGrain / each), run);
}

// The same for rows with so many edges in total, all of `width` elements.
template <class Run>
void parallel_over_edges(int64_t rows, int64_t edges, int64_t width, const Run& run) {
  parallel_over_rows(rows, (rows + edges) * width, run);
}

}  // namespace geosft

// In the namespace of a target (edge_pass-inl.h): the functions name_float and name_double, which run Pass over rows
// [begin, end) of Arrays<T>, whose edges are given by its member `ptr`.
#define GEOSFT_EDGE_KERNEL(name, Pass, Arrays, ptr)                  \
  template <typename T>                                              \
  void name##_any(const Arrays<T>& in, int64_t begin, int64_t end) { \
    edge_pass<T, Pass>(in, in.ptr, begin, end);                      \
  }                                                                  \
  GEOSFT_SIMD_KERNEL(name)

// Registers `forward` and `backward` as the CPU kernels _NAME_forward and _NAME_backward of an operator
// (geometry/operators.h).
#define GEOSFT_ROW_KERNELS(name)             \
  GEOSFT_KERNELS(CPU, m) {                   \
    m.impl("_" #name "_forward", forward);   \
    m.impl("_" #name "_backward", backward); \
  }
