// SPDX-License-Identifier: Apache-2.0
// Where a program computes.
#pragma once

#include <ATen/ATen.h>

#include <string>

namespace geosft {

// What keeps this program from computing on a GPU, empty where nothing does: the build has no CUDA kernels, there is no
// driver, LibTorch's CUDA libraries are not there, or the driver shows no GPU. Loads those libraries, which nothing is
// linked with, so it must come before anything else asks LibTorch for a GPU.
std::string missing_for_cuda();

// "cpu", "cuda", "cuda:1" …, or "auto": a GPU where there is one. On a GPU the same numbers come out every time, bit
// for bit. Throws UsageError for another name, and for a device that cannot be used, saying why.
at::Device chosen_device(const std::string& name);

}  // namespace geosft
