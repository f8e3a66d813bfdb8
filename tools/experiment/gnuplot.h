// SPDX-License-Identifier: Apache-2.0
// Pictures drawn by the gnuplot program.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

namespace geosft {

// A picture is a convenience: that it could not be drawn (no gnuplot, a full disk) is said, not thrown.
struct PlotResult {
  bool drawn = false;
  std::string reason;  // why not, in a line

  explicit operator bool() const { return drawn; }
};

struct Picture {
  int width = 800;  // of the SVG; the PNG has twice as many pixels
  int height = 600;
  std::string script = {};                       // gnuplot commands, without terminal and output
  std::map<std::string, std::string> data = {};  // name -> contents of the files that the script reads
};

// Leaves stem.png and stem.svg. gnuplot runs in a folder of its own, without a shell and without the user's start-up
// file.
PlotResult draw(const Picture& picture, const std::filesystem::path& stem);

// `text` as a gnuplot string that means exactly this text: quoted, control characters as blanks, bytes that are not
// UTF-8 as question marks. draw() switches markup off, so that _ ^ { } @ & stand for themselves.
std::string gnuplot_string(std::string_view text);
// The same for the label of a tic, where gnuplot would take % for a number format.
std::string gnuplot_tic(std::string_view text);

}  // namespace geosft
