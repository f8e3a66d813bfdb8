// SPDX-License-Identifier: Apache-2.0
#include "geometry/cloud_warnings.h"

#include <cmath>
#include <numbers>
#include <sstream>
#include <utility>

#include "geometry/normals.h"
#include "geometry/operators.h"
#include "geometry/points.h"

namespace geosft {
namespace {

// For the models in Python.
GEOSFT_OPERATORS(m) {
  m.def("_point_warnings(Tensor points) -> str[]");
  m.def("_normal_warnings(Tensor points, Tensor normals, bool check_misfit=True) -> str[]");
}

GEOSFT_KERNELS(CPU, m) {
  m.impl("_point_warnings", point_warnings);
  m.impl("_normal_warnings", normal_warnings);
}

// Checks an argument and returns it in double precision.
at::Tensor checked(const at::Tensor& rows, const char* name) {
  check_points(rows, name);
  TORCH_CHECK(rows.is_cpu(), name, " must be on the CPU");
  return rows.detach().to(at::kDouble).contiguous();
}

std::string percent(double share) {
  return std::to_string(std::lround(100 * share)) + " %";
}

constexpr double form_tolerance = 1e-5;  // of the largest distance; float32 rounds more finely near the origin

// Returns the offsets from the first point, relative to the largest component: their squares are in range.
at::Tensor relative_offsets(const at::Tensor& points) {
  const at::Tensor offset = points - points[0], largest = offset.abs().max();
  return offset / at::where(largest > 0, largest, at::ones({}, at::kDouble));
}

// Returns "are equal" or "lie on one line" if the points do.
std::string degenerate_form(const at::Tensor& points) {
  const at::Tensor offset = relative_offsets(points), distance = offset.square().sum(1);
  const at::Tensor farthest = offset[distance.argmax().item<int64_t>()];
  const double extent = distance.max().item<double>();
  if (extent == 0) return "are equal";
  const at::Tensor beside = at::linalg_cross(offset, farthest.expand_as(offset)).norm(2, 1);
  return beside.max().item<double>() <= form_tolerance * extent ? "lie on one line" : "";
}

// Returns whether at least four points, not all on one line, lie in one plane.
bool is_flat(const at::Tensor& points) {
  if (points.size(0) < 4) return false;
  const at::Tensor offset = relative_offsets(points), distance = offset.norm(2, 1);
  const at::Tensor farthest = offset[distance.argmax().item<int64_t>()];
  const at::Tensor normals = at::linalg_cross(farthest.expand_as(offset), offset), widths = normals.norm(2, 1);
  const int64_t widest = widths.argmax().item<int64_t>();
  const at::Tensor normal = normals[widest] / widths[widest];
  const double height = (offset * normal).sum(1).abs().max().item<double>();
  return height <= form_tolerance * distance.max().item<double>();
}

// Returns a row of `points` with the coordinates that occur most often.
int64_t modal_row(const at::Tensor& points) {
  // Rows are compared by a number of their bits: sorting those is faster than sorting rows. 0.0 is equal to -0.0.
  const at::Tensor bits = (points + 0.0).view(at::kLong);
  const at::Tensor key = bits.select(1, 0) * 0x1E3779B97F4A7C15 + bits.select(1, 1) * 0x3F58476D1CE4E5B9 +
                         bits.select(1, 2) * 0x14D049BB133111EB;
  const auto [sorted, row] = key.sort();
  const auto [value, inverse, count] = at::unique_consecutive(sorted, /*return_inverse=*/false, /*return_counts=*/true);
  const int64_t largest = count.argmax().item<int64_t>();
  return row[count.slice(0, 0, largest).sum().item<int64_t>()].item<int64_t>();
}

std::string repeated_place(const at::Tensor& points) {
  constexpr int64_t few = 16, one_in = 100;
  const int64_t available = points.size(0);
  if (available <= few) return "";
  const at::Tensor place = points[modal_row(points)];
  const int64_t there = (points == place).all(1).sum().item<int64_t>();
  if (there <= few || there * one_in <= available) return "";
  const bool origin = !place.any().item<bool>();
  std::ostringstream text;
  text << there << " of its " << available << " points are at one place" << (origin ? ", (0, 0, 0)" : "")
       << ": leave them out if they stand for what a sensor did not see";
  return text.str();
}

std::string stray_points(const at::Tensor& points) {
  constexpr int64_t few = 200;
  constexpr double inner = 0.99, far = 2.0;
  const int64_t available = points.size(0);
  if (available < few) return "";
  const at::Tensor middle = std::get<0>(points.median(0)), distance = (points - middle).norm(2, 1);
  const auto rank = static_cast<int64_t>(std::ceil(inner * static_cast<double>(available)));
  const double usual = std::get<0>(distance.kthvalue(rank)).item<double>();
  const double largest = distance.max().item<double>();
  if (largest < far * usual || usual == 0) return "";
  const int64_t stray = (distance >= far * usual).sum().item<int64_t>();
  std::ostringstream text;
  text.precision(2);
  text << stray << " of its " << available << (stray == 1 ? " points lies" : " points lie")
       << " apart from the others, up to " << largest / usual << " times as far from the middle as " << percent(inner)
       << " of them. The farthest point sets the scale, so leave stray points out";
  return text.str();
}

std::string misfit_normals(const at::Tensor& points, const at::Tensor& normals) {
  constexpr int64_t min_normals = 200, max_sampled = 256, min_clear_planes = 64;
  constexpr double max_flatness = 0.1, min_width = 0.1, min_median_cosine = 0.65;
  const at::Tensor rows = normals.any(1).nonzero().flatten();  // 0: missing
  const int64_t available = rows.numel();
  if (available < min_normals) return "";
  const at::Tensor offset = points - points[0];
  const double extent = offset.abs().max().item<double>();
  if (extent == 0 || !std::isfinite(extent)) return "";
  const at::Tensor sample = rows.slice(0, 0, available, (available + max_sampled - 1) / max_sampled);
  const NeighbourPlanes planes = neighbour_planes(offset / extent, sample);  // squares of distances are in range
  const at::Tensor across = planes.variances.select(1, 0), second = planes.variances.select(1, 1);
  const at::Tensor clear = (across <= max_flatness * second) & (second > min_width * planes.variances.select(1, 2));
  const at::Tensor product = (planes.normals * normals.index_select(0, sample)).sum(1);
  const at::Tensor cosine = product.abs().masked_select(clear);
  if (cosine.numel() < min_clear_planes) return "";
  const double median = cosine.median().item<double>();
  if (median >= min_median_cosine) return "";
  const auto degrees = static_cast<int64_t>(std::acos(median) * 180 / std::numbers::pi);
  return "its normals do not fit its points: half of them are at least " + std::to_string(degrees) +
         " degrees off (predict --estimated-normals, or a call without normals, does not use them)";
}

std::string inward_normals(const at::Tensor& points, const at::Tensor& normals) {
  constexpr double min_errors = 4.0;  // standard errors of the mean product, which random signs hardly ever have
  constexpr double min_share = 1e-4;  // of the mean distance from the centroid: the products of a plane are rounding
  const at::Tensor offset = points - points.mean(0), product = (offset * normals).sum(1);
  const double mean = product.mean().item<double>();
  const double error = product.std().item<double>() / std::sqrt(static_cast<double>(product.numel()));
  const double min_product = min_share * offset.norm(2, 1).mean().item<double>();
  if (mean >= -min_product || mean >= -min_errors * error) return "";
  const double inward = (product < 0).to(at::kDouble).mean().item<double>();
  return "its normals point inward on the whole, " + percent(inward) +
         " of them, and may mislead a model that learned from outward ones. Estimated ones may serve better: predict "
         "--estimated-normals, or in C++ and Python a call without normals";
}

// Checks points and normals, and returns the first fault of the normals, with a text.
std::pair<NormalFault, std::string> described_fault(const at::Tensor& points, const at::Tensor& normals,
                                                    bool check_misfit) {
  const at::Tensor exact = checked(points, "points"), given = checked(normals, "normals");
  check_finite(exact, "points");
  const at::Tensor directions = given.masked_fill(given.isfinite().all(1, /*keepdim=*/true).logical_not(), 0);
  TORCH_CHECK(directions.sizes() == exact.sizes(), "normals must have the shape of points, ", exact.sizes(), ", got ",
              directions.sizes());
  if (exact.size(0) < 2) return {NormalFault::none, ""};
  if (std::string text = check_misfit ? misfit_normals(exact, directions) : ""; !text.empty())
    return {NormalFault::misfit, std::move(text)};
  if (std::string text = inward_normals(exact, directions); !text.empty())
    return {NormalFault::inward, std::move(text)};
  return {NormalFault::none, ""};
}

}  // namespace

std::vector<std::string> point_warnings(const at::Tensor& points) {
  const at::Tensor exact = checked(points, "points");
  check_finite(exact, "points");
  if (exact.size(0) < 2) return {};
  if (const std::string form = degenerate_form(exact); !form.empty()) {
    return {"all of its " + std::to_string(exact.size(0)) + " points " + form};
  }
  if (std::string text = repeated_place(exact); !text.empty()) return {std::move(text)};
  if (std::string text = stray_points(exact); !text.empty()) return {std::move(text)};
  if (is_flat(exact)) return {"all of its " + std::to_string(exact.size(0)) + " points lie in one plane"};
  return {};
}

NormalFault normal_fault(const at::Tensor& points, const at::Tensor& normals, bool check_misfit) {
  return described_fault(points, normals, check_misfit).first;
}

std::vector<std::string> normal_warnings(const at::Tensor& points, const at::Tensor& normals, bool check_misfit) {
  const auto [fault, text] = described_fault(points, normals, check_misfit);
  if (fault == NormalFault::none) return {};
  return {text};
}

}  // namespace geosft
