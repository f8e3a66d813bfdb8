// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/progress.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <sstream>
#include <stdexcept>

namespace geosft::test::test_progress {

namespace {

// A terminal, or not, with a clock that the test moves.
struct Screen {
  std::ostringstream text;
  double now = 100.0;
  int columns = 80;

  ProgressOutput output(bool terminal) {
    return {&text, terminal, [this] { return columns; }, [this] { return now; }};
  }
  std::string take() {
    std::string result = text.str();
    text.str("");
    return result;
  }
};

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("durations are written as people write them") {
  CHECK(duration_text(0.2) == "0:00");
  CHECK(duration_text(7.4) == "0:07");
  CHECK(duration_text(725) == "12:05");
  CHECK(duration_text(10921) == "3:02:01");
  CHECK(duration_text(-1) == "0:00");
}

TEST_CASE("a cleared bar leaves the line of a terminal to others, and is drawn again at once") {
  Screen screen;
  ProgressBar bar("predicting", 200, screen.output(true));
  bar.clear();
  CHECK(screen.take().empty());
  bar.update(10);
  screen.take();
  bar.clear();
  CHECK(screen.take() == "\r\x1b[K");
  bar.clear();
  CHECK(screen.take().empty());
  bar.update(20);
  CHECK(has(screen.take(), "20/200"));
  ProgressBar lines("predicting", 200, screen.output(false));
  screen.now += 40;
  lines.update(10);
  screen.take();
  lines.clear();
  CHECK(screen.take().empty());
}

TEST_CASE("on a terminal the bar is redrawn, but not too often") {
  Screen screen;
  ProgressBar bar("train", 200, screen.output(true));
  CHECK(screen.take().empty());
  bar.update(0);
  CHECK(has(screen.take(), "  0 %  0/200"));
  screen.now += 0.05;
  bar.update(10);
  CHECK(screen.take().empty());
  screen.now += 10;
  bar.update(50, "loss 1.25");
  const std::string drawn = screen.take();
  CHECK(drawn.front() == '\r');
  CHECK(has(drawn, "train [##"));
  CHECK(has(drawn, "]  25 %  50/200  loss 1.25  0:30 left"));
  CHECK_FALSE(has(drawn, "\n"));
  screen.now += 30;
  bar.update(200, "loss 0.5");
  bar.finish();
  const std::string last = screen.take();
  CHECK(has(last, "100 %  200/200  loss 0.5  in 0:40"));
  CHECK(last.back() == '\n');
  bar.update(200);
  bar.finish();
  CHECK(screen.take().empty());
}

TEST_CASE("the bar is as full as the work is done and fits the terminal") {
  Screen screen;
  for (const int columns : {30, 50, 80, 200}) {
    screen.columns = columns;
    ProgressBar bar("epoch", 4, screen.output(true));
    bar.update(2, "loss 0.123 accuracy 45.6 %");
    std::string line = screen.take();
    line = line.substr(1, line.find('\x1b') - 1);
    CHECK(static_cast<int>(line.size()) < columns);
    CHECK(std::abs(std::count(line.begin(), line.end(), '#') - std::count(line.begin(), line.end(), '-')) <= 1);
    CHECK((columns < 80 || has(line, "##--")));
    bar.finish();
    screen.take();
  }
}

TEST_CASE("elsewhere a plain line is written now and then and at the end") {
  Screen screen;
  ProgressBar bar("train", 100, screen.output(false));
  for (int step = 1; step <= 100; ++step) {
    screen.now += 1;
    bar.update(step);
  }
  bar.finish();
  const std::string text = screen.take();
  CHECK(std::count(text.begin(), text.end(), '\n') == 4);
  CHECK(has(text, "train  30 %  30/100  1:10 left\n"));
  CHECK(has(text, "train 100 %  100/100  in 1:40\n"));
  CHECK_FALSE(has(text, "\r"));
  CHECK_FALSE(has(text, "\x1b"));
  CHECK_FALSE(has(text, "#"));
}

TEST_CASE("the time left of a resumed run is reckoned from where it began") {
  Screen screen;
  ProgressBar bar("train", 100, screen.output(true));
  bar.start_at(80);
  screen.now += 10;
  bar.update(90);
  CHECK(has(screen.take(), "90/100  0:10 left"));
}

TEST_CASE("an unknown end shows what is done") {
  Screen screen;
  ProgressBar bar("reading", 0, screen.output(true));
  bar.update(12, "files");
  CHECK(has(screen.take(), "\rreading 12  files\x1b[K"));
}

TEST_CASE("a note stays above the bar") {
  Screen screen;
  ProgressBar bar("train", 10, screen.output(true));
  bar.note("before");
  CHECK(screen.take() == "before\n");
  bar.update(5);
  screen.take();
  bar.note("epoch 1 done");
  const std::string text = screen.take();
  CHECK(text.find("\r\x1b[Kepoch 1 done\n\rtrain") == 0);
}

TEST_CASE("a bar that an exception leaves ends its line") {
  Screen screen;
  {
    ProgressBar bar("train", 10, screen.output(true));
    bar.update(5);
    screen.take();
  }
  CHECK(screen.take() == "\n");
}

TEST_CASE("progress never throws") {
  Screen screen;
  ProgressOutput output = screen.output(true);
  output.width = []() -> int { throw std::runtime_error("no terminal"); };
  ProgressBar bar("train", 10, output);
  CHECK_NOTHROW(bar.update(5));
  CHECK_NOTHROW(bar.note("x"));
  CHECK_NOTHROW(bar.finish());

  screen.text.exceptions(std::ios::badbit);
  screen.text.setstate(std::ios::failbit);
  ProgressBar broken("train", 10, screen.output(false));
  CHECK_NOTHROW(broken.finish());
}

}  // namespace geosft::test::test_progress
