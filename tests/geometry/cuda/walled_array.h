// SPDX-License-Identifier: Apache-2.0
// An array of a call with walls before and after it: what a kernel reads from them is known, and what it writes shows.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace geosft::test {

template <typename T>
class WalledArray {
 public:
  static constexpr int64_t kWall = 1 << 14;

  // Takes the place of `array` [size].
  WalledArray(T*& array, int64_t size, std::type_identity_t<T> wall) : original_(array), size_(size), wall_(wall) {
    memory_.assign(static_cast<size_t>(size + 2 * kWall), wall);
    std::copy_n(array, size, memory_.begin() + kWall);
    array = memory_.data() + kWall;
  }

  // Gives back what is inside. False where something was written into the walls.
  bool close() const {
    if constexpr (!std::is_const_v<T>) std::copy_n(memory_.begin() + kWall, size_, original_);
    const auto is_wall = [&](const Number& number) { return number == wall_; };
    return std::all_of(memory_.begin(), memory_.begin() + kWall, is_wall) &&
           std::all_of(memory_.end() - kWall, memory_.end(), is_wall);
  }

 private:
  using Number = std::remove_const_t<T>;
  T* original_;
  int64_t size_;
  Number wall_;
  std::vector<Number> memory_;
};

}  // namespace geosft::test
