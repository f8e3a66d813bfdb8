// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/ATen.h>

#include <optional>

namespace geosft {

// `ptr` (argument `name`) of a packed batch, or another number for each item (seeds, say), contiguous and on `device`;
// undefined where there is none. Offsets may stay on the CPU while the rows are on a GPU: how many rows there are can
// then be told without waiting for it, and the copy waits for nothing either, page-locked or not; where
// ptr_with_device_copy has left one, it is that. On any other device: an error. Offsets of what an operator makes
// (sample_ptr of sample_pairs) are on the device of the ptr that was given.
//
// The copy has the values of this call, whatever becomes of `ptr` then. So has a replay of a CUDA graph that LibTorch
// captured (torch.cuda.graph, at::cuda::CUDAGraph) with this call in it: it copies them again, as its sizes are those
// of the capture.
at::Tensor ptr_on_device(const std::optional<at::Tensor>& ptr, at::Device device, const char* name);

// The values of `ptr`, which is on the CPU, with `copy`, the same values on another device: made once for all operators
// of a pass, so that none of them copies, and a captured step reads it there. Values that are changed in place have no
// copy any more.
at::Tensor ptr_with_device_copy(const at::Tensor& ptr, const at::Tensor& copy);

// Item of every packed row, int64 [rows], on `device`; zeros without ptr. Without waiting, offsets that are not on the
// CPU are not checked: wrong ones give rows some item.
at::Tensor item_of_row_on_device(const std::optional<at::Tensor>& ptr, int64_t rows, at::Device device);

// A contiguous copy on `device` of `values`, which the host made for an operator. The copy is asynchronous, yet it
// holds the values of this call: `values` may be overwritten at once.
at::Tensor copy_to_device(const at::Tensor& values, at::Device device);

}  // namespace geosft
