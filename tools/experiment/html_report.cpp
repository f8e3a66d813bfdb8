// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/html_report.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
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
table.facts td { text-align: left; vertical-align: top; } table.facts td + td { overflow-wrap: anywhere; }
table.confusion th[scope=col] { vertical-align: bottom; padding: .15rem .3rem; }
table.confusion th[scope=col] span { writing-mode: vertical-rl; transform: rotate(180deg); font-weight: normal; }
table.confusion th[scope=row] { text-align: left; font-weight: normal; position: sticky; left: 0; background: Canvas; }
table.confusion td { text-align: center; padding: .15rem .3rem; min-width: 1.4rem; }
table.confusion td.right { background: rgb(10 114 196 / calc(var(--share) * .55)); }
table.confusion td.wrong { background: rgb(208 84 20 / calc(.15 + var(--share) * .6)); }
.wide { overflow-x: auto; } .wide td, .wide th { white-space: nowrap; }
figure { margin: 1rem 0; } figure img { max-width: 100%; background: #fff; }
@media (max-width: 40rem) {
.wide td, .wide th { padding: .15rem .4rem; } .wide tr > :first-child { padding-left: 0; }
figure.wide img { max-width: none; width: 38rem; } /* of two panels, the second is seen to begin */
}
figcaption, .faint { color: var(--faint); font-size: .9rem; }
.mistakes { display: grid; grid-template-columns: repeat(auto-fill, minmax(15.5rem, 1fr)); gap: 1rem; }
.mistakes section { border: 1px solid var(--line); border-radius: .5rem; padding: .7rem; overflow-wrap: anywhere; }
.mistakes svg, .mistakes img { width: 100%; height: auto; background: #fff; border-radius: .3rem; }
.viewer { margin: 1rem 0; } .viewer iframe { width: 100%; height: min(80vh, 42rem); border: 1px solid var(--line); border-radius: .5rem; }
.viewer p { display: flex; flex-wrap: wrap; gap: .3rem 1.5rem; margin: .3rem 0; }
.live .mistakes section[data-scene] { cursor: pointer; }
.live .mistakes section[data-scene]:hover, .live .mistakes section.shown { border-color: #0a72c4; box-shadow: 0 0 0 1px #0a72c4; }
[hidden] { display: none !important; }
pre { overflow-x: auto; }
)";

// Shows the scene of the mistake that the address names, by a page in a frame: its script is in the report once. The
// frame has a document of its own, so that one scene follows the other without a trace of the first.
constexpr const char* viewer_script = R"(
'use strict';
(() => {
  const $ = id => document.getElementById(id), cards = [...document.querySelectorAll('[data-scene]')];
  const probe = document.createElement('canvas').getContext('webgl2');
  if (!probe) { $('no-webgl').hidden = false; return; }
  probe.getExtension('WEBGL_lose_context')?.loseContext();
  const [head, body, arrays, tail] = JSON.parse($('viewer-page').textContent).split(/%TITLE%|%SCENE%|%ARRAYS%/);
  let address = '';
  function show(card) {
    const part = kind => card.querySelector('.' + kind).textContent;
    const page = head + JSON.parse(part('title')) + body + part('scene') + arrays + part('arrays') + tail;
    for (const other of cards) other.classList.toggle('shown', other === card);
    $('viewer').setAttribute('aria-busy', 'true');
    $('viewer').onload = () => $('viewer').removeAttribute('aria-busy');
    $('viewer').srcdoc = page;
    $('viewer').title = $('shown').textContent = card.querySelector('b').textContent;
    URL.revokeObjectURL(address);
    address = URL.createObjectURL(new Blob([page], { type: 'text/html' }));
    Object.assign($('save-page'), { href: address, download: card.id + '.html' });
  }
  const named = () => cards.find(card => '#' + card.id === location.hash);
  document.documentElement.classList.add('live');
  $('viewer-box').hidden = false;
  for (const card of cards) card.onclick = event => {
    event.preventDefault();
    try { history.replaceState(null, '', '#' + card.id); } catch (error) { /* a page opened without an address */ }
    show(card);
    $('viewer-box').scrollIntoView({ block: 'nearest' });
  };
  window.onhashchange = () => { if (named()) show(named()); };
  show(named() ?? cards[0]);
})();
)";

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

// Returns a table of the counts: a cell is the darker, the larger the share of its row; zeros are blank.
std::string confusion_html(const ConfusionCounts& confusion) {
  const auto classes = static_cast<int64_t>(confusion.names.size());
  TORCH_CHECK(
      confusion.counts.scalar_type() == at::kLong && confusion.counts.sizes() == at::IntArrayRef({classes, classes}),
      "confusion.counts must be int64 [", classes, ", ", classes, "], got ", confusion.counts.scalar_type(), " ",
      confusion.counts.sizes());
  std::string text =
      "<h2>Confusion matrix</h2>\n<p class=\"faint\">Counts; a row is a true class, a column what was predicted. The "
      "darker a cell, the larger its share of the row.</p>\n<div class=\"wide\"><table class=\"confusion\">\n"
      "<tr><th></th>";
  for (const std::string& name : confusion.names) text += "<th scope=\"col\"><span>" + html_text(name) + "</span></th>";
  text += "</tr>\n";
  for (int64_t row = 0; row < classes; ++row) {
    text += "<tr><th scope=\"row\">" + html_text(confusion.names[static_cast<size_t>(row)]) + "</th>";
    const auto total = std::max(1.0, confusion.counts[row].sum().item<double>());
    for (int64_t column = 0; column < classes; ++column) {
      const int64_t count = confusion.counts[row][column].item<int64_t>();
      if (count == 0) {
        text += "<td></td>";
        continue;
      }
      char share[16];
      std::snprintf(share, sizeof share, "%.2f", static_cast<double>(count) / total);
      text += std::string("<td class=\"") + (row == column ? "right" : "wrong") + "\" style=\"--share:" + share +
              "\">" + std::to_string(count) + "</td>";
    }
    text += "</tr>\n";
  }
  return text + "</table></div>\n";
}

// Returns an image element that holds the picture; `caption` is HTML.
std::string svg_image(const std::string& svg, const std::string& caption) {
  return "<img alt=\"" + caption + "\" src=\"data:image/svg+xml;base64," + base64(svg) + "\">";
}

// Returns the elements that hold a scene until it is shown.
std::string scene_html(const PageScene& scene) {
  const auto data = [](const char* kind, const std::string& text) {
    return "<script type=\"text/plain\" class=\"" + std::string(kind) + "\">" + text + "</script>";
  };
  return data("title", script_json(scene.title)) + data("scene", scene.scene) + data("arrays", scene.arrays) + "\n";
}

std::string mistakes_html(const Mistakes& mistakes) {
  const bool live = std::any_of(mistakes.worst.begin(), mistakes.worst.end(),
                                [](const Mistake& one) { return one.scene.has_value(); });
  std::string text = "<h2>Worst mistakes</h2>\n<p class=\"faint\">" + html_text(mistakes.order) + "</p>\n";
  if (live) {
    text +=
        "<p id=\"no-webgl\" class=\"faint\" hidden>This browser offers no WebGL 2: there are pictures alone.</p>\n"
        "<div id=\"viewer-box\" class=\"viewer\" hidden><iframe id=\"viewer\"></iframe>\n<p><b id=\"shown\"></b> "
        "<span>Click "
        "another one below to see it here.</span> <a id=\"save-page\">Save this view as a page</a></p></div>\n";
  }
  text += "<div class=\"mistakes\">\n";
  for (size_t i = 0; i < mistakes.worst.size(); ++i) {
    const Mistake& one = mistakes.worst[i];
    const std::string id = "mistake-" + std::to_string(i + 1), name = html_text(one.name);
    text += "<section id=\"" + id + "\"" + (one.scene ? " data-scene" : "") + "><b>" +
            (one.scene ? "<a href=\"#" + id + "\">" + name + "</a>" : name) + "</b><br>" + html_text(one.text) + "\n";
    for (const DrawnCloud& cloud : one.clouds) {
      text += "<figure>" + cloud_svg(cloud);
      if (!cloud.caption.empty()) text += "<figcaption>" + html_text(cloud.caption) + "</figcaption>";
      text += "</figure>\n";
    }
    // An image of its own: nothing in it runs as a script, or has effects on the page.
    if (!one.svg.empty()) text += "<figure>" + svg_image(one.svg, name) + "</figure>\n";
    if (one.scene) text += scene_html(*one.scene);
    text += "</section>\n";
  }
  text += "</div>\n";
  if (!live) return text;
  return text + "<script type=\"application/json\" id=\"viewer-page\">" + script_json(mistakes.viewer) +
         "</script>\n<script>" + viewer_script + "</script>\n";
}

}  // namespace

std::string with_commas(std::string text) {
  for (size_t at = text.find("  "); at != std::string::npos; at = text.find("  ", at)) text.replace(at, 2, ", ");
  return text;
}

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

std::string script_json(const nlohmann::json& value) {
  std::string safe;
  for (const char letter : value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)) {
    safe += letter == '<' ? "\\u003c" : std::string(1, letter);
  }
  return safe;
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t at = 0; at < bytes.size(); at += 3) {
    const size_t count = std::min<size_t>(3, bytes.size() - at);
    uint32_t block = 0;
    for (size_t i = 0; i < 3; ++i) block = block << 8 | (i < count ? static_cast<uint8_t>(bytes[at + i]) : 0U);
    for (size_t i = 0; i < 4; ++i) text += i <= count ? digits[block >> (18 - 6 * i) & 63U] : '=';
  }
  return text;
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
    text += "<h2>" + html_text(caption) + "</h2>\n<figure class=\"wide\">" +
            svg_image(read_file(file), html_text(caption)) + "</figure>\n";
  }
  if (!report.table.empty()) text += "<h2>Classes</h2>\n" + table_html(report.table);
  if (report.confusion.counts.defined()) text += confusion_html(report.confusion);
  for (const ReportTable& table : report.more_tables) {
    text += "<h2>" + html_text(table.heading) + "</h2>\n<p class=\"faint\">" + html_text(table.note) + "</p>\n" +
            table_html(table.rows);
  }
  if (!report.mistakes.worst.empty()) text += mistakes_html(report.mistakes);
  return text + "<h2>Configuration</h2>\n<details><summary>all keys</summary><pre>" + html_text(report.config) +
         "</pre></details>\n</body>\n</html>\n";
}

}  // namespace geosft
