// SPDX-License-Identifier: Apache-2.0
// Copies offsets of packed batches, and other small host arrays, to the device of the rows.
#pragma once

#include <ATen/ATen.h>

#include <optional>

namespace geosft {

// Returns `ptr` (argument `name`) of a packed batch, or other values per item such as seeds, contiguous and on
// `device`; undefined if `ptr` is missing. Throws an error if ptr is on a third device. Offsets may stay on the CPU
// while the rows are on a GPU: the number of rows is then known without synchronizing, and the copy is asynchronous,
// whether `ptr` is pinned or not. If ptr_with_device_copy has attached a copy, that one is returned. Offsets that an
// operator creates (sample_ptr of sample_pairs) are on the device of the ptr that it got.
//
// The copy holds the values at the time of the call, even if `ptr` changes later. A replay of a CUDA graph captured by
// LibTorch (torch.cuda.graph, at::cuda::CUDAGraph) copies the same values again, since its sizes are those of the
// capture.
at::Tensor ptr_on_device(const std::optional<at::Tensor>& ptr, at::Device device, const char* name);

// Returns `ptr`, which is on the CPU, with an attached `copy` of its values on another device. Called once for all
// operators of a pass, so that they need not copy, and a captured step reads the copy. Changing the values in place
// invalidates the copy.
at::Tensor ptr_with_device_copy(const at::Tensor& ptr, const at::Tensor& copy);

// Returns the item of each packed row, int64 [rows], on `device`; zeros without ptr. To avoid synchronization, offsets
// on a GPU are not checked: invalid ones give arbitrary items.
at::Tensor item_of_row_on_device(const std::optional<at::Tensor>& ptr, int64_t rows, at::Device device);

// Returns a contiguous copy on `device` of `values`, created on the host for an operator. The copy is asynchronous, but
// `values` may be overwritten immediately.
at::Tensor copy_to_device(const at::Tensor& values, at::Device device);

}  // namespace geosft
