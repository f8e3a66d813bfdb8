// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/cloud_checks.h"

#include <catch2/catch.hpp>

#include "data/points/array_dataset.h"
#include "tests/support.h"

namespace geosft::test::test_cloud_checks {
namespace {

// Clouds of points on a unit sphere, whose normals point outward.
CloudArrays spheres(int64_t count, uint64_t seed, int64_t points = 100) {
  CloudArrays arrays;
  const at::Tensor raw = at::randn({count, points, 3}, generator(seed), at::kDouble);
  arrays.points = (raw / raw.norm(2, {2}, true)).to(at::kFloat);
  arrays.normals = arrays.points.clone();
  arrays.labels = at::zeros({count}, at::kLong);
  for (int64_t i = 0; i < count; ++i) arrays.names.push_back("s" + std::to_string(i));
  return arrays;
}

ArrayDataset dataset(const CloudArrays& arrays) {
  return ArrayDataset(arrays, {"sphere"}, "here");
}

}  // namespace

TEST_CASE("clouds that mislead a model are told with the first of them, and inward normals of most") {
  CloudArrays arrays = spheres(4, 1);
  CHECK(cloud_form_warnings(dataset(arrays), "here").empty());
  arrays.points[1].fill_(1.0);
  arrays.points[3].fill_(2.0);
  using Texts = std::vector<std::string>;
  CHECK(cloud_form_warnings(dataset(arrays), "here") ==
        Texts{"here: s1: all of its 100 points are equal; 1 more of its 4 clouds may mislead a model of shapes"});
  arrays = spheres(4, 1);
  arrays.normals.slice(0, 0, 3).neg_();
  CHECK(cloud_form_warnings(dataset(arrays), "here") ==
        Texts{"here: the normals of 3 of 4 clouds point inward on the whole"});
  CHECK(sampled_normal_faults(dataset(arrays), "here") == cloud_form_warnings(dataset(arrays), "here").front());
  arrays.normals.slice(0, 0, 1).neg_();
  CHECK(cloud_form_warnings(dataset(arrays), "here").empty());  // half of them
}

TEST_CASE("normals of most clouds that do not fit are told apart from inward ones") {
  CloudArrays arrays = spheres(5, 1, 300);
  const at::Tensor others = arrays.normals.flip(1);  // of another order of the points
  arrays.normals.slice(0, 0, 3).copy_(others.slice(0, 0, 3));
  arrays.normals[3].neg_();
  using Texts = std::vector<std::string>;
  CHECK(cloud_form_warnings(dataset(arrays), "here") ==
        Texts{"here: the normals of 3 of 5 clouds do not fit their points"});
  CHECK(sampled_normal_faults(dataset(arrays), "here") == "here: the normals of 3 of 5 clouds do not fit their points");
  arrays.normals[0].copy_(-arrays.points[0]);
  CHECK(sampled_normal_faults(dataset(arrays), "here").empty());  // two do not fit, and two point inward
  // Normals of faces are not checked for a misfit.
  Shape shape = dataset(arrays).get(1);
  CHECK(normal_fault(shape) == NormalFault::misfit);
  shape.from_mesh = true;
  CHECK(normal_fault(shape) == NormalFault::none);
  // Clouds without normals do not count.
  using enum NormalFault;
  CHECK(normal_faults_text("here", {misfit, std::nullopt, std::nullopt}, "files") ==
        "here: the normals of 1 of 1 files do not fit their points");
  CHECK(normal_faults_text("here", {inward, misfit, inward, std::nullopt}) ==
        "here: the normals of 2 of 3 clouds point inward on the whole");
  CHECK(normal_faults_text("here", {none, misfit, std::nullopt}).empty());
  CHECK(normal_faults_text("here", {}).empty());
}

TEST_CASE("clouds that are in both splits are counted by their coordinates, in memory") {
  const CloudArrays training = spheres(4, 1);
  CloudArrays testing = spheres(3, 2);
  const ArrayDataset known = dataset(training);
  CHECK(copies_warning({&known}, dataset(testing), "here").empty());
  testing.points[2] = training.points[0];
  CHECK(copied_clouds({&known}, dataset(testing)) == 1);
  CHECK(copies_warning({&known, &known}, dataset(testing), "here") ==
        "here: 1 of the 3 clouds to test with have the coordinates of one to train with");
  CHECK(copied_clouds({}, dataset(testing)) == 0);
  const PointSubset some(known, {1, 2});
  CHECK(copied_clouds({&some}, known) == 2);
}

}  // namespace geosft::test::test_cloud_checks
