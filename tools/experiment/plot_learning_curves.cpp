// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <iomanip>
#include <sstream>

#include "tools/experiment/metrics_csv.h"
#include "tools/experiment/plots.h"

namespace geosft {
namespace {

constexpr const char* curves_frame = R"(
set border 3 lc rgb '#606060'
set tics out nomirror textcolor rgb '#303030'
set grid lc rgb '#e4e4e4' lt 1
set key below textcolor rgb '#303030'
set multiplot layout 1,2
set xlabel 'step'
)";

// With more points, markers would hide the line.
constexpr int64_t max_markers = 60;

struct SplitCurve {
  std::string split, title, colour;
};
const std::vector<SplitCurve>& curves() {
  static const std::vector<SplitCurve> all = {
      {"train", "training", "#4477aa"}, {"validation", "validation split", "#ee6677"}, {"test", "test set", "#228833"}};
  return all;
}

// Converts shares to percent.
double shown(double score, const ScoreStyle& style) {
  return style.share ? 100.0 * score : score;
}

// Returns lines of step, loss, score.
std::string curve_data(const std::vector<MetricsRow>& rows, const std::string& split, const ScoreStyle& style) {
  std::ostringstream data;
  for (const MetricsRow& row : rows) {
    if (row.split == split) data << row.step << ' ' << row.loss << ' ' << shown(row.score, style) << '\n';
  }
  return data.str();
}

// Returns one plot command for all curves that have data.
std::string plot_column(const std::map<std::string, std::string>& data, int column) {
  std::string command;
  for (const SplitCurve& curve : curves()) {
    const std::string& lines = data.at(curve.split);
    if (lines.empty()) continue;
    const bool markers = std::count(lines.begin(), lines.end(), '\n') <= max_markers;
    command += (command.empty() ? "plot '" : ", '") + curve.split + "' using 1:" + std::to_string(column) + " with " +
               (markers ? "linespoints pt 7 ps 0.4" : "lines") + " lw 1.6 lc rgb '" + curve.colour + "' title '" +
               curve.title + "'";
  }
  return command + "\n";
}

// Shows the best score on the held-out split, which selects the checkpoint, and the last one on the test set.
std::string score_title(const std::vector<MetricsRow>& rows, const ScoreStyle& style) {
  const MetricsRow* best = nullptr;
  const MetricsRow* last = nullptr;
  for (const MetricsRow& row : rows) {
    if (row.split == "validation" && (!best || style.value(row.score) > style.value(best->score))) best = &row;
    if (row.split == "test") last = &row;
  }
  std::ostringstream title;
  for (const char letter : style.name) title << (letter == '_' ? ' ' : letter);
  if (style.share) {
    title << " (%)" << std::fixed << std::setprecision(1);
  } else {
    title << std::setprecision(4);
  }
  if (best) title << ", best of the validation split " << shown(best->score, style) << " at step " << best->step;
  if (last) title << ", test set at the end " << shown(last->score, style);
  return title.str();
}

}  // namespace

PlotResult plot_learning_curves(const std::filesystem::path& metrics_csv, const std::filesystem::path& stem,
                                const ScoreStyle& style) {
  const std::vector<MetricsRow> rows = read_metrics(metrics_csv);
  if (rows.empty()) return {false, metrics_csv.string() + " holds no metrics yet"};
  const auto scored = [](const MetricsRow& row) { return std::isfinite(row.loss) && std::isfinite(row.score); };
  if (std::none_of(rows.begin(), rows.end(), scored)) {
    const bool only_training =
        std::all_of(rows.begin(), rows.end(), [](const auto& row) { return row.split == "train"; });
    return {false, metrics_csv.string() + " has no step with a loss and a score (" + style.name +
                       ") that are numbers: " +
                       (only_training ? "the training split alone has rows"
                                      : "a score is undefined where a split has too few items of a class")};
  }
  Picture picture{.width = 1000, .height = 400};
  for (const SplitCurve& curve : curves()) picture.data[curve.split] = curve_data(rows, curve.split, style);
  picture.script = std::string(curves_frame) + "set title 'loss'\nset yrange [0:*]\n" + plot_column(picture.data, 2) +
                   "set title " + gnuplot_string(score_title(rows, style)) + "\nset yrange [" +
                   (style.share ? "0:100" : "*:*") + "]\n" + plot_column(picture.data, 3) + "unset multiplot\n";
  return draw(picture, stem);
}

}  // namespace geosft
