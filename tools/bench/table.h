// SPDX-License-Identifier: Apache-2.0
// Formats measurements as text tables, and draws them under the roofline of the machine.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tools/bench/measurement.h"
#include "tools/experiment/gnuplot.h"

namespace geosft::bench {

// Returns a heading per benchmark and a line per implementation: minimum, median and quartiles of the wall time;
// processor time; the ratio of geosft's minimum to this one's, for wall and processor times; fraction of the bound;
// peak memory. An explanation of the columns comes first.
std::string table(const std::vector<Measurement>& measurements);

// Compares with an earlier run, with a line for each measurement in both: the minima, their ratio, and whether the
// change exceeds the spread. It is "faster" if the later upper quartile is below the earlier minimum, "slower" if the
// earlier upper quartile is below the later minimum. Differences of machine and sizes are listed first.
std::string comparison(const Results& before, const Results& now);

// Formats as "1.23 s", "45.6 ms", "7.89 us".
std::string duration(double seconds);
// Formats as "12.3 MiB".
std::string memory(int64_t bytes);

// Draws the roofline of the machine with a point for every measurement that has a bound: elements per second (max+adds
// plus multiply-adds) over elements per byte of inputs and results. The slope is the memory bandwidth, the roofs are
// the rates of the two register-tile loops. Writes stem.png and stem.svg.
PlotResult draw_roofline(const Results& results, const std::filesystem::path& stem);

}  // namespace geosft::bench
