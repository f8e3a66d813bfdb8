// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <iostream>

namespace geosft {
namespace {

constexpr double redraw_seconds = 0.1;
constexpr double line_seconds = 30.0;
constexpr int widest_bar = 40;
constexpr int narrowest_bar = 8;

int terminal_width() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

template <typename Call>
void quietly(const Call& call) noexcept {
  try {
    call();
  } catch (...) {  // NOLINT(bugprone-empty-catch): what is shown is lost, the work goes on
  }
}

// Counts columns, not bytes: UTF-8 continuation bytes take no column.
int columns(const std::string& text) {
  return static_cast<int>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

std::string cut(const std::string& text, int width) {
  std::size_t end = 0;
  for (int used = 0; end < text.size(); ++end) {
    if ((text[end] & 0xC0) != 0x80 && ++used > width) break;
  }
  return text.substr(0, end);
}

}  // namespace

std::string duration_text(double seconds) {
  const auto whole = static_cast<long long>(std::llround(std::clamp(seconds, 0.0, 3.6e9)));
  std::array<char, 32> text;
  if (whole >= 3600) {
    std::snprintf(text.data(), text.size(), "%lld:%02lld:%02lld", whole / 3600, whole / 60 % 60, whole % 60);
  } else {
    std::snprintf(text.data(), text.size(), "%lld:%02lld", whole / 60, whole % 60);
  }
  return text.data();
}

ProgressOutput standard_error() {
  return {&std::cerr, isatty(STDERR_FILENO) == 1, terminal_width, steady_seconds};
}

ProgressBar::ProgressBar(std::string label, int64_t total, ProgressOutput output) noexcept
    : label_(std::move(label)), total_(total), output_(std::move(output)) {
  quietly([&] {
    start_ = output_.seconds();
    shown_at_ = start_;
  });
}

ProgressBar::~ProgressBar() {
  quietly([&] {
    if (!finished_ && shown_ && output_.terminal) *output_.out << std::endl;
  });
}

void ProgressBar::start_at(int64_t done) noexcept {
  first_ = done_ = done;
}

void ProgressBar::update(int64_t done, const std::string& suffix) noexcept {
  quietly([&] {
    if (finished_) return;
    done_ = done;
    suffix_ = suffix;
    const double now = output_.seconds();
    const bool first_drawing = output_.terminal && !shown_;
    if (first_drawing || now - shown_at_ >= (output_.terminal ? redraw_seconds : line_seconds)) show(now, false);
  });
}

void ProgressBar::note(const std::string& line) noexcept {
  quietly([&] {
    if (output_.terminal && shown_ && !finished_) *output_.out << "\r\x1b[K";
    *output_.out << line << std::endl;
    if (!output_.terminal) shown_at_ = output_.seconds();
    if (output_.terminal && shown_ && !finished_) show(output_.seconds(), false);
  });
}

void ProgressBar::clear() noexcept {
  quietly([&] {
    if (!output_.terminal || !shown_ || finished_) return;
    *output_.out << "\r\x1b[K" << std::flush;
    shown_ = false;
  });
}

void ProgressBar::finish() noexcept {
  quietly([&] {
    if (finished_) return;
    finished_ = true;
    show(output_.seconds(), true);
  });
}

void ProgressBar::show(double now, bool last) {
  shown_ = true;
  shown_at_ = now;
  if (output_.terminal) {
    // Leaves the last column free: writing to it makes some terminals wrap the line.
    const int width = std::max(output_.width() - 1, 20);
    *output_.out << '\r' << cut(line(now, width), width) << "\x1b[K";
    if (last) *output_.out << '\n';
  } else {
    *output_.out << line(now, 0) << '\n';
  }
  output_.out->flush();
}

std::string ProgressBar::line(double now, int width) const {
  const double elapsed = now - start_;
  std::string tail;
  if (total_ > 0) {
    std::array<char, 16> percent;
    std::snprintf(percent.data(), percent.size(), " %3d %%",
                  static_cast<int>(100.0 * std::min(1.0, double(done_) / total_)));
    tail = std::string(percent.data()) + "  " + std::to_string(done_) + "/" + std::to_string(total_);
  } else {
    tail = " " + std::to_string(done_);
  }
  if (!suffix_.empty()) tail += "  " + suffix_;
  if (finished_) {
    tail += "  in " + duration_text(elapsed);
  } else if (total_ > 0 && done_ > first_ && done_ <= total_) {
    tail += "  " + duration_text(elapsed * (total_ - done_) / (done_ - first_)) + " left";
  }
  const int bar = std::min(width - columns(label_) - columns(tail) - 3, widest_bar);
  if (total_ <= 0 || bar < narrowest_bar) return label_ + tail;
  const int full = static_cast<int>(bar * std::clamp(double(done_) / total_, 0.0, 1.0));
  return label_ + " [" + std::string(full, '#') + std::string(bar - full, '-') + "]" + tail;
}

}  // namespace geosft
