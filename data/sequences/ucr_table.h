// SPDX-License-Identifier: Apache-2.0
// Reads labelled time series of one dimension in the table form of the UCR archive (*.tsv).
#pragma once

#include <filesystem>

#include "data/sequences/ts_file.h"

namespace geosft {

// Reads one series per line: its class, a number, and its values, separated by blanks or commas. NaN is a missing
// value; at the end of a line it is padding and left out. The classes are the distinct numbers in ascending order.
// Throws DataError, naming file and line: words that are not numbers, lines without values, files without series.
TsFile read_ucr_table(const std::filesystem::path& file);

}  // namespace geosft
