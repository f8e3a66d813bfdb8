// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/estimated_normals.h"

#include <catch2/catch.hpp>

#include "data/points/array_dataset.h"
#include "data/points/point_formats.h"
#include "geometry/normals.h"
#include "tests/data/files.h"
#include "tests/support.h"
#include "tests/temporary_path.h"
#include "tests/tools/experiment/captured_stderr.h"

namespace geosft::test::test_estimated_normals {
namespace {

constexpr int64_t clouds = 6;

std::unique_ptr<PointDataset> dataset(bool normals, const std::string& last_name = "cloud 5") {
  CloudArrays arrays;
  arrays.points = at::randn({clouds, 40, 3}, generator(1));
  if (normals) {
    arrays.normals = at::randn({clouds, 40, 3}, generator(2));
    arrays.normals /= arrays.normals.norm(2, 2, true);
  }
  arrays.labels = at::arange(clouds, at::kLong) % 2;
  for (int64_t i = 0; i < clouds; ++i) arrays.names.push_back("cloud " + std::to_string(i));
  arrays.names.back() = last_name;
  return std::make_unique<ArrayDataset>(arrays, std::vector<std::string>{"a", "b"}, "clouds");
}

at::Tensor outward(const Shape& shape) {
  return estimate_normals(shape.points, 16, {}, NormalOrientation::outward);
}

}  // namespace

TEST_CASE("clouds with normals keep them, those without get what their points say") {
  const CapturedStderr quiet;
  const auto own = with_normals(dataset(true), "here", NormalOrientation::outward);
  CHECK(estimation_note(*own).empty());
  require_equal(own->get(1).normals, dataset(true)->get(1).normals, "own normals");
  const auto bare = with_normals(dataset(false), "here", NormalOrientation::outward);
  CHECK(estimation_note(*bare) ==
        "here: its " + std::to_string(bare->size()) +
            " clouds have coordinates alone, so normals are estimated (--normals false: none)");
  CHECK(bare->has_normals());
  require_equal(bare->get(1).normals, outward(bare->get(1)), "estimated normals");
}

TEST_CASE("of a mixed folder the clouds with normals keep them") {
  const CapturedStderr quiet;
  const TemporaryFolder folder;
  const auto write = [&](const char* name, bool normals) {
    std::string text;
    const at::Tensor points = at::randn({40, 3}, generator(4));
    for (int64_t i = 0; i < 40; ++i) {
      for (int64_t j = 0; j < 3; ++j) text += std::to_string(points[i][j].item<float>()) + " ";
      text += normals ? "0 0 1\n" : "\n";
    }
    write_text(folder / name, text);
  };
  for (const char* name : {"train/a/0.xyz", "train/a/1.xyz", "train/b/0.xyz", "test/a/0.xyz", "test/b/0.xyz"}) {
    write(name, std::string(name) != "train/a/1.xyz");
  }
  PointDatasetOptions options;
  options.cache = folder / "cache";
  const auto open = [&] { return open_point_dataset(folder.path().string(), Split::train, options); };
  const auto mixed = with_normals(open(), "here", NormalOrientation::outward);
  CHECK_THAT(estimation_note(*mixed),
             Catch::Contains("here: 1 of 3 clouds have coordinates alone") && Catch::Contains("1.xyz"));
  CHECK_FALSE(estimates_all_normals(*mixed));
  for (int64_t row = 0; row < 3; ++row) {
    const Shape shape = mixed->get(row);
    const at::Tensor expected = open()->get(row).normals;
    require_equal(shape.normals, expected.defined() ? expected : outward(shape),
                  "normals of row " + std::to_string(row));
  }
  const auto all = with_estimated_normals(with_normals(open(), "here", NormalOrientation::outward), "here",
                                          NormalOrientation::outward);
  CHECK(estimates_all_normals(*all));
  for (int64_t row = 0; row < 3; ++row)
    require_equal(all->get(row).normals, outward(all->get(row)), "estimated normals");
}

TEST_CASE("asked for, the normals of all clouds are estimated, once") {
  const CapturedStderr quiet;
  auto all = with_estimated_normals(dataset(true), "here", NormalOrientation::outward);
  CHECK(estimation_note(*all) == "here: normals are estimated, and its own are not used");
  CHECK(all->label(1) == 1);
  CHECK(all->get(1).name == "cloud 1");
  require_equal(all->get(1).normals, outward(all->get(1)), "estimated normals");
  const PointDataset* const before = all.get();
  all = with_estimated_normals(std::move(all), "elsewhere", NormalOrientation::outward);
  CHECK(all.get() == before);
  const PointSubset some(*all, {3, 1});
  CHECK(estimation_note(some) == estimation_note(*all));
  CHECK(estimation_note(PointSubset(*dataset(true), {1})).empty());
}

TEST_CASE("a share of the clouds is drawn that get estimated normals") {
  const CapturedStderr quiet;
  const auto own = dataset(true);
  const auto estimated_ones = [&](double share) {
    const ShapeTransform transform = share_of_estimated_normals(*own, share, NormalOrientation::outward);
    at::Generator numbers = generator(3);
    int64_t count = 0;
    for (int64_t draw = 0; draw < 50 * clouds; ++draw) {
      const Shape before = own->get(draw % clouds), after = transform(before, numbers);
      require_equal(after.points, before.points, "points");
      const bool kept = at::equal(after.normals, before.normals);
      if (!kept) require_equal(after.normals, outward(before), "estimated normals");
      count += kept ? 0 : 1;
    }
    return count;
  };
  CHECK(estimated_ones(1.0) == 50 * clouds);
  // Binomial with mean 75 and deviation 7.5: the numbers are seeded, and six deviations are allowed.
  const int64_t quarter = estimated_ones(0.25);
  CHECK(quarter >= 30);
  CHECK(quarter <= 120);
  CHECK_THROWS_WITH(share_of_estimated_normals(*dataset(true, "cloud 0"), 0.5, NormalOrientation::outward),
                    Catch::Contains("two clouds have the name cloud 0"));
}

}  // namespace geosft::test::test_estimated_normals
