// SPDX-License-Identifier: Apache-2.0
// Makes square inputs of a classifier from pictures of any size, as DeiT does (Touvron et al., 2021): a centre crop to
// evaluate, a random resized crop and a flip to train.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>

#include "data/formats/picture.h"

namespace geosft {

enum class Interpolation { bilinear, bicubic };

// The pixels of a view are those of a picture divided by 255, minus the mean and divided by the deviation of ImageNet's
// training set, for red, green and blue.
inline constexpr double picture_mean[] = {0.485, 0.456, 0.406};
inline constexpr double picture_deviation[] = {0.229, 0.224, 0.225};

struct ViewOptions {
  int64_t side = 224;                                    // of a view, in pixels
  Interpolation interpolation = Interpolation::bicubic;  // antialiased, as in Pillow
  double crop_fraction = 0.875;  // evaluation: side over the shorter side of the picture before it is cropped
  double min_crop_area = 0.08;   // training: smallest share of the picture's area that is cropped
  bool flip = true;              // training: mirror every other view
};

struct CropBox {
  int64_t top = 0, left = 0, height = 0, width = 0;
};

// Samples the box of a random resized crop in a picture of height x width pixels: a share of its area uniform in
// [min_area, 1], and an aspect ratio log-uniform in [3/4, 4/3]. If ten samples do not fit, returns the largest box in
// the centre whose ratio lies in that range. The same rule as torchvision's RandomResizedCrop.
CropBox random_crop_box(int64_t height, int64_t width, double min_area, at::Generator& generator);

// Converts to float32 [3, height, width], 0 to 255.
at::Tensor picture_tensor(const ColourImage& image);

// Resizes [3, H, W] to [3, height, width], antialiased, clamped to 0 … 255. Unlike Pillow it does not round to whole
// numbers.
at::Tensor resized_picture(const at::Tensor& picture, int64_t height, int64_t width, Interpolation interpolation);

// Resizes, for evaluation, the shorter side to floor(side / crop_fraction), and crops the centre. Normalised, [3, side,
// side].
at::Tensor centre_view(const ColourImage& image, const ViewOptions& options);

// Resizes, for training, a random crop, and flips it with probability 1/2. Normalised, [3, side, side].
at::Tensor random_view(const ColourImage& image, const ViewOptions& options, at::Generator& generator);

}  // namespace geosft
