// SPDX-License-Identifier: Apache-2.0
// Reads and writes tensor elements that are stored in the type T that kernels compute in or in a half type. Half types
// are widened on read and rounded (to nearest, ties to even) on write, so no tensor is converted before or after a
// kernel. One kernel serves all storage types: the type is the same for all threads.
#pragma once

#include <cstdint>
#include <type_traits>

#include "geometry/cuda/block.h"
#include "models/ops/storage_type.h"

#if !defined(__CUDACC__)
#include <c10/util/BFloat16.h>
#include <c10/util/Half.h>
#endif

namespace geosft::cuda {

struct Float16 {
  uint16_t bits;
};
struct Bfloat16 {
  uint16_t bits;
};

template <typename T>
GEOSFT_DEVICE T widened(T x) {
  return x;
}
#if defined(__CUDACC__)
GEOSFT_DEVICE float widened(Float16 x) {
  float result;
  asm("cvt.f32.f16 %0, %1;" : "=f"(result) : "h"(x.bits));
  return result;
}
GEOSFT_DEVICE float widened(Bfloat16 x) {
  return __uint_as_float(static_cast<uint32_t>(x.bits) << 16);
}
GEOSFT_DEVICE void round_to(Float16& to, float x) {
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(to.bits) : "f"(x));
}
GEOSFT_DEVICE void round_to(Bfloat16& to, float x) {
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(to.bits) : "f"(x));
}
#else
inline float widened(Float16 x) {
  return c10::Half(x.bits, c10::Half::from_bits());
}
inline float widened(Bfloat16 x) {
  return c10::BFloat16(x.bits, c10::BFloat16::from_bits());
}
inline void round_to(Float16& to, float x) {
  to.bits = c10::Half(x).x;
}
inline void round_to(Bfloat16& to, float x) {
  to.bits = c10::BFloat16(x).x;
}
#endif
template <typename T>
GEOSFT_DEVICE void round_to(T& to, T x) {
  to = x;
}

// T is const for read-only access. data is null for an undefined tensor.
template <typename T>
struct Accessor {
  using Number = std::remove_const_t<T>;
  template <typename U>
  using Like = std::conditional_t<std::is_const_v<T>, const U, U>;

  Like<void>* data;
  StorageType storage;

  GEOSFT_DEVICE explicit operator bool() const { return data != nullptr; }

  // Calls f with a pointer of the storage type to the first element. Use it around loops: the type is then dispatched
  // once.
  template <class F>
  GEOSFT_DEVICE void visit(const F& f) const {
    if constexpr (std::is_same_v<Number, float>) {
      if (storage == StorageType::float16) return f(static_cast<Like<Float16>*>(data));
      if (storage == StorageType::bfloat16) return f(static_cast<Like<Bfloat16>*>(data));
    }
    f(static_cast<T*>(data));
  }

  GEOSFT_DEVICE Number read(int64_t at) const {
    Number result = 0;
    visit([&](const auto* numbers) { result = widened(numbers[at]); });
    return result;
  }
  GEOSFT_DEVICE void write(int64_t at, Number value) const {
    visit([&](auto* numbers) { round_to(numbers[at], value); });
  }
};

}  // namespace geosft::cuda
