// SPDX-License-Identifier: Apache-2.0
#include "geometry/augment.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "geometry/cloud_pose.h"
#include "geometry/normalize.h"
#include "tests/geometry/augment_cases.h"

namespace geosft::test::test_augment {
namespace {

// The slow, obvious way of one cloud, each step for itself.
struct Steps {
  at::Tensor points, normals, rows;

  Steps(const at::Tensor& cloud, const at::Tensor& turned, uint64_t seed, const AugmentOptions& options)
      : points(cloud.to(at::kDouble)), normals(turned.to(at::kDouble)), rows(at::arange(cloud.size(0), at::kLong)) {
    const CloudPose pose = cloud_pose(seed, options);
    keep(std::min(cloud.size(0), options.points), [&](int64_t row) { return row_keys(seed, row).subset; });
    points = normalize(points.matmul(matrix(pose.point).t())).points * pose.scale + noise(seed, options);
    normals = normals.matmul(matrix(pose.normal).t());
    if (options.stretch > 0) normals = normals / normals.norm(2, 1, true);
    keep(rows_kept(rows.size(0), options.drop), [&](int64_t row) { return row_keys(seed, row).drop; });
  }

 private:
  static at::Tensor matrix(const double (&values)[3][3]) {
    return at::from_blob(const_cast<double*>(&values[0][0]), {3, 3}, at::kDouble).clone();
  }

  at::Tensor noise(uint64_t seed, const AugmentOptions& options) const {
    std::vector<double> numbers;
    for (int64_t i = 0; i < rows.size(0); ++i) {
      const auto row = static_cast<uint64_t>(rows[i].item<int64_t>());
      const NormalPair a = normal_pair(philox(seed, row, augment_stream::noise));
      const NormalPair b = normal_pair(philox(seed, row, augment_stream::more_noise));
      numbers.insert(numbers.end(), {a.first, a.second, b.first});
    }
    const at::Tensor all = at::tensor(numbers, at::kDouble).view({-1, 3});
    return (all * options.jitter).clamp(-options.jitter_clip, options.jitter_clip);
  }

  template <class Key>
  void keep(int64_t count, Key key) {
    std::vector<std::pair<uint64_t, int64_t>> keyed;
    for (int64_t i = 0; i < rows.size(0); ++i) keyed.emplace_back(key(rows[i].item<int64_t>()), i);
    std::sort(keyed.begin(), keyed.end());
    std::vector<int64_t> places;
    for (int64_t i = 0; i < count; ++i) places.push_back(keyed[static_cast<size_t>(i)].second);
    std::sort(places.begin(), places.end());
    const at::Tensor index = at::tensor(places, at::kLong);
    points = points.index_select(0, index);
    normals = normals.index_select(0, index);
    rows = rows.index_select(0, index);
  }
};

void require_steps(const SeededClouds& clouds, const AugmentOptions& options, double tolerance) {
  const AugmentedClouds found = clouds.changed(options);
  std::vector<at::Tensor> points, normals, rows;
  std::vector<int64_t> offsets{0};
  for (int64_t b = 0; b + 1 < clouds.ptr.size(0); ++b) {
    const int64_t first = clouds.ptr[b].item<int64_t>(), last = clouds.ptr[b + 1].item<int64_t>();
    const Steps steps(clouds.points.slice(0, first, last), clouds.normals.slice(0, first, last),
                      static_cast<uint64_t>(clouds.seeds[b].item<int64_t>()), options);
    points.push_back(steps.points);
    normals.push_back(steps.normals);
    rows.push_back(steps.rows + first);
    offsets.push_back(offsets.back() + steps.rows.size(0));
  }
  require_equal(found.rows, at::cat(rows), "rows");
  require_equal(found.ptr, at::tensor(offsets, at::kLong), "ptr");
  REQUIRE(found.points.scalar_type() == clouds.points.scalar_type());
  require_close(found.points, at::cat(points), tolerance, "points");
  require_close(found.normals, at::cat(normals), tolerance, "normals");
}

void require_same(const AugmentedClouds& found, const AugmentedClouds& expected, const std::string& what) {
  require_equal(found.points, expected.points, what + " points");
  require_equal(found.normals, expected.normals, what + " normals");
  require_equal(found.rows, expected.rows, what + " rows");
  require_equal(found.ptr, expected.ptr, what + " ptr");
}

}  // namespace

TEST_CASE("augmentation is its steps, one after the other, in every cloud of a batch", "[augment]") {
  // Largest difference over 1,000 seeds: 5.9e-8, one rounding, and 2.3e-16.
  for (const auto& [type, tolerance] : {std::pair(at::kFloat, 1e-6), std::pair(at::kDouble, 1e-13)}) {
    const SeededClouds clouds({30, 0, 1, 7, 21, 20, 300}, type);
    require_steps(clouds, every_change(), tolerance);
    for (const Rotation rotation : {Rotation::none, Rotation::z, Rotation::so3}) {
      require_steps(clouds, {.rotation = rotation}, tolerance);
    }
    require_steps(clouds, {.points = 7}, tolerance);
    require_steps(clouds, {.drop = 0.5}, tolerance);
    require_steps(clouds, {.stretch = 0.5}, tolerance);
  }
}

TEST_CASE("without a change clouds are normalised, and nothing else", "[augment]") {
  SeededClouds clouds({30, 5});
  clouds.normals = clouds.normals * 3;  // of any length
  const AugmentedClouds found = clouds.changed({});
  require_equal(found.points, normalize(clouds.points, clouds.ptr).points, "points");
  require_equal(found.normals, clouds.normals, "normals");
  require_equal(found.rows, at::arange(35, at::kLong), "rows");
  require_equal(found.ptr, clouds.ptr, "ptr");
  const AugmentedClouds bare = augment_clouds(clouds.points, {}, clouds.ptr, clouds.seeds, {});
  require_equal(bare.points, found.points, "points alone");
  REQUIRE_FALSE(bare.normals.defined());
  require_equal(
      augment_clouds(at::ones({3, 3}), {}, at::tensor({0, 3}, at::kLong), clouds.seeds.slice(0, 0, 1), {}).points,
      at::zeros({3, 3}), "equal points");
  REQUIRE_FALSE(augment_clouds(clouds.points.clone().requires_grad_(true), {}, clouds.ptr, clouds.seeds, {})
                    .points.requires_grad());
}

TEST_CASE("what becomes of a cloud follows from its seed, whatever else is in the batch", "[augment]") {
  const SeededClouds clouds({30, 5, 40}, at::kFloat);
  const AugmentedClouds whole = clouds.changed(every_change());
  require_same(clouds.changed(every_change()), whole, "again");
  for (int64_t b = 0; b < 3; ++b) {
    SeededClouds alone = clouds;
    const int64_t first = clouds.ptr[b].item<int64_t>(), last = clouds.ptr[b + 1].item<int64_t>();
    alone.points = clouds.points.slice(0, first, last);
    alone.normals = clouds.normals.slice(0, first, last);
    alone.ptr = at::tensor({int64_t{0}, last - first}, at::kLong);
    alone.seeds = clouds.seeds.slice(0, b, b + 1);
    const int64_t begin = whole.ptr[b].item<int64_t>(), end = whole.ptr[b + 1].item<int64_t>();
    require_same(alone.changed(every_change()),
                 {whole.points.slice(0, begin, end), whole.normals.slice(0, begin, end),
                  at::tensor({int64_t{0}, end - begin}, at::kLong), whole.rows.slice(0, begin, end) - first},
                 "alone");
  }
  SeededClouds other = clouds;
  other.seeds = clouds.seeds + at::tensor({0, 1, 0}, at::kLong);
  const AugmentedClouds changed = other.changed(every_change());
  const int64_t begin = whole.ptr[1].item<int64_t>(), end = whole.ptr[2].item<int64_t>();
  require_equal(changed.points.slice(0, 0, begin), whole.points.slice(0, 0, begin), "the cloud before");
  require_equal(changed.points.slice(0, end), whole.points.slice(0, end), "the cloud after");
  REQUIRE_FALSE(at::equal(changed.points.slice(0, begin, end), whole.points.slice(0, begin, end)));
}

TEST_CASE("every row of a cloud is as likely in its subset, and among what is dropped", "[augment]") {
  constexpr int64_t clouds = 4000, rows = 10;
  SeededClouds batch(std::vector<int64_t>(clouds, rows));
  batch.seeds = at::arange(clouds, at::kLong);
  const auto counts = [&](const AugmentOptions& options) {
    const at::Tensor found = batch.changed(options).rows;
    const at::Tensor there = at::zeros({clouds * rows}, at::kDouble).index_fill_(0, found, 1).view({clouds, rows});
    return there.t().matmul(there) / clouds;  // how often each row, and each two of them
  };
  const at::Tensor one = at::eye(rows, at::kDouble), two = 1 - one;
  // 4 of 10: a row in 0.4 of the clouds, two of them in 4 / 10 * 3 / 9; 4 deviations.
  require_close(counts({.points = 4}), 0.4 * one + 4.0 / 30 * two, 0.078, "subset");
  require_close(counts({.drop = 0.6}), 0.4 * one + 4.0 / 30 * two, 0.078, "kept");
  // Dropped from a subset: 2 of 10.
  require_close(counts({.points = 4, .drop = 0.5}), 0.2 * one + 2.0 / 90 * two, 0.13, "kept of a subset");
}

TEST_CASE("noise is normal, clipped, and its own for every point and coordinate", "[augment]") {
  const SeededClouds clouds({20000, 20000});
  const AugmentOptions options{.jitter = 0.02, .jitter_clip = 0.05};
  const at::Tensor noise = clouds.changed(options).points - clouds.changed({}).points;
  // Of 120,000 numbers and, for correlations, 20,000 rows: 5 standard deviations of the mean, 3 or more of the others.
  REQUIRE(std::abs(noise.mean().item<double>()) < 3e-4);
  require_close(noise.std(), at::scalar_tensor(0.98872 * 0.02, at::kDouble), 0.008,
                "standard deviation after clipping");
  // The noise is a difference of numbers below 1, of two roundings of 1.1e-16.
  REQUIRE(std::abs(noise.abs().max().item<double>() - 0.05) < 1e-12);
  const at::Tensor columns = at::cat({noise.slice(0, 0, 20000), noise.slice(0, 20000)}, 1) / noise.std();
  require_close(columns.t().matmul(columns) / 20000, at::eye(6, at::kDouble), 0.03, "correlations");
}

TEST_CASE("bad clouds and options of augmentation are refused by name", "[augment]") {
  const SeededClouds clouds({4, 3});
  const auto fails = [&](SeededClouds changed, const std::vector<std::string>& words) {
    require_error([&] { changed.changed({}); }, words);
  };
  const auto with = [&](at::Tensor SeededClouds::*member, at::Tensor value) {
    SeededClouds changed = clouds;
    changed.*member = std::move(value);
    return changed;
  };
  fails(with(&SeededClouds::points, clouds.points[0]), {"points", "[N, 3]"});
  fails(with(&SeededClouds::points, {}), {"points", "none"});
  fails(with(&SeededClouds::points, clouds.points / 0), {"points must be finite"});
  fails(with(&SeededClouds::normals, clouds.normals.slice(0, 1)), {"normals", "[7, 3]", "[6, 3]"});
  fails(with(&SeededClouds::normals, clouds.normals.to(at::kFloat)), {"points and normals", "dtype"});
  fails(with(&SeededClouds::ptr, at::tensor({0, 4, 9}, at::kLong)), {"ptr", "7", "9"});
  fails(with(&SeededClouds::ptr, {}), {"ptr", "none"});
  fails(with(&SeededClouds::seeds, clouds.seeds.slice(0, 1)), {"seeds", "int64 [2]", "[1]"});
  fails(with(&SeededClouds::seeds, clouds.seeds.to(at::kInt)), {"seeds", "int64 [2]", "Int"});
  fails(with(&SeededClouds::seeds, {}), {"seeds", "none"});
  const auto refused = [&](const AugmentOptions& options, const std::vector<std::string>& words) {
    require_error([&] { clouds.changed(options); }, words);
  };
  refused({.points = 0}, {"points must be at least 1", "0"});
  refused({.stretch = -1}, {"stretch", "-1"});
  refused({.stretch = INFINITY}, {"stretch", "inf"});
  refused({.rotation = static_cast<Rotation>(3)}, {"rotation", "3"});
  refused({.scale_low = 0}, {"scale_low", "0"});
  refused({.scale_low = 2}, {"scale_high", "2", "1"});
  refused({.jitter = -1}, {"jitter", "-1"});
  refused({.jitter_clip = NAN}, {"jitter_clip", "nan"});
  refused({.drop = 1}, {"drop", "1"});
}

TEST_CASE("random subset: distinct rows in order, all equally likely", "[augment]") {
  at::Generator generator = test::generator(4);
  at::Tensor counts = at::zeros({10}, at::kLong);
  for (int i = 0; i < 2000; ++i) {
    const at::Tensor rows = random_subset(10, 4, generator);
    REQUIRE(rows.size(0) == 4);
    REQUIRE((rows.diff() > 0).all().item<bool>());
    counts.index_add_(0, rows, at::ones({4}, at::kLong));
  }
  // A row is in 0.4 of 2,000 subsets, with a deviation of 21.9: 96 are 4.4 of them.
  require_close(counts, at::full({10}, 800), 0.12, "how often each row");
  require_equal(random_subset(6, 6, generator), at::arange(6, at::kLong), "all rows");
  REQUIRE(random_subset(6, 0, generator).size(0) == 0);
  require_equal(random_subset(99, 9, test::generator(5)), random_subset(99, 9, test::generator(5)), "same seed");
  require_error([&] { random_subset(4, 5, generator); }, {"m must", "4", "5"});
  require_error([&] { random_subset(-1, 0, generator); }, {"n must", "-1"});
}

TEST_CASE("drop rows: keeps ceil((1 - p) n)", "[augment]") {
  REQUIRE(rows_kept(10, 0.7) == 3);
  REQUIRE(rows_kept(100, 0.29) == 71);
  REQUIRE(rows_kept(10, 0.25) == 8);
  REQUIRE(rows_kept(1, 0.99) == 1);
  REQUIRE(rows_kept(0, 0.5) == 0);
  at::Generator generator = test::generator(6);
  REQUIRE(drop_rows(100, 0.29, generator).size(0) == 71);
  require_equal(drop_rows(5, 0, generator), at::arange(5, at::kLong), "nothing dropped");
  require_error([&] { drop_rows(4, 1, generator); }, {"p must", "1"});
  require_error([&] { drop_rows(-4, 0.5, generator); }, {"n must", "-4"});
}

}  // namespace geosft::test::test_augment
