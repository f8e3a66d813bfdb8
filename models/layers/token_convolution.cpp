// SPDX-License-Identifier: Apache-2.0
#include "models/layers/token_convolution.h"

#include "geometry/device_offsets.h"

namespace geosft {
namespace {

constexpr int64_t no_padding = 0;  // items are padded beforehand

void check_kernel(const at::Tensor& x, const at::Tensor& weight, int64_t rank, const char* meaning) {
  TORCH_CHECK(x.dim() == 3, "x must be [N, h, c], got shape ", x.sizes());
  TORCH_CHECK(weight.dim() == rank && (weight.size(0) == x.size(1) || weight.size(0) == 1) && weight.size(-1) >= 1 &&
                  weight.size(-1) == weight.size(1),
              "weight must be ", meaning, " with h = ", x.size(1), " or 1, got shape ", weight.sizes());
}

// Returns [h, 1, …] for a convolution whose groups are heads.
at::Tensor head_kernel(const at::Tensor& weight, int64_t heads) {
  std::vector<int64_t> shape = weight.sizes().vec();
  shape[0] = heads;
  return weight.expand(shape).unsqueeze(1);
}

// Returns the position of each packed row when items are separated by `gap` empty rows.
at::Tensor places_apart(const std::vector<int64_t>& offsets, int64_t gap) {
  at::Tensor places = at::arange(offsets.back(), at::kLong);
  for (size_t b = 1; b + 1 < offsets.size(); ++b)
    places.slice(0, offsets[b], offsets[b + 1]) += static_cast<int64_t>(b) * gap;
  return places;
}

}  // namespace

at::Tensor convolve_sequence(const at::Tensor& x, const at::Tensor& weight, const std::vector<int64_t>& offsets) {
  check_kernel(x, weight, 2, "[h, s]");
  TORCH_CHECK(x.size(0) == offsets.back(), "x must have the rows of its items, ", offsets.back(), ", got ", x.size(0));
  const int64_t heads = x.size(1), before = (weight.size(1) - 1) / 2, after = weight.size(1) / 2;
  const bool one_item = offsets.size() == 2;
  if (x.numel() == 0) return x;
  at::Tensor apart = x, places;
  if (!one_item) {
    places = copy_to_device(places_apart(offsets, after), x.device());
    const int64_t rows = offsets.back() + static_cast<int64_t>(offsets.size() - 2) * after;
    apart = at::zeros({rows, heads, x.size(2)}, x.options().requires_grad(false)).index_copy(0, places, x);
  }
  const at::Tensor lines = at::constant_pad_nd(apart.permute({2, 1, 0}), {before, after});
  const at::Tensor made =
      at::conv1d(lines, head_kernel(weight, heads), {}, 1, at::IntArrayRef(no_padding), 1, heads).permute({2, 1, 0});
  return one_item ? made : made.index_select(0, places);
}

at::Tensor convolve_grid(const at::Tensor& x, const at::Tensor& weight, int64_t height, int64_t width) {
  check_kernel(x, weight, 3, "[h, s, s]");
  TORCH_CHECK(height >= 1 && width >= 1 && x.size(0) % (height * width) == 0, "x must hold whole grids of ", height,
              " x ", width, " tokens, got ", x.size(0), " rows");
  const int64_t heads = x.size(1), channels = x.size(2), before = (weight.size(2) - 1) / 2, after = weight.size(2) / 2;
  if (x.numel() == 0) return x;
  const at::Tensor grids = x.view({-1, height, width, heads, channels}).permute({0, 4, 3, 1, 2});
  const at::Tensor padded =
      at::constant_pad_nd(grids.reshape({-1, heads, height, width}), {before, after, before, after});
  const at::Tensor made = at::conv2d(padded, head_kernel(weight, heads), {}, 1, at::IntArrayRef(no_padding), 1, heads);
  return made.view({-1, channels, heads, height, width}).permute({0, 3, 4, 2, 1}).reshape(x.sizes());
}

}  // namespace geosft
