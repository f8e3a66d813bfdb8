// SPDX-License-Identifier: Apache-2.0
#include "geometry/normals.h"

#include <ATen/Parallel.h>

#include <catch2/catch.hpp>
#include <limits>
#include <utility>

#include "geometry/rotation.h"
#include "tests/support.h"

namespace geosft::test::test_normals {

namespace {

at::Tensor sphere(int64_t rows, at::ScalarType dtype, uint64_t seed) {
  const at::Tensor normal = at::randn({rows, 3}, test::generator(seed), at::TensorOptions().dtype(at::kDouble));
  return (normal / normal.norm(2, 1, true)).to(dtype);
}

// The normals of one item with the signs that the header describes: from `normals`, whose signs do not count, by Prim's
// algorithm that looks at all pairs of rows for each edge.
at::Tensor slow_signs(const at::Tensor& points, const at::Tensor& normals, int64_t neighbours) {
  const int64_t rows = points.size(0);
  const at::Tensor nearest = std::get<1>(at::cdist(points, points).topk(neighbours, 1, /*largest=*/false));
  at::Tensor linked = at::zeros({rows, rows}, at::kBool).scatter(1, nearest, true);
  linked = linked | linked.t();
  const at::Tensor cost = (1 - normals.matmul(normals.t()).abs()).masked_fill(~linked, 9);
  const at::Tensor outward = points - points.mean(0);
  const at::Tensor outermost_first = outward.square().sum(1).argsort(/*dim=*/0, /*descending=*/true);
  at::Tensor found = normals.clone(), done = at::zeros({rows}, at::kBool);
  const auto turn = [&](int64_t row, const at::Tensor& direction) {
    if (found[row].dot(direction).item<double>() < 0) found[row].neg_();
    done[row] = true;
  };
  for (int64_t i = 0; i < rows; ++i) {
    const int64_t start = outermost_first[i].item<int64_t>();
    if (done[start].item<bool>()) continue;
    turn(start, outward[start]);
    while (true) {
      const at::Tensor open = cost.masked_fill(~done.unsqueeze(1) | done.unsqueeze(0), 9);  // [from, to]
      const int64_t edge = open.argmin().item<int64_t>();
      if (open.flatten()[edge].item<double>() > 2) break;
      turn(edge % rows, found[edge / rows]);
    }
  }
  return found;
}

}  // namespace

TEST_CASE("normals: signs go along the minimum spanning tree from the outermost row of each connected part") {
  const auto doubles = at::TensorOptions().dtype(at::kDouble);
  // Noise, whose normals have any angle to each other, in two parts; then a wave: its outermost rows point up from the
  // centroid, the innermost ones, in its middle trough, would point down.
  const at::Tensor noise = at::randn({160, 3}, test::generator(8), doubles);
  const at::Tensor two = at::cat({noise.slice(0, 0, 100), noise.slice(0, 100) + 50});
  const at::Tensor flat = at::rand({600, 2}, test::generator(9), doubles), x = 9.42 * flat.select(1, 0);
  const at::Tensor wave = at::stack({x, x.sin(), 2 * flat.select(1, 1)}, 1);
  for (const at::Tensor& points : {noise, two, wave}) {
    const at::Tensor normals = estimate_normals(points, 8);
    require_equal(slow_signs(points, normals, 8), normals, "signs");
    const at::Tensor any = at::randint(0, 2, {points.size(0), 1}, test::generator(10), doubles) * 2 - 1;
    require_equal(slow_signs(points, normals * any, 8), normals, "signs from any others");
  }
  REQUIRE((estimate_normals(wave, 8).select(1, 1) > 0).all().item<bool>());
}

TEST_CASE("normals: a sphere's point outwards everywhere") {
  const at::ScalarType dtype = GENERATE(at::kFloat, at::kDouble);
  const at::Tensor points = sphere(1500, dtype, 1);
  const at::Tensor normals = estimate_normals(points * 0.01 + 7, 12);
  REQUIRE(normals.scalar_type() == dtype);
  // Three coordinates, each rounded to float32: 1.2e-7 at most over 1,000 seeds. A cap of 12 of 1,500 points is flat to
  // a cosine of 0.95.
  require_close(normals.square().sum(1), at::ones({1500}), 1e-6, "unit length");
  REQUIRE((normals * points).sum(1).min().item<double>() > 0.95);
}

TEST_CASE("normals: the signs agree where the centroid does not tell, on two sheets of one item") {
  // A saddle seen from its own centroid: outward along the tree is not the same as away from the centroid.
  const at::Tensor xy = at::rand({2000, 2}, test::generator(2), at::TensorOptions().dtype(at::kDouble)) * 2 - 1;
  const at::Tensor x = xy.select(1, 0), y = xy.select(1, 1);
  const at::Tensor saddle = at::stack({x, y, x * x - y * y}, 1);
  const at::Tensor upward = at::stack({-2 * x, 2 * y, at::ones_like(x)}, 1);
  const at::Tensor truth = upward / upward.norm(2, 1, true);
  const at::Tensor both = at::cat({saddle, saddle + at::tensor({0., 0., 9.}, at::kDouble)});
  const at::Tensor normals = estimate_normals(both, 10);
  for (const auto& [first, last] : {std::pair{0, 2000}, std::pair{2000, 4000}}) {
    const at::Tensor cosine = (normals.slice(0, first, last) * truth).sum(1);
    REQUIRE(cosine.sign().sum().abs().item<double>() == 2000);
    REQUIRE(cosine.abs().mean().item<double>() > 0.99);
  }
}

TEST_CASE("normals: outward ones point away from the centroid of their item, as both sides of a thin wall do") {
  // A box without a lid: floor and walls of two sheets each, closer than the points of one.
  const at::Tensor uv = at::rand({600, 2}, test::generator(8), at::TensorOptions().dtype(at::kDouble)) * 2 - 1;
  const at::Tensor zero = at::zeros({600}, at::kDouble), one = at::ones({600}, at::kDouble);
  const at::Tensor wall = at::stack({one, uv.select(1, 0), uv.select(1, 1)}, 1);
  const at::Tensor floor = at::stack({uv.select(1, 0), uv.select(1, 1), -one}, 1);
  const at::Tensor sheets = at::cat({wall, floor});
  const at::Tensor box = at::cat({sheets, sheets * 1.0005}), other = sphere(300, at::kDouble, 9) + 40;
  const at::Tensor ptr = at::tensor({int64_t{0}, box.size(0), box.size(0) + 300}, at::kLong);
  const auto outward = [](const at::Tensor& points, const at::Tensor& offsets) {
    return estimate_normals(points, 12, offsets, NormalOrientation::outward);
  };
  const at::Tensor normals = outward(at::cat({box, other}), ptr);
  const at::Tensor consistent = estimate_normals(at::cat({box, other}), 12, ptr);
  require_equal(normals.abs(), consistent.abs(), "all but the signs");
  for (const auto& [points, found] :
       {std::pair{box, normals.slice(0, 0, box.size(0))}, std::pair{other, normals.slice(0, box.size(0))}}) {
    REQUIRE(((points - points.mean(0)) * found).sum(1).min().item<double>() >= 0);
  }
  // The two sheets of a wall agree, but for points with neighbours in wall and floor: 8.8e-5 below 1 at most over 1,000
  // seeds.
  const at::Tensor flat = at::cat({uv.select(1, 1) > -0.7, uv.select(1, 0) < 0.7});
  const at::Tensor cosine = (normals.slice(0, 0, 1200) * normals.slice(0, 1200, 2400)).sum(1).masked_select(flat);
  REQUIRE(cosine.min().item<double>() > 0.999);
  const at::Tensor rotation = random_rotation(test::generator(4), at::kDouble);
  // Coordinates of 40 are rounded by 3.6e-15, which neighbours a tenth apart turn into angles: 4.8e-14 at most over
  // 1,000 seeds.
  require_close(outward(rotate(other, rotation), at::tensor({0, 300}, at::kLong)),
                rotate(normals.slice(0, box.size(0)), rotation), 1e-11, "rotated");
}

TEST_CASE("normals: rotate with the points") {
  const at::Tensor points = sphere(400, at::kDouble, 3) * at::tensor({1., 0.6, 0.3}, at::kDouble);
  const at::Tensor rotation = random_rotation(test::generator(4), at::kDouble);
  // Largest difference over 1,000 seeds: 1.3e-14.
  require_close(estimate_normals(rotate(points, rotation)), rotate(estimate_normals(points), rotation), 1e-11,
                "rotated");
}

TEST_CASE("normals: items do not see each other, threads and strides change nothing") {
  const at::Tensor points = at::cat({sphere(300, at::kFloat, 5), sphere(200, at::kFloat, 6) * 0.5});
  const at::Tensor expected =
      at::cat({estimate_normals(points.slice(0, 0, 300)), estimate_normals(points.slice(0, 300, 500))});
  const int threads = at::get_num_threads();
  for (const int count : {1, 2}) {
    at::set_num_threads(count);
    require_equal(estimate_normals(points.t().contiguous().t(), 16, at::tensor({0, 0, 300, 500}, at::kLong)), expected,
                  "packed");
  }
  at::set_num_threads(threads);
}

TEST_CASE("normals: copies of points count once, in their item, and have one normal") {
  const auto [orientation, dtype] = GENERATE(std::pair{NormalOrientation::consistent, at::kDouble},
                                             std::pair{NormalOrientation::outward, at::kFloat});
  const at::Tensor first = sphere(300, dtype, 10) * at::tensor({1., 0.6, 0.3}, dtype), second = sphere(40, dtype, 11);
  const auto of = [orientation = orientation](const at::Tensor& points, const std::optional<at::Tensor>& ptr = {}) {
    return estimate_normals(points, 16, ptr, orientation);
  };
  const at::Tensor once = of(first);
  // All of them as often as a point has neighbours, some of them, and one of them with the other sign of zero.
  require_equal(of(first.repeat({20, 1})), once.repeat({20, 1}), "all, repeated");
  require_equal(of(first.repeat_interleave(16, 0)), once.repeat_interleave(16, 0), "all, side by side");
  const at::Tensor some = at::randperm(300, test::generator(12), at::kLong).slice(0, 0, 120);
  require_equal(of(at::cat({first, first.index_select(0, some)})), at::cat({once, once.index_select(0, some)}), "some");
  const at::Tensor flat = at::cat({first.slice(1, 0, 2), at::zeros({300, 1}, dtype)}, 1);
  const at::Tensor negative = at::cat({first.slice(1, 0, 2), -at::zeros({300, 1}, dtype)}, 1);
  require_equal(of(at::cat({flat, negative})), of(flat).repeat({2, 1}), "zeros of both signs");
  // Equal points of different items are no copies of each other.
  const at::Tensor both = at::cat({first, second, second, first});
  require_equal(of(both, at::tensor({0, 300, 300, 340, 380, 680}, at::kLong)),
                at::cat({once, of(second), of(second), once}), "items");
  const at::Tensor doubled = at::cat({first, second, second, second, first});
  require_equal(of(doubled, at::tensor({0, 300, 380, 420, 420, 720}, at::kLong)),
                at::cat({once, of(second), of(second), of(second), once}), "copies in one item");
}

TEST_CASE("normals: degenerate clouds give unit vectors") {
  at::Tensor line = at::zeros({20, 3});
  line.select(1, 0).copy_(at::arange(20, at::kFloat));
  // Measured: 0, and one rounding of 6.0e-8.
  require_close(estimate_normals(line, 5).select(1, 0), at::zeros({20}), 1e-6, "perpendicular to a line");
  for (const at::Tensor& points : {at::ones({1, 3}), at::ones({40, 3}), at::eye(3).slice(0, 0, 2), line}) {
    require_close(estimate_normals(points, 5).square().sum(1), at::ones({points.size(0)}), 1e-6, "unit length");
  }
  // Points so close that their squared distances are 0.
  const at::Tensor tiny = at::rand({40, 3}, test::generator(13), at::TensorOptions().dtype(at::kDouble)) * 1e-170;
  const at::Tensor pair = at::tensor({0.0, 0.0, 0.0, 1e-200, 0.0, 0.0}, at::kDouble).view({2, 3});
  for (const at::Tensor& points : {tiny, at::cat({sphere(50, at::kDouble, 14), pair})}) {
    require_close(estimate_normals(points, 5).square().sum(1), at::ones({points.size(0)}, at::kDouble), 1e-12, "tiny");
  }
  REQUIRE(estimate_normals(at::empty({0, 3})).size(0) == 0);
}

TEST_CASE("normals: planes of some rows are those of the estimated normals, with the variances of the neighbours") {
  const at::Tensor points = at::randn({120, 3}, test::generator(13), at::TensorOptions().dtype(at::kDouble));
  const at::Tensor rows = at::tensor({7, 0, 119, 7}, at::kLong);
  const NeighbourPlanes planes = neighbour_planes(points, rows);
  const at::Tensor expected = estimate_normals(points).index_select(0, rows);
  test::require_close((planes.normals * expected).sum(1).abs(), at::ones({4}, at::kDouble), 1e-12, "normals");
  CHECK((planes.variances.diff(1, 1) >= 0).all().item<bool>());
  const at::Tensor nearest = std::get<1>(at::cdist(points, points).topk(16, 1, /*largest=*/false));
  for (int64_t i = 0; i < rows.size(0); ++i) {
    const at::Tensor near = points.index_select(0, nearest[rows[i].item<int64_t>()]), offset = near - near.mean(0);
    const double across = offset.matmul(planes.normals[i]).square().sum().item<double>();
    const double share = planes.variances[i][0].item<double>() / planes.variances[i].sum().item<double>();
    CHECK(share == Approx(across / offset.square().sum().item<double>()).epsilon(1e-9));
  }
  CHECK(neighbour_planes(points, at::empty({0}, at::kLong)).normals.size(0) == 0);
  CHECK(at::equal(neighbour_planes(points.slice(0, 0, 8), rows.slice(0, 0, 2)).normals,
                  neighbour_planes(points.slice(0, 0, 8), rows.slice(0, 0, 2), 8).normals));
  test::require_error([&] { neighbour_planes(points, rows, 2); }, {"neighbours", "got 2"});
  test::require_error([&] { neighbour_planes(points, rows.to(at::kMeta)); }, {"must be on the CPU", "meta"});
  test::require_error([&] { neighbour_planes(points, rows.to(at::kInt)); }, {"rows must be int64"});
  const at::Tensor above = at::full({2}, 120, at::kLong), below = at::full({1}, -1, at::kLong);
  test::require_error([&] { neighbour_planes(points, above); },
                      {"rows must be at least 0 and below the number of points, 120, got 120 to 120"});
  test::require_error([&] { neighbour_planes(points, below); }, {"rows", "got -1 to -1"});
  const at::Tensor none = points.slice(0, 0, 0), no_row = rows.slice(0, 0, 0);
  CHECK(neighbour_planes(none, no_row).variances.size(0) == 0);
  test::require_error([&] { neighbour_planes(none, rows); }, {"rows", "number of points, 0"});
  test::require_error([&] { neighbour_planes(points.slice(1, 0, 2), rows); }, {"points", "[120, 2]"});
}

TEST_CASE("normals: bad arguments are refused by name") {
  const at::Tensor good = sphere(9, at::kFloat, 7);
  require_error([&] { estimate_normals(good[0]); }, {"points", "[3]"});
  require_error([&] { estimate_normals(good, 2); }, {"neighbours", "2"});
  require_error([&] { estimate_normals(good.to(at::kMeta)); }, {"points must be on the CPU, not on meta"});
  require_error([&] { estimate_normals(good, 3, at::tensor({0, 8}, at::kLong)); }, {"ptr", "9"});
  require_error([&] { estimate_normals(good / 0); }, {"points", "finite"});
  require_error([&] { unit_normals(good.slice(1, 0, 2)); }, {"normals", "[..., 3]", "[9, 2]"});
  require_error([&] { unit_normals(at::ones({2, 3}, at::kLong)); }, {"normals", "float32 or float64", "Long"});
}

TEST_CASE("normals of any length get length 1, once and for all, and zeros remain", "[normals]") {
  const at::Tensor rows = at::randn({2, 500, 3}, generator(8), at::kDouble);
  const at::Tensor unit = rows / rows.norm(2, 2, true);
  for (const auto& [type, tolerance] : {std::pair(at::kFloat, 1e-7), std::pair(at::kDouble, 1e-15)}) {
    const at::Tensor found = unit_normals(rows.to(type));
    CHECK(found.scalar_type() == type);
    require_close(found, unit_normals(unit.to(type)), tolerance, "normals");
    require_close(found.to(at::kDouble), unit, tolerance, "in float64");
    require_equal(unit_normals(found), found, "again");
    require_equal(unit_normals(found[1]), found[1], "of one item");
  }
  const float tiny = std::numeric_limits<float>::denorm_min();
  const at::Tensor odd = at::tensor({tiny, 0.0F, 0.0F, 0.0F, 0.0F, 0.0F, 0.0F, 1e38F, 0.0F}).view({3, 3});
  require_equal(unit_normals(odd), at::tensor({1.0F, 0.0F, 0.0F, 0.0F, 0.0F, 0.0F, 0.0F, 1.0F, 0.0F}).view({3, 3}),
                "tiny, zero and huge");
  const at::Tensor far = at::tensor({1e-300, 0.0, 0.0, 3e200, 4e200, 0.0}, at::kDouble).view({2, 3});
  require_close(unit_normals(far), at::tensor({1.0, 0.0, 0.0, 0.6, 0.8, 0.0}, at::kDouble).view({2, 3}), 1e-15, "far");
}

}  // namespace geosft::test::test_normals
