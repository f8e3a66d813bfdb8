// SPDX-License-Identifier: Apache-2.0
// geosft-view: what its command line asks for.
#pragma once

#include "tools/view/display.h"

namespace geosft::view {

// Parses the command line and does it: the exit code. Throws UsageError, and what files and displays throw.
int run_view(int argc, const char* const* argv, Display& display);

// Cameras of a whole turn about the vertical axis, beginning at `first`.
std::vector<Camera> turntable(const Camera& first, int64_t frames);

}  // namespace geosft::view
