// SPDX-License-Identifier: Apache-2.0
// Finds the nearest neighbours in a small cloud by computing all distances, with the vector instructions of the
// processor.
#pragma once

#include <cstdint>
#include <vector>

namespace geosft {

// The points of one item, coordinate by coordinate, for repeated searches by one thread.
template <typename T>
class SmallCloud {
 public:
  // Returns whether a search for k neighbours among `count` points is faster here than in a tree.
  static bool suits(int64_t count, int64_t k);

  // Takes the points [count, 3], which suits(count, k).
  void assign(const T* points, int64_t count, int64_t k);
  // Writes the k nearest points of a query [3], ordered by squared distance, then row, to rows [k] and dist2 [k].
  // Returns false, and writes nothing, where many points have about the same distance as the last neighbour.
  bool search(const T* query, int64_t* rows, T* dist2);

 private:
  int64_t count_ = 0, padded_ = 0, k_ = 0;
  T bound_ = 0;                       // about the squared distance of the last neighbour of the last query
  std::vector<T> cloud_, workspace_;  // [3, padded]; distances, then candidates
};

}  // namespace geosft
