// SPDX-License-Identifier: Apache-2.0
// Measurements as a person reads them.
#pragma once

#include <string>
#include <vector>

#include "tools/bench/measurement.h"

namespace geosft::bench {

// A heading a benchmark and a line a implementation: minimum, median and quartiles of the wall time, processor time,
// our minimum over this one's and the same of processor times, share of the bound, peak of memory. The meaning of the
// columns comes first.
std::string table(const std::vector<Measurement>& measurements);

// The change against an earlier run, a line for every measurement that both have: minima and their ratio, and whether
// it is more than the spread: "faster" when the later upper quartile lies below the earlier minimum, "slower" the other
// way round. Differences of machine and sizes are said first.
std::string comparison(const Results& before, const Results& now);

// "1.23 s", "45.6 ms", "7.89 us".
std::string duration(double seconds);
// "12.3 MiB".
std::string memory(int64_t bytes);

}  // namespace geosft::bench
