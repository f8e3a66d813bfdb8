// SPDX-License-Identifier: Apache-2.0
// Names and selects the vector instructions that kernels run with. Include this before any header of Highway.
#pragma once

#include <string>
#include <vector>

#include "geometry/simd.h"

namespace geosft {

// Returns the name of the target that kernels run with, such as "AVX3" (AVX-512), "AVX2" or "SCALAR".
std::string simd_target_name();

// Returns the names of all targets that were compiled and that this processor supports, best first.
std::vector<std::string> simd_target_names();

// For tests and measurements: kernels of the whole process run with this target until the next call; "" restores the
// best one. Must not be called while a kernel runs. Throws if the processor does not support the target.
void force_simd_target(const std::string& name);

}  // namespace geosft
