// SPDX-License-Identifier: Apache-2.0
// The command line of geosft-view.
#pragma once

#include "tools/view/display.h"

namespace geosft::view {

// Parses and runs the command line; returns the exit code. Throws UsageError, and the errors of files and displays.
int run_view(int argc, const char* const* argv, Display& display);

// Cameras of a whole turn about the vertical axis, beginning at `first`.
std::vector<Camera> turntable(const Camera& first, int64_t frames);

}  // namespace geosft::view
