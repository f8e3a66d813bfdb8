// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/html_report.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numbers>

#include "data/read_file.h"
#include "data/safe_join.h"

namespace geosft {
namespace {

constexpr int64_t max_drawn_points = 1500;
constexpr double azimuth = 35, elevation = 20;  // in degrees, as plot_cloud_panels has them

constexpr const char* style = R"(
:root { color-scheme: light dark; --line: #8884; --faint: #888; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 66rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.2rem; margin-top: 2.2rem; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { text-align: right; padding: .15rem .8rem; border-bottom: 1px solid var(--line); }
th:first-child, td:first-child { text-align: left; padding-left: 0; }
table.facts td { text-align: left; overflow-wrap: anywhere; }
.wide { overflow-x: auto; } figure { margin: 1rem 0; } figure img { max-width: 100%; background: #fff; }
figcaption, .faint { color: var(--faint); font-size: .9rem; }
.mistakes { display: grid; grid-template-columns: repeat(auto-fill, minmax(15.5rem, 1fr)); gap: 1rem; }
.mistakes section { border: 1px solid var(--line); border-radius: .5rem; padding: .7rem; overflow-wrap: anywhere; }
.mistakes svg { width: 100%; height: auto; background: #fff; border-radius: .3rem; }
pre { overflow-x: auto; }
)";

std::string base64(const std::string& bytes) {
  constexpr const char* digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (size_t at = 0; at < bytes.size(); at += 3) {
    uint32_t block = 0;
    for (size_t i = 0; i < 3; ++i) {
      block = block << 8 | (at + i < bytes.size() ? static_cast<unsigned char>(bytes[at + i]) : 0U);
    }
    for (size_t i = 0; i < 4; ++i) text += at + i <= bytes.size() ? digits[block >> (18 - 6 * i) & 63] : '=';
  }
  return text;
}

std::string table_html(const std::vector<std::vector<std::string>>& rows) {
  std::string text = "<div class=\"wide\"><table>\n";
  for (size_t row = 0; row < rows.size(); ++row) {
    const std::string cell = row == 0 ? "th" : "td";
    text += "<tr>";
    for (const std::string& one : rows[row]) text += "<" + cell + ">" + html_text(one) + "</" + cell + ">";
    text += "</tr>\n";
  }
  return text + "</table></div>\n";
}

std::string mistakes_html(const Mistakes& mistakes) {
  std::string text = "<h2>Worst mistakes</h2>\n<p class=\"faint\">" + html_text(mistakes.order) + "</p>\n";
  text += "<div class=\"mistakes\">\n";
  for (const Mistake& one : mistakes.worst) {
    text += "<section><b>" + html_text(one.name) + "</b><br>" + html_text(one.text) + "\n";
    for (const DrawnCloud& cloud : one.clouds) {
      text += "<figure>" + cloud_svg(cloud);
      if (!cloud.caption.empty()) text += "<figcaption>" + html_text(cloud.caption) + "</figcaption>";
      text += "</figure>\n";
    }
    text += "</section>\n";
  }
  return text + "</div>\n";
}

}  // namespace

std::string html_text(const std::string& text) {
  std::string escaped;
  for (const char letter : text) {
    switch (letter) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:
        escaped += letter;
    }
  }
  return escaped;
}

std::string cloud_svg(const DrawnCloud& cloud, int size) {
  const int64_t count = cloud.points.size(0);
  TORCH_CHECK(count > 0 && cloud.colours.sizes() == cloud.points.sizes(),
              "colours must be [n, 3] as the points are, got ", cloud.colours.sizes(), " for ", cloud.points.sizes());
  const int64_t step = (count + max_drawn_points - 1) / max_drawn_points;
  at::Tensor points = cloud.points.to(at::kDouble).slice(0, 0, count, step);
  at::Tensor colours = cloud.colours.to(at::kDouble).slice(0, 0, count, step);
  points = points - (std::get<0>(points.max(0)) + std::get<0>(points.min(0))) / 2;
  const double turn = azimuth * std::numbers::pi / 180, raise = elevation * std::numbers::pi / 180;
  const at::Tensor x = points.select(1, 0) * std::cos(turn) - points.select(1, 2) * std::sin(turn);
  const at::Tensor depth = points.select(1, 0) * std::sin(turn) + points.select(1, 2) * std::cos(turn);
  const at::Tensor y = points.select(1, 1) * std::cos(raise) - depth * std::sin(raise);
  const at::Tensor near = points.select(1, 1) * std::sin(raise) + depth * std::cos(raise);
  const double reach = std::max({x.abs().max().item<double>(), y.abs().max().item<double>(), 1e-30});
  const at::Tensor order = near.argsort(), bytes = (colours * 255).round().to(at::kLong).contiguous();
  std::string text = "<svg viewBox=\"0 0 " + std::to_string(size) + " " + std::to_string(size) +
                     "\" xmlns=\"http://www.w3.org/2000/svg\">";
  const double scale = 0.46 * size / reach, middle = 0.5 * size;
  for (int64_t i = 0; i < order.size(0); ++i) {
    const auto row = order[i].item<int64_t>();
    const auto* const colour = bytes.const_data_ptr<int64_t>() + 3 * row;
    char circle[128];
    std::snprintf(circle, sizeof circle, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"2\" fill=\"#%02x%02x%02x\"/>",
                  middle + scale * x[row].item<double>(), middle - scale * y[row].item<double>(),
                  static_cast<unsigned>(colour[0] & 255), static_cast<unsigned>(colour[1] & 255),
                  static_cast<unsigned>(colour[2] & 255));
    text += circle;
  }
  return text + "</svg>";
}

std::string html_page(const HtmlReport& report) {
  std::string text =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>" +
      html_text(report.title) + "</title>\n<style>" + style + "</style>\n</head>\n<body>\n<h1>" +
      html_text(report.title) + "</h1>\n<table class=\"facts\">\n";
  for (const auto& [name, value] : report.facts) {
    text += "<tr><td>" + html_text(name) + "</td><td>" + html_text(value) + "</td></tr>\n";
  }
  text += "</table>\n";
  for (const auto& [caption, file] : report.pictures) {
    if (!path_exists(file)) continue;
    text += "<h2>" + html_text(caption) + "</h2>\n<figure class=\"wide\"><img alt=\"" + html_text(caption) +
            "\" src=\"data:image/svg+xml;base64," + base64(read_file(file)) + "\"></figure>\n";
  }
  if (!report.table.empty()) text += "<h2>Classes</h2>\n" + table_html(report.table);
  if (!report.mistakes.worst.empty()) text += mistakes_html(report.mistakes);
  return text + "<h2>Configuration</h2>\n<details><summary>all keys</summary><pre>" + html_text(report.config) +
         "</pre></details>\n</body>\n</html>\n";
}

}  // namespace geosft
