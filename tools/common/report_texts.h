// SPDX-License-Identifier: Apache-2.0
// Pieces of reports.
#pragma once

#include <filesystem>
#include <string>

#include "tools/common/plots.h"
#include "tools/common/run_folder.h"

namespace geosft {

// 0.815 as "81.5 %".
std::string percent(double share);

// A line on stderr where a picture could not be drawn.
void warn_unless_drawn(const PlotResult& result);

// The learning curves of a run.
void draw_curves(const RunFolder& folder, const ScoreStyle& style = {});

// What a file with a shape holds, in a few lines. Throws DataError.
std::string shape_file_text(const std::filesystem::path& file);

}  // namespace geosft
