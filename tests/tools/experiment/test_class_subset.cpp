// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/class_subset.h"

#include <catch2/catch.hpp>
#include <stdexcept>

#include "data/points/array_dataset.h"
#include "tests/support.h"

namespace geosft::test::test_class_subset {
namespace {

std::unique_ptr<PointDataset> clouds() {
  CloudArrays arrays;
  arrays.points = at::randn({3, 5, 3}, generator(1));
  arrays.labels = at::tensor({0, 1, 1}, at::kLong);
  arrays.names = {"0", "1", "2"};
  return std::make_unique<ArrayDataset>(arrays, std::vector<std::string>{"bed", "sofa"}, "clouds");
}

}  // namespace

TEST_CASE("a dataset gets the class numbers of a model with more classes, by name") {
  const ClassSubset subset(clouds(), {"sofa", "lamp", "bed"});
  CHECK(subset.size() == 3);
  CHECK(subset.class_names() == std::vector<std::string>{"sofa", "lamp", "bed"});
  CHECK((subset.label(0) == 2 && subset.label(1) == 0 && subset.label(2) == 0));
  CHECK(subset.get(0).label == 2);
  CHECK(subset.get(2).label == 0);
  require_equal(subset.get(1).points, clouds()->get(1).points, "points");
  CHECK_FALSE(subset.has_normals());
}

TEST_CASE("classes that a model does not know are named") {
  CHECK(unknown_classes({"bed", "sofa"}, {"sofa", "lamp", "bed"}).empty());
  CHECK(unknown_classes({"bed", "cup", "mug"}, {"bed"}) == std::vector<std::string>{"cup", "mug"});
  CHECK_THROWS_AS(ClassSubset(clouds(), {"bed"}), std::invalid_argument);
}

}  // namespace geosft::test::test_class_subset
