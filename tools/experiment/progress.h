// SPDX-License-Identifier: Apache-2.0
// Progress of something long, on stderr.
#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string>

namespace geosft {

// Where progress goes.
struct ProgressOutput {
  std::ostream* out = nullptr;
  bool terminal = false;            // redraw one line; otherwise plain lines now and then
  std::function<int()> width;       // columns of the terminal
  std::function<double()> seconds;  // a clock that never runs backwards
};

// stderr as it is: a terminal or not, its width asked for at every drawing.
ProgressOutput standard_error();

// On a terminal
//     epoch 3/20 [#########------------]  45 %  120/266  loss 1.23  1:05 left
// redrawn at most ten times a second; elsewhere the same without the bar as a line every 30 seconds and at the end.
// No member throws: a progress bar never ends the work it shows.
class ProgressBar {
 public:
  // `total` 0 or less: the end is unknown, and only what is done is shown.
  ProgressBar(std::string label, int64_t total, ProgressOutput output = standard_error()) noexcept;
  // Finishes the line of a bar that was left by an exception.
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  // Where this run began, when it is not zero (a resumed epoch): the time left is reckoned from there.
  void start_at(int64_t done) noexcept;
  void update(int64_t done, const std::string& suffix = "") noexcept;
  // A line of its own that stays, above the bar.
  void note(const std::string& line) noexcept;
  // Draws the last state and ends the line. Later calls do nothing.
  void finish() noexcept;

 private:
  void show(double now, bool last);
  std::string line(double now, int width) const;

  std::string label_;
  int64_t total_;
  ProgressOutput output_;
  std::string suffix_;
  int64_t done_ = 0;
  int64_t first_ = 0;
  double start_ = 0.0;
  double shown_at_ = 0.0;
  bool shown_ = false;
  bool finished_ = false;
};

// "0:07", "12:05", "3:02:01".
std::string duration_text(double seconds);

}  // namespace geosft
