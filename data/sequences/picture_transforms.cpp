// SPDX-License-Identifier: Apache-2.0
#include "data/sequences/picture_transforms.h"

#include <algorithm>
#include <cmath>

namespace geosft {
namespace {

constexpr double min_ratio = 3.0 / 4.0, max_ratio = 4.0 / 3.0;
constexpr int max_crops = 10;

double uniform(double low, double high, at::Generator& generator) {
  return at::empty({}, at::kDouble).uniform_(low, high, generator).item<double>();
}

// Returns a number from 0 to `last`.
int64_t any_up_to(int64_t last, at::Generator& generator) {
  return at::randint(last + 1, {}, generator, at::kLong).item<int64_t>();
}

at::Tensor normalized(const at::Tensor& view) {
  const auto column = [](const double(&values)[3]) {
    return at::tensor(at::ArrayRef<double>(values), at::kFloat).view({3, 1, 1});
  };
  return (view / 255.0 - column(picture_mean)) / column(picture_deviation);
}

at::Tensor cropped(const at::Tensor& picture, const CropBox& box) {
  return picture.narrow(1, box.top, box.height).narrow(2, box.left, box.width);
}

void check(const ViewOptions& options) {
  TORCH_CHECK(options.side >= 1, "side must be at least 1, got ", options.side);
  TORCH_CHECK(options.crop_fraction > 0 && options.crop_fraction <= 1, "crop_fraction must lie in (0, 1], got ",
              options.crop_fraction);
}

}  // namespace

CropBox random_crop_box(int64_t height, int64_t width, double min_area, at::Generator& generator) {
  TORCH_CHECK(height >= 1 && width >= 1, "height and width must be at least 1, got ", height, " and ", width);
  TORCH_CHECK(min_area > 0 && min_area <= 1, "min_area must lie in (0, 1], got ", min_area);
  const auto area = static_cast<double>(height * width);
  for (int tries = 0; tries < max_crops; ++tries) {
    const double crop_area = area * (min_area < 1 ? uniform(min_area, 1.0, generator) : 1.0);
    const double ratio = std::exp(uniform(std::log(min_ratio), std::log(max_ratio), generator));
    const int64_t wide = std::lround(std::sqrt(crop_area * ratio)), high = std::lround(std::sqrt(crop_area / ratio));
    if (wide < 1 || wide > width || high < 1 || high > height) continue;
    const int64_t top = any_up_to(height - high, generator), left = any_up_to(width - wide, generator);
    return {top, left, high, wide};
  }
  const double ratio = static_cast<double>(width) / static_cast<double>(height);
  CropBox box{0, 0, height, width};
  if (ratio < min_ratio) box.height = std::lround(static_cast<double>(width) / min_ratio);
  if (ratio > max_ratio) box.width = std::lround(static_cast<double>(height) * max_ratio);
  box.top = (height - box.height) / 2;
  box.left = (width - box.width) / 2;
  return box;
}

at::Tensor picture_tensor(const ColourImage& image) {
  return at::from_blob(const_cast<uint8_t*>(image.pixels.data()), {image.height, image.width, 3}, at::kByte)
      .permute({2, 0, 1})
      .to(at::kFloat)
      .contiguous();
}

at::Tensor resized_picture(const at::Tensor& picture, int64_t height, int64_t width, Interpolation interpolation) {
  TORCH_CHECK(picture.dim() == 3, "picture must be [3, H, W], got shape ", picture.sizes());
  const at::Tensor batch = picture.unsqueeze(0).contiguous();
  const std::vector<int64_t> size = {height, width};
  const at::Tensor larger = interpolation == Interpolation::bicubic
                                ? at::_upsample_bicubic2d_aa(batch, size, /*align_corners=*/false)
                                : at::_upsample_bilinear2d_aa(batch, size, /*align_corners=*/false);
  return larger.squeeze(0).clamp(0.0, 255.0);  // bicubic interpolation overshoots
}

at::Tensor centre_view(const ColourImage& image, const ViewOptions& options) {
  check(options);
  const int64_t shorter = std::min(image.height, image.width),
                target = static_cast<int64_t>(static_cast<double>(options.side) / options.crop_fraction);
  // In whole numbers, as torchvision: the longer side is rounded down.
  const int64_t height = image.height * target / shorter, width = image.width * target / shorter;
  const auto start = [&](int64_t length) {
    return static_cast<int64_t>(std::nearbyint(static_cast<double>(length - options.side) / 2.0));
  };
  const at::Tensor large = resized_picture(picture_tensor(image), height, width, options.interpolation);
  return normalized(cropped(large, {start(height), start(width), options.side, options.side}));
}

at::Tensor random_view(const ColourImage& image, const ViewOptions& options, at::Generator& generator) {
  check(options);
  const CropBox box = random_crop_box(image.height, image.width, options.min_crop_area, generator);
  at::Tensor view =
      resized_picture(cropped(picture_tensor(image), box), options.side, options.side, options.interpolation);
  // The number is sampled in any case, so that the option does not move the other ones.
  const bool mirrored = uniform(0.0, 1.0, generator) < 0.5;
  if (options.flip && mirrored) view = view.flip({2});
  return normalized(view);
}

}  // namespace geosft
