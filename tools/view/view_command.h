// SPDX-License-Identifier: Apache-2.0
// Declares the command line of geosft-view.
#pragma once

#include "tools/view/display.h"

namespace geosft::view {

// Parses and runs the command line; returns the exit code. Throws UsageError, and the errors of files and displays.
int run_view(int argc, const char* const* argv, Display& display);

// Returns the cameras of a full turn about the vertical axis, starting at `first`.
std::vector<Camera> turntable(const Camera& first, int64_t frames);

}  // namespace geosft::view
