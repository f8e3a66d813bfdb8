// SPDX-License-Identifier: Apache-2.0
// Augments point clouds on a GPU, one block per cloud: selects its subset, computes the centroid and the largest
// distance from it, and writes the remaining rows.
//
// Bound by the two selections, see smallest_keys.h. The passes over the points are short: 1,024 points are 4 per
// thread, with 40 operations in float64 each and, with jitter, 5 logarithms and sines.
#pragma once

#include "geometry/cloud_pose.h"
#include "geometry/cuda/block.h"
#include "geometry/cuda/packed_tiles.h"
#include "geometry/cuda/smallest_keys.h"

namespace geosft::cuda {

// points and normals (null: none) [all.rows, 3]. key [all.rows] and subset [subset.rows] are scratch memory, with rows
// relative to the first row of the cloud. rows, to_points and to_normals [kept.rows, …] are the result.
template <typename T>
struct CloudBatch {
  const T* points;
  const T* normals;
  PackedRows all, subset, kept;
  const int64_t* seeds;
  AugmentOptions options;
  uint64_t* key;
  int64_t* chosen;
  int64_t* rows;
  T* to_points;
  T* to_normals;
};

template <typename T>
class AugmentKernel {
 public:
  static constexpr int kBlockThreads = 256;
  static constexpr int kGroups = 16;  // groups of threads in a reduction
  using Choice = SmallestKeys<kBlockThreads>;
  struct Tiles {
    typename Choice::Tiles choice;
    CloudPose pose;
    Vector3 of_thread[kBlockThreads], of_group[kGroups];
  };
  using Arguments = CloudBatch<T>;

  template <class Block>
  GEOSFT_DEVICE static void run(Block& block, const Arguments& in) {
    const int64_t item = block.x();
    const Cloud cloud{item_rows(in.all, item), item_rows(in.subset, item), item_rows(in.kept, item),
                      static_cast<uint64_t>(in.seeds[item])};
    if (cloud.all.end == cloud.all.begin) return;
    Tiles& tiles = block.template shared<Tiles>();
    block.each([&](int thread) {
      if (thread == 0) tiles.pose = cloud_pose(cloud.seed, in.options);
    });
    choose_subset(block, tiles, in, cloud);
    const Frame frame = unit_frame(block, tiles, in, cloud);
    choose_kept(block, tiles, in, cloud);
    block.each([&](int thread) { write(tiles, in, cloud, frame, thread); });
  }

 private:
  struct Cloud {
    RowRange all, subset, kept;
    uint64_t seed;
  };
  // A point is normalized as ((p - origin) - centre) / radius, where origin is the first point of the cloud; see
  // normalize.cpp.
  struct Frame {
    Vector3 origin, centre;
    double radius;
  };

  GEOSFT_DEVICE static int64_t size(const RowRange& rows) { return rows.end - rows.begin; }

  template <class Block>
  GEOSFT_DEVICE static void choose_subset(Block& block, Tiles& tiles, const Arguments& in, const Cloud& cloud) {
    Choice::run(
        block, tiles.choice, size(cloud.all), size(cloud.subset), in.key + cloud.all.begin,
        [&](int64_t row) { return row_keys(cloud.seed, row).subset; },
        [&](int64_t row, int64_t rank) { in.chosen[cloud.subset.begin + rank] = row; });
  }

  template <class Block>
  GEOSFT_DEVICE static void choose_kept(Block& block, Tiles& tiles, const Arguments& in, const Cloud& cloud) {
    const int64_t* subset = in.chosen + cloud.subset.begin;
    Choice::run(
        block, tiles.choice, size(cloud.subset), size(cloud.kept), in.key + cloud.all.begin,
        [&](int64_t place) { return row_keys(cloud.seed, subset[place]).drop; },
        [&](int64_t place, int64_t rank) { in.rows[cloud.kept.begin + rank] = cloud.all.begin + subset[place]; });
  }

  // Returns row `row` of the cloud after stretch and rotation, relative to an origin.
  GEOSFT_DEVICE static Vector3 moved(const Tiles& tiles, const Arguments& in, const Cloud& cloud, int64_t row,
                                     const Vector3& origin) {
    return difference(mapped(tiles.pose.point, in.points + (cloud.all.begin + row) * 3), origin);
  }
  GEOSFT_DEVICE static Vector3 difference(const Vector3& a, const Vector3& b) {
    return {a.x[0] - b.x[0], a.x[1] - b.x[1], a.x[2] - b.x[2]};
  }

  template <class Block>
  GEOSFT_DEVICE static Frame unit_frame(Block& block, Tiles& tiles, const Arguments& in, const Cloud& cloud) {
    const int64_t count = size(cloud.subset);
    const int64_t* subset = in.chosen + cloud.subset.begin;
    Frame frame{moved(tiles, in, cloud, subset[0], {0, 0, 0}), {0, 0, 0}, 1};
    const Vector3 sum = reduced(
        block, tiles,
        [&](int thread) {
          Vector3 part{0, 0, 0};
          for (int64_t i = thread; i < count; i += kBlockThreads) {
            part = added(part, moved(tiles, in, cloud, subset[i], frame.origin));
          }
          return part;
        },
        [](const Vector3& a, const Vector3& b) { return added(a, b); });
    for (int axis = 0; axis < 3; ++axis) frame.centre.x[axis] = sum.x[axis] / static_cast<double>(count);
    const Vector3 largest = reduced(
        block, tiles,
        [&](int thread) {
          double part = 0;
          for (int64_t i = thread; i < count; i += kBlockThreads) {
            const Vector3 p = difference(moved(tiles, in, cloud, subset[i], frame.origin), frame.centre);
            const double distance = p.x[0] * p.x[0] + p.x[1] * p.x[1] + p.x[2] * p.x[2];
            if (distance > part) part = distance;
          }
          return Vector3{part, 0, 0};
        },
        [](const Vector3& a, const Vector3& b) { return b.x[0] > a.x[0] ? b : a; });
    if (largest.x[0] > 0) frame.radius = std::sqrt(largest.x[0]);
    return frame;
  }

  GEOSFT_DEVICE static Vector3 added(const Vector3& a, const Vector3& b) {
    return {a.x[0] + b.x[0], a.x[1] + b.x[1], a.x[2] + b.x[2]};
  }

  // Reduces value(thread) over all threads with combine, in a fixed order.
  template <class Block, class Value, class Combine>
  GEOSFT_DEVICE static Vector3 reduced(Block& block, Tiles& tiles, const Value& value, const Combine& combine) {
    constexpr int kPart = kBlockThreads / kGroups;
    block.each([&](int thread) { tiles.of_thread[thread] = value(thread); });
    block.each([&](int thread) {
      if (thread >= kGroups) return;
      Vector3 all = tiles.of_thread[thread * kPart];
      for (int i = 1; i < kPart; ++i) all = combine(all, tiles.of_thread[thread * kPart + i]);
      tiles.of_group[thread] = all;
    });
    Vector3 all = tiles.of_group[0];
    for (int i = 1; i < kGroups; ++i) all = combine(all, tiles.of_group[i]);
    return all;
  }

  GEOSFT_DEVICE static void write(const Tiles& tiles, const Arguments& in, const Cloud& cloud, const Frame& frame,
                                  int thread) {
    for (int64_t to = cloud.kept.begin + thread; to < cloud.kept.end; to += kBlockThreads) {
      const int64_t row = in.rows[to] - cloud.all.begin;
      Vector3 unit = difference(moved(tiles, in, cloud, row, frame.origin), frame.centre);
      for (int axis = 0; axis < 3; ++axis) unit.x[axis] /= frame.radius;
      write_point(unit, tiles.pose, cloud.seed, row, in.options, in.to_points + to * 3);
      if (in.normals) write_normal(in.normals + in.rows[to] * 3, tiles.pose, in.options, in.to_normals + to * 3);
    }
  }
};

// Lists the grids of a call, on a GPU or emulated.
template <typename T, class Run>
void run_grids(const CloudBatch<T>& in, Run&& run) {
  run.template grid<AugmentKernel<T>>(in.all.items, 1, in);
}

}  // namespace geosft::cuda
