// SPDX-License-Identifier: Apache-2.0
// Draws pictures with the gnuplot program, and runs programs.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace geosft {

// A failed picture (no gnuplot, a full disk) is reported here, not thrown: pictures are optional.
struct PlotResult {
  bool drawn = false;
  std::string reason;  // one line, if not drawn

  explicit operator bool() const { return drawn; }
};

struct Picture {
  int width = 800;  // of the SVG, and in points of the PDF; the PNG has twice as many pixels
  int height = 600;
  std::string script = {};                       // gnuplot commands, without terminal and output
  std::map<std::string, std::string> data = {};  // file name -> contents, for the files that the script reads
};

// Writes stem.png and stem.svg, or, if `stem` ends in .png, .svg or .pdf, this one file. gnuplot runs in a temporary
// folder, without a shell and without the user's start-up file.
PlotResult draw(const Picture& picture, const std::filesystem::path& stem);

// Returns whether the file's ending chooses the format of a picture: .png, .svg or .pdf.
bool names_picture(const std::filesystem::path& file);

// Quotes `text` as a literal gnuplot string: control characters become blanks, invalid UTF-8 bytes question marks.
// draw() disables markup, so that _ ^ { } @ & are literal.
std::string gnuplot_string(std::string_view text);
// Does the same for a tic label, where gnuplot would interpret % as a number format.
std::string gnuplot_tic(std::string_view text);

// Runs a program found in PATH with these arguments (the first is its name) in `folder`, without a shell and without
// input; its output goes to the file `log` in that folder. Returns the exit status as given by waitpid, or the negated
// errno if it could not be started (-ENOENT: no such program).
int run_program(std::vector<std::string> words, const std::filesystem::path& folder, const std::string& log);

}  // namespace geosft
