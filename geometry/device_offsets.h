// SPDX-License-Identifier: Apache-2.0
// Copies of offsets of packed batches, and of other small arrays of the host, on the device of the rows.
#pragma once

#include <ATen/ATen.h>

#include <optional>

namespace geosft {

// `ptr` (argument `name`) of a packed batch, or another number per item such as a seed, contiguous and on `device`;
// undefined if there is none. An error if ptr is on a third device.
// Offsets may stay on the CPU while the rows are on a GPU: the number of rows is then known without synchronizing, and
// the copy is asynchronous, page-locked or not. If ptr_with_device_copy has attached a copy, that one is returned.
// Offsets that an operator creates (sample_ptr of sample_pairs) are on the device of the ptr that it got.
//
// The copy holds the values of this call, whatever happens to `ptr` later. So does a replay of a CUDA graph captured by
// LibTorch (torch.cuda.graph, at::cuda::CUDAGraph) with this call in it: it copies them again, as its sizes are those
// of the capture.
at::Tensor ptr_on_device(const std::optional<at::Tensor>& ptr, at::Device device, const char* name);

// `ptr`, which is on the CPU, with an attached `copy`: the same values on another device. Made once for all operators
// of a pass, so that none of them copies, and a captured step reads the copy. Changing the values in place invalidates
// the copy.
at::Tensor ptr_with_device_copy(const at::Tensor& ptr, const at::Tensor& copy);

// The item of each packed row, int64 [rows], on `device`; zeros without ptr. To avoid synchronization, offsets that are
// not on the CPU are not checked: wrong ones give rows some item.
at::Tensor item_of_row_on_device(const std::optional<at::Tensor>& ptr, int64_t rows, at::Device device);

// A contiguous copy on `device` of `values`, which the host made for an operator. The copy is asynchronous, yet it
// holds the values of this call: `values` may be overwritten at once.
at::Tensor copy_to_device(const at::Tensor& values, at::Device device);

}  // namespace geosft
