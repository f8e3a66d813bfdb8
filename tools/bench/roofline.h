// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "tools/bench/measurement.h"
#include "tools/experiment/gnuplot.h"

namespace geosft::bench {

// Draws the roofline of the machine with a point for every measurement that has a bound: elements per second (max+adds
// plus multiply-adds) over elements per byte of inputs and results. The slope is the memory bandwidth, the roofs are
// the rates of the two register-tile loops. Writes stem.png and stem.svg.
PlotResult draw_roofline(const Results& results, const std::filesystem::path& stem);

}  // namespace geosft::bench
