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
        Texts{"here: the normals of 3 of 4 clouds point inward on the whole (first: s0)"});
  CHECK(sampled_normal_faults(dataset(arrays), "here") == cloud_form_warnings(dataset(arrays), "here").front());
  arrays.normals.slice(0, 0, 1).neg_();
  CHECK(cloud_form_warnings(dataset(arrays), "here").empty());  // half of them
}

TEST_CASE("normals of clouds that do not fit are told apart from inward ones") {
  CloudArrays arrays = spheres(5, 1, 300);
  const at::Tensor others = arrays.normals.flip(1);  // of another order of the points
  arrays.normals.slice(0, 0, 3).copy_(others.slice(0, 0, 3));
  arrays.normals[3].neg_();
  using Texts = std::vector<std::string>;
  const std::string most = "here: the normals of 3 of 5 clouds do not fit their points (first: s0)";
  CHECK(cloud_form_warnings(dataset(arrays), "here") == Texts{most});
  CHECK(sampled_normal_faults(dataset(arrays), "here") == most);
  arrays.normals[0].copy_(-arrays.points[0]);  // two do not fit, and two point inward
  const std::string some = "here: the normals of 2 of 5 clouds do not fit their points (first: s1)";
  CHECK(sampled_normal_faults(dataset(arrays), "here") == some);
  CHECK(cloud_form_warnings(dataset(arrays), "here") ==
        Texts{some, "here: s1: its normals do not fit its points", "here: s2: its normals do not fit its points"});
  arrays.normals[1].copy_(-arrays.points[1]);
  CHECK(sampled_normal_faults(dataset(arrays), "here") ==
        "here: the normals of 3 of 5 clouds point inward on the whole (first: s0)");
  CHECK(cloud_form_warnings(dataset(arrays), "here").back() == "here: s2: its normals do not fit its points");
  // Normals of faces are not checked for a misfit.
  Shape shape = dataset(arrays).get(2);
  CHECK(normal_fault(shape) == NormalFault::misfit);
  shape.from_mesh = true;
  CHECK(normal_fault(shape) == NormalFault::none);
}

TEST_CASE("normals that do not fit are told of most clouds, or of two and more than a tenth of them") {
  using enum NormalFault;
  CHECK(normal_faults_text("here", {{"a", misfit}, {"b", std::nullopt}}, "files") ==
        "here: the normals of 1 of 1 files do not fit their points (first: a)");  // one without normals does not count
  CHECK(normal_faults_text("here", {{"a", inward}, {"b", misfit}, {"c", inward}, {"d", std::nullopt}}) ==
        "here: the normals of 2 of 3 clouds point inward on the whole (first: a)");
  CHECK(normal_faults_text("here", {{"a", inward}, {"b", misfit}, {"c", inward}, {"d", misfit}, {"e", inward}}) ==
        "here: the normals of 2 of 5 clouds do not fit their points (first: b), and those of 3 point inward on the "
        "whole (first: a)");
  CHECK(normal_faults_text("here", {{"a", none}, {"b", misfit}}).empty());
  CHECK(normal_faults_text("here", {}).empty());
  const auto of_clouds = [](size_t misfits, size_t count) {
    std::vector<CheckedNormals> clouds;
    for (size_t i = 0; i < count; ++i) clouds.push_back({std::to_string(i), i < misfits ? misfit : none});
    return normal_faults_text("here", clouds);
  };
  CHECK(of_clouds(2, 20).empty());
  CHECK(of_clouds(1, 9).empty());
  CHECK(of_clouds(2, 19) == "here: the normals of 2 of 19 clouds do not fit their points (first: 0)");
  CHECK(misfit_texts({{"a", none}, {"b", misfit}}) == std::vector<std::string>{"b: its normals do not fit its points"});
  CHECK(misfit_texts({{"a", std::nullopt}, {"b", misfit}}).empty());  // all with normals
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
