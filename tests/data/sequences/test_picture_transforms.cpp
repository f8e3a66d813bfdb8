// SPDX-License-Identifier: Apache-2.0
#include "data/sequences/picture_transforms.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <set>

#include "tests/support.h"

namespace geosft::test::test_picture_transforms {
namespace {

ColourImage noise(int64_t height, int64_t width, uint64_t seed) {
  const at::Tensor values = at::randint(256, {3 * height * width}, generator(seed), at::kLong);
  ColourImage image{height, width, {}};
  for (int64_t i = 0; i < values.numel(); ++i) image.pixels.push_back(static_cast<uint8_t>(values[i].item<int64_t>()));
  return image;
}

double triangle(double x) {
  return std::max(0.0, 1.0 - std::abs(x));
}

// Keys' cubic kernel with a = -1/2.
double cubic(double x) {
  x = std::abs(x);
  if (x < 1) return 1.5 * x * x * x - 2.5 * x * x + 1;
  return x < 2 ? -0.5 * x * x * x + 2.5 * x * x - 4 * x + 2 : 0.0;
}

// The matrix [length, from] of a resampling along one axis: a kernel that a reduction widens, weights of sum 1.
at::Tensor resampling(int64_t from, int64_t length, double support, double (*kernel)(double)) {
  const double scale = static_cast<double>(from) / static_cast<double>(length), wide = std::max(scale, 1.0);
  at::Tensor matrix = at::zeros({length, from}, at::kDouble);
  for (int64_t i = 0; i < length; ++i) {
    const double centre = scale * (static_cast<double>(i) + 0.5);
    // As in Pillow, the range of pixels is rounded.
    const int64_t first = std::max<int64_t>(static_cast<int64_t>(centre - support * wide + 0.5), 0);
    const int64_t end = std::min<int64_t>(static_cast<int64_t>(centre + support * wide + 0.5), from);
    for (int64_t j = first; j < end; ++j) matrix[i][j] = kernel((static_cast<double>(j) - centre + 0.5) / wide);
  }
  return matrix / matrix.sum(1, /*keepdim=*/true);
}

at::Tensor slow_resized(const at::Tensor& picture, int64_t height, int64_t width, Interpolation interpolation) {
  const bool bicubic = interpolation == Interpolation::bicubic;
  const auto along = [&](int64_t from, int64_t length) {
    return bicubic ? resampling(from, length, 2.0, cubic) : resampling(from, length, 1.0, triangle);
  };
  return along(picture.size(1), height)
      .matmul(picture.to(at::kDouble))
      .matmul(along(picture.size(2), width).t())
      .clamp(0.0, 255.0);
}

at::Tensor in_bytes(const at::Tensor& view) {
  const auto column = [](const double(&values)[3]) {
    return at::tensor(at::ArrayRef<double>(values), at::kDouble).view({3, 1, 1});
  };
  return (view.to(at::kDouble) * column(picture_deviation) + column(picture_mean)) * 255.0;
}

}  // namespace

TEST_CASE("pictures are resized as by the slow resampling, larger and smaller", "[picture]") {
  const at::Tensor picture = picture_tensor(noise(37, 52, 1));
  for (const Interpolation interpolation : {Interpolation::bilinear, Interpolation::bicubic}) {
    for (const auto& [height, width] : {std::pair(16, 16), std::pair(50, 20), std::pair(80, 90), std::pair(37, 52)}) {
      const at::Tensor found = resized_picture(picture, height, width, interpolation);
      require_close(found, slow_resized(picture, height, width, interpolation), 1e-5, "resized");
      CHECK((found.min().item<double>() >= 0 && found.max().item<double>() <= 255));
    }
  }
}

TEST_CASE("the pixels of a picture are those of its tensor", "[picture]") {
  const ColourImage image = noise(3, 4, 2);
  const at::Tensor tensor = picture_tensor(image);
  REQUIRE(tensor.sizes() == at::IntArrayRef({3, 3, 4}));
  for (int64_t row = 0; row < 3; ++row) {
    for (int64_t column = 0; column < 4; ++column) {
      for (int64_t channel = 0; channel < 3; ++channel) {
        CHECK(tensor[channel][row][column].item<double>() == image.pixels[size_t(3 * (4 * row + column) + channel)]);
      }
    }
  }
}

TEST_CASE("evaluation sees the centre of the picture", "[picture]") {
  const ColourImage image = noise(60, 90, 3);
  for (const Interpolation interpolation : {Interpolation::bilinear, Interpolation::bicubic}) {
    const ViewOptions options{.side = 28, .interpolation = interpolation, .crop_fraction = 0.875};
    // The shorter side becomes 32, the longer one 48.
    const at::Tensor whole = slow_resized(picture_tensor(image), 32, 48, interpolation);
    require_close(in_bytes(centre_view(image, options)), whole.slice(1, 2, 30).slice(2, 10, 38), 1e-4, "centre");
  }
  const ViewOptions same{.side = 60, .crop_fraction = 1.0};
  require_close(in_bytes(centre_view(image, same)), picture_tensor(image).slice(2, 15, 75).to(at::kDouble), 1e-5,
                "unscaled");
  require_error([&] { centre_view(image, {.side = 8, .crop_fraction = 1.5}); }, {"crop_fraction", "1.5"});
  require_error([&] { centre_view(image, {.side = 0}); }, {"side", "0"});
}

TEST_CASE("random crops lie in the picture, with the areas and ratios that are asked for", "[picture]") {
  at::Generator random = generator(4);
  double smallest = 1.0, largest = 0.0;
  std::set<std::pair<int64_t, int64_t>> places;
  for (int i = 0; i < 500; ++i) {
    const CropBox box = random_crop_box(120, 160, 0.2, random);
    REQUIRE((box.top >= 0 && box.left >= 0 && box.top + box.height <= 120 && box.left + box.width <= 160));
    const double area = static_cast<double>(box.height * box.width) / (120.0 * 160.0),
                 ratio = static_cast<double>(box.width) / static_cast<double>(box.height);
    CHECK((ratio > 0.73 && ratio < 1.37));
    smallest = std::min(smallest, area);
    largest = std::max(largest, area);
    places.insert({box.top, box.left});
  }
  CHECK((smallest > 0.19 && smallest < 0.25));
  CHECK(largest > 0.8);
  CHECK(places.size() > 400);
  // No crop of the whole area fits: the centre remains.
  const CropBox tall = random_crop_box(300, 30, 1.0, random), wide = random_crop_box(30, 300, 1.0, random);
  CHECK((tall.height == 40 && tall.width == 30 && tall.top == 130 && tall.left == 0));
  CHECK((wide.height == 30 && wide.width == 40 && wide.top == 0 && wide.left == 130));
  require_error([&] { random_crop_box(0, 3, 0.5, random); }, {"height", "0"});
  require_error([&] { random_crop_box(3, 3, 0.0, random); }, {"min_area"});
}

TEST_CASE("training sees the resized crop, mirrored every other time", "[picture]") {
  const ColourImage image = noise(50, 40, 5);
  int mirrored = 0;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    const ViewOptions options{.side = 16, .interpolation = Interpolation::bilinear, .min_crop_area = 0.3};
    at::Generator first = generator(seed), second = generator(seed), third = generator(seed);
    const CropBox box = random_crop_box(50, 40, 0.3, first);
    const at::Tensor part =
        picture_tensor(image).narrow(1, box.top, box.height).narrow(2, box.left, box.width).contiguous();
    const at::Tensor expected = slow_resized(part, 16, 16, Interpolation::bilinear);
    const at::Tensor view = in_bytes(random_view(image, options, second));
    const bool same = at::allclose(view, expected, 1e-3, 1e-2);
    if (!same) require_close(view, expected.flip({2}), 1e-4, "mirrored");
    mirrored += same ? 0 : 1;
    ViewOptions upright = options;
    upright.flip = false;
    require_close(in_bytes(random_view(image, upright, third)), expected, 1e-4, "never mirrored");
  }
  CHECK((mirrored > 8 && mirrored < 32));
}

}  // namespace geosft::test::test_picture_transforms
