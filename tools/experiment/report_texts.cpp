// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/report_texts.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iomanip>
#include <iostream>
#include <map>
#include <set>
#include <sstream>

#include "data/formats/point_labels.h"
#include "data/formats/shape_file.h"
#include "data/read_file.h"
#include "geometry/cloud_warnings.h"
#include "geometry/surface_sampling.h"
#include "tools/experiment/main_guard.h"
#include "tools/experiment/progress.h"

namespace geosft {
namespace {

// Returns "0.043".
std::string calibration_error(const std::vector<ReliabilityBin>& bins) {
  std::ostringstream out;
  out << std::fixed << std::setprecision(3) << expected_calibration_error(bins);
  return out.str();
}

}  // namespace

std::string percent(double share) {
  std::ostringstream out;
  out << std::fixed << std::setprecision(1) << 100 * share << " %";
  return out.str();
}

std::pair<double, double> share_interval(double share, int64_t count) {
  if (count <= 0) return {0.0, 1.0};
  constexpr double z = 1.96;
  const auto n = static_cast<double>(count);
  const double middle = (share + z * z / (2 * n)) / (1 + z * z / n);
  const double half = z / (1 + z * z / n) * std::sqrt(share * (1 - share) / n + z * z / (4 * n * n));
  return {std::max(middle - half, 0.0), std::min(middle + half, 1.0)};
}

std::string calibration_text(const std::vector<ReliabilityBin>& bins) {
  if (bins.empty()) return "";
  return "expected calibration error " + calibration_error(bins) + " (" + std::to_string(bins.size()) + " bins)\n";
}

std::string calibration_note(const std::vector<ReliabilityBin>& bins) {
  return "Expected calibration error " + calibration_error(bins) +
         ": the mean difference between the probability of the predicted class and the share of right predictions, "
         "over " +
         std::to_string(bins.size()) +
         " bins of that probability (Guo et al. 2017, Eq. 3). Bins without a prediction are left out.";
}

std::vector<std::vector<std::string>> reliability_table(const std::vector<ReliabilityBin>& bins) {
  std::vector<std::vector<std::string>> rows = {
      {"confidence", "predictions", "mean confidence", "right", "difference"}};
  for (const ReliabilityBin& bin : bins) {
    if (bin.count == 0) continue;
    const double difference = bin.accuracy - bin.confidence;
    rows.push_back({percent(bin.low) + " to " + percent(bin.high), std::to_string(bin.count), percent(bin.confidence),
                    percent(bin.accuracy), (difference > 0 ? "+" : "") + percent(difference)});
  }
  return rows;
}

std::string coordinate_text(double value, double extent) {
  constexpr double minimum = 6, maximum = 15;
  const double more = std::log10(std::abs(value) / extent);
  std::ostringstream out;
  out << std::setprecision(
             static_cast<int>(std::isnan(more) ? minimum : std::clamp(minimum + std::ceil(more), minimum, maximum)))
      << value;
  return out.str();
}

void warn_unless_drawn(const PlotResult& result) {
  static std::set<std::string> told;
  if (!result.drawn && told.insert(result.reason).second) std::cerr << "no picture: " << result.reason << '\n';
}

void require_drawn(const PlotResult& result) {
  if (!result) throw DataError("no picture: " + result.reason);
}

double evaluation_rate(int64_t total,
                       const std::function<void(const std::function<void(int64_t done)>& progress)>& evaluate) {
  ProgressBar bar("evaluating", total);
  const auto start = std::chrono::steady_clock::now();
  evaluate([&](int64_t done) {
    bar.update(done);
    throw_if_interrupted("in the middle of an evaluation");
  });
  return static_cast<double>(total) / std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void draw_curves(const RunFolder& folder, const ScoreStyle& style) {
  warn_unless_drawn(plot_learning_curves(folder.metrics(), folder.learning_curves(), style));
}

namespace {

struct DescribedShape : FileShape {
  std::map<int64_t, int64_t> points_of_labels;  // -1: points without a label
};

// Reads a file, with what is odd about its points and labels among the warnings.
DescribedShape described_shape(const std::filesystem::path& file, const std::string& columns) {
  DescribedShape shape{parse_shape(read_file(file), file.string(), {columns, /*drop_invalid=*/true}), {}};
  if (!shape.is_mesh()) {
    for (std::string& warning : point_warnings(shape.mesh.vertices)) shape.warnings.push_back(std::move(warning));
  }
  if (!shape.labels.defined()) return shape;
  try {
    const auto [labels, rows, counts] = at::_unique2(point_labels(shape, file.string()), /*sorted=*/true,
                                                     /*return_inverse=*/false, /*return_counts=*/true);
    for (int64_t i = 0; i < labels.size(0); ++i) {
      shape.points_of_labels[labels[i].item<int64_t>()] = counts[i].item<int64_t>();
    }
  } catch (const DataError& error) {
    shape.warnings.emplace_back(error.what());
  }
  return shape;
}

// Returns "labels 0 (40 points), 2 (30), none (10)".
std::string labels_text(const std::map<int64_t, int64_t>& points_of_labels) {
  constexpr size_t max_shown = 20;
  std::string text = "labels ";
  size_t shown = 0;
  for (const auto& [label, points] : points_of_labels) {
    if (label == unlabelled_part || ++shown > max_shown) continue;
    text += (shown > 1 ? ", " : "") + std::to_string(label) + " (" + std::to_string(points) +
            (shown > 1 ? ")" : " points)");
  }
  if (shown > max_shown) text += " and " + std::to_string(shown - max_shown) + " more";
  const auto none = points_of_labels.find(unlabelled_part);
  if (none == points_of_labels.end()) return text;
  return text + (shown > 0 ? ", " : "") + "none (" + std::to_string(none->second) + (shown > 0 ? ")" : " points)");
}

}  // namespace

std::string shape_file_text(const std::filesystem::path& file, const std::string& columns) {
  const DescribedShape shape = described_shape(file, columns);
  const at::Tensor& points = shape.mesh.vertices;
  const at::Tensor low = std::get<0>(points.min(0)), high = std::get<0>(points.max(0));
  std::ostringstream out;
  out << file.string() << ": ";
  if (shape.is_mesh()) {
    out << "a mesh of " << points.size(0) << " vertices and " << shape.mesh.faces.size(0) << " triangles\n"
        << "surface area " << surface_area(shape.mesh) << '\n';
  } else {
    out << "a cloud of " << points.size(0) << " points "
        << (shape.normals.defined() ? "with normals\n" : "without normals\n");
  }
  if (!shape.points_of_labels.empty()) out << labels_text(shape.points_of_labels) << '\n';
  const double extent = (high - low).max().item<double>();
  for (const std::string& warning : shape.warnings) out << warning << '\n';
  for (int64_t axis = 0; axis < 3; ++axis) {
    out << "xyz"[axis] << " from " << coordinate_text(low[axis].item<double>(), extent) << " to "
        << coordinate_text(high[axis].item<double>(), extent) << '\n';
  }
  return out.str();
}

nlohmann::json shape_file_json(const std::filesystem::path& file, const std::string& columns) {
  const DescribedShape shape = described_shape(file, columns);
  const at::Tensor& points = shape.mesh.vertices;
  const auto corner = [](const at::Tensor& point) {
    return nlohmann::json{point[0].item<double>(), point[1].item<double>(), point[2].item<double>()};
  };
  nlohmann::json json{{"file", file.string()},
                      {"warnings", shape.warnings},
                      {"low", corner(std::get<0>(points.min(0)))},
                      {"high", corner(std::get<0>(points.max(0)))}};
  json[shape.is_mesh() ? "vertices" : "points"] = points.size(0);
  if (shape.is_mesh()) {
    json["triangles"] = shape.mesh.faces.size(0);
    json["surface_area"] = surface_area(shape.mesh);
  } else {
    json["normals"] = shape.normals.defined();
  }
  for (const auto& [label, count] : shape.points_of_labels) {
    json["labels"].push_back({{"label", label}, {"points", count}});
  }
  return json;
}

nlohmann::json run_json(const std::filesystem::path& run, const std::string& config,
                        const std::vector<std::string>& class_names, int64_t parameters) {
  return {{"run", run.string()}, {"config", config}, {"classes", class_names}, {"parameters", parameters}};
}

std::string table_text(const std::vector<std::vector<std::string>>& rows) {
  constexpr size_t gap = 2;
  std::vector<size_t> widths = {24, 8};  // at least
  for (const std::vector<std::string>& row : rows) {
    widths.resize(std::max(widths.size(), row.size()), 10);
    for (size_t column = 0; column < row.size(); ++column) {
      widths[column] = std::max(widths[column], row[column].size() + (column == 0 ? 0 : gap));
    }
  }
  std::ostringstream out;
  for (const std::vector<std::string>& row : rows) {
    for (size_t column = 0; column < row.size(); ++column) {
      out << (column == 0 ? std::left : std::right) << std::setw(static_cast<int>(widths[column])) << row[column];
    }
    out << '\n';
  }
  return out.str();
}

std::string json_line(const nlohmann::json& json) {
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";  // may be invalid UTF-8
}

nlohmann::json attention_json(const std::vector<PolynomialDegree>& degrees) {
  nlohmann::json layers = nlohmann::json::array();
  for (const PolynomialDegree& layer : degrees) {
    nlohmann::json one{{"bound", layer.bound}};
    if (layer.exact) {
      one["exact"] = true;
    } else {
      one["degree"] = layer.degree;
      one["error_bound"] = std::isfinite(layer.error) ? nlohmann::json(layer.error) : nlohmann::json();
    }
    layers.push_back(one);
  }
  return layers;
}

std::string attention_text(const std::vector<PolynomialDegree>& degrees) {
  std::ostringstream text;
  text.precision(3);
  for (size_t i = 0; i < degrees.size(); ++i) {
    const PolynomialDegree& layer = degrees[i];
    text << "layer " << i + 1 << ": scores up to " << layer.bound;
    if (layer.exact) {
      text << ", exact attention\n";
    } else if (std::isfinite(layer.error)) {
      text << ", degree " << layer.degree << ", weights within " << 100 * layer.error << " % of softmax\n";
    } else {
      text << ", degree " << layer.degree << ", no bound on the error of its weights\n";
    }
  }
  return text.str();
}

}  // namespace geosft
