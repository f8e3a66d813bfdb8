// SPDX-License-Identifier: Apache-2.0
// Shows the progress of long computations on stderr.
#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string>

namespace geosft {

// Output and clock of a progress bar.
struct ProgressOutput {
  std::ostream* out = nullptr;
  bool terminal = false;            // redraw one line; otherwise print a line at intervals
  std::function<int()> width;       // columns of the terminal
  std::function<double()> seconds;  // monotonic clock
};

// Returns stderr, with a check for a terminal; the width is queried at every redraw.
ProgressOutput standard_error();

// On a terminal
//     epoch 3/20 [#########------------]  45 %  120/266  loss 1.23  1:05 left
// redrawn at most ten times per second; otherwise the same without the bar, as a line every 30 seconds and at the end.
// No member throws: a progress bar never ends the work it shows.
class ProgressBar {
 public:
  // `total` <= 0: the total is unknown, and only the count is shown.
  ProgressBar(std::string label, int64_t total, ProgressOutput output = standard_error()) noexcept;
  // Ends the line of a bar that an exception left unfinished.
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  // Sets the initial count of a resumed run; the remaining time is estimated from there.
  void start_at(int64_t done) noexcept;
  void update(int64_t done, const std::string& suffix = "") noexcept;
  // Prints a permanent line above the bar, or in place of the next line at intervals.
  void note(const std::string& line) noexcept;
  // Removes the bar from a terminal, so that others can print there; the next update draws it again.
  void clear() noexcept;
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

// Returns "0:07", "12:05", "3:02:01".
std::string duration_text(double seconds);

}  // namespace geosft
