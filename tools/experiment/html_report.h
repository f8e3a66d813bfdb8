// SPDX-License-Identifier: Apache-2.0
// Writes the report of a run as one HTML page that needs no other file: facts, pictures, tables, and clouds drawn as
// SVG.
#pragma once

#include <ATen/ATen.h>

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace geosft {

// A cloud as it is drawn: points [n, 3] with y up, and colours double [n, 3] in [0, 1].
struct DrawnCloud {
  std::string caption;
  at::Tensor points, colours;
};

// Holds what the page of tools/scene/page.h shows of one item, as texts that stand in that page.
struct PageScene {
  std::string title;   // HTML
  std::string scene;   // JSON without "<"
  std::string arrays;  // base64
};

// One of the worst predictions, drawn, and as a scene to turn and to ask, if it is not too large.
struct Mistake {
  std::string name, text;
  std::vector<DrawnCloud> clouds;
  std::optional<PageScene> scene = std::nullopt;
  std::string svg = {};  // a picture, an SVG document; empty: none
};
// Returns how a mistake in this split of clouds is looked at from all sides. The items of a validation split are
// counted in the training set that it was held out of.
inline std::string view_hint(const std::string& split) {
  return std::string("; geosft-view --run RUN ") + (split == "test" ? "" : "--split train ") +
         "--item N --html FILE shows an item of this set with all layers and heads";
}
// The worst predictions of an evaluation, the worst first, and a sentence that says how they are ordered.
struct Mistakes {
  std::string order;
  std::vector<Mistake> worst;
  std::string viewer = {};  // the page of the scenes, with the marks %TITLE%, %SCENE% and %ARRAYS% in this order
};

// A table with its heading, and a sentence that says what it shows.
struct ReportTable {
  std::string heading, note;
  std::vector<std::vector<std::string>> rows;  // the first row is the heading of the columns
};

// Counts of a confusion matrix, int64 [classes, classes], rows: true class; undefined: none.
struct ConfusionCounts {
  std::vector<std::string> names;
  at::Tensor counts = {};
};

struct HtmlReport {
  std::string title;
  std::vector<std::pair<std::string, std::string>> facts;               // name and value
  std::vector<std::pair<std::string, std::filesystem::path>> pictures;  // caption and SVG file; absent ones are skipped
  std::vector<std::vector<std::string>> table;                          // the first row is the heading
  Mistakes mistakes;
  std::string config;  // TOML
  ConfusionCounts confusion = {};
  std::vector<ReportTable> more_tables = {};  // after the classes and the confusion matrix
};

// Returns the text with commas where it has two blanks, which a browser would show as one.
std::string with_commas(std::string text);

// Returns the text with &, <, > and quotes as HTML has them.
std::string html_text(const std::string& text);

// Returns JSON that may stand in a script element: without "<", whatever bytes its texts have.
std::string script_json(const nlohmann::json& value);

// Encodes bytes by the alphabet of RFC 4648, section 4, with padding.
std::string base64(std::string_view bytes);

// Returns an SVG element of `size` pixels: the points from the front, turned and raised, the near ones last. Of more
// than 1,500 points every n-th is drawn.
std::string cloud_svg(const DrawnCloud& cloud, int size = 240);

// Returns the page. Where a browser offers WebGL 2, a click on a mistake with a scene shows that in one viewer for all;
// elsewhere the pictures remain. Throws DataError for a picture that cannot be read.
std::string html_page(const HtmlReport& report);

}  // namespace geosft
