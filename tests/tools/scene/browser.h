// SPDX-License-Identifier: Apache-2.0
// Looks at pages by browse.py, and what it asks them.
#pragma once

#include <catch2/catch.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "tests/places.h"
#include "tests/tools/experiment/command_line.h"
#include "tests/tools/experiment/python.h"

namespace geosft::test {

// Returns what browse.py prints, a JSON value per line. `browser`: {} for Chromium, or {"--firefox"}.
inline std::vector<nlohmann::json> browsed(const std::filesystem::path& page, const Words& steps,
                                           const Words& browser = {}) {
  const Words script = Words{source_path("tests/tools/scene/browse.py")} + browser + Words{page.string()};
  const ProcessResult result = python("python3", script + steps);
  INFO(result.err);
  REQUIRE(result.exit == 0);
  std::vector<nlohmann::json> values;
  std::istringstream lines(result.out);
  for (std::string line; std::getline(lines, line);) values.push_back(nlohmann::json::parse(line));
  return values;
}

// The share of the pixels of the canvas that are not the background, and of those that are vivid.
inline constexpr const char* count_pixels = R"js(js:(() => {
  draw(true);
  const pixels = new Uint8Array(4 * canvas.width * canvas.height);
  gl.readPixels(0, 0, canvas.width, canvas.height, gl.RGBA, gl.UNSIGNED_BYTE, pixels);
  let drawn = 0, vivid = 0;
  for (let i = 0; i < pixels.length; i += 4) {
    const [r, g, b] = pixels.subarray(i, i + 3);
    drawn += r + g + b < 760;
    vivid += Math.max(r, g, b) - Math.min(r, g, b) > 40;
  }
  return [drawn * 4 / pixels.length, vivid * 4 / pixels.length];
})())js";

// The point nearest to the eye: its row, and its place in the window.
inline const std::string front_row =
    "[...Array(bodies[0].count).keys()].sort((a, b) => seen(bodies[0], a, matrices()).depth - "
    "seen(bodies[0], b, matrices()).depth)[0]";
inline const std::string front_place = "(() => { const at = seen(bodies[0], " + front_row +
                                       ", matrices()), box = canvas.getBoundingClientRect(); "
                                       "return [box.left + at.x, box.top + at.y]; })()";

}  // namespace geosft::test
