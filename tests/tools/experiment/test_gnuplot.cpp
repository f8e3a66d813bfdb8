// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/gnuplot.h"

#include <catch2/catch.hpp>

#include <sys/wait.h>
#include <unistd.h>
#include <cerrno>
#include <cstdlib>
#include <set>

#include "data/read_file.h"
#include "tests/data/files.h"
#include "tests/environment.h"
#include "tests/tools/experiment/pictures.h"

namespace geosft::test::test_gnuplot {

namespace {

Picture line_picture() {
  Picture picture;
  picture.script = "plot 'line' using 1:2 with lines";
  picture.data = {{"line", "0 0\n1 1\n"}};
  return picture;
}

std::set<std::string> picture_folders(const std::filesystem::path& parent) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(parent)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("geosft_plot_")) names.insert(name);
  }
  return names;
}

// A program of the name gnuplot that kills who starts it.
void write_killing_gnuplot(const std::filesystem::path& folder) {
  const std::filesystem::path program = folder / "gnuplot";
  write_text(program, "#!/bin/sh\nkill -9 $PPID\n");
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
}

}  // namespace

TEST_CASE("what a drawing that was killed has left is removed by the next one, and nothing else") {
  const test::TemporaryFolder folder;
  write_killing_gnuplot(folder / "bin");
  const test::EnvironmentVariable temporary("TMPDIR", folder.path().string());
  const std::string running = "geosft_plot_" + std::to_string(::getpid()) + "_abcdef";
  std::filesystem::create_directory(folder / running);
  const pid_t killed = ::fork();
  if (killed == 0) {
    ::setenv("PATH", (folder / "bin").c_str(), 1);
    draw(line_picture(), folder / "picture");
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(killed, &status, 0);
  REQUIRE(WIFSIGNALED(status));
  const std::set<std::string> left = picture_folders(folder.path());
  REQUIRE(left.size() == 2);
  const std::string abandoned = *left.begin() == running ? *left.rbegin() : *left.begin();
  CHECK_THAT(abandoned, Catch::StartsWith("geosft_plot_" + std::to_string(killed) + "_"));
  CHECK(std::filesystem::exists(folder / abandoned / "line"));
  draw(line_picture(), folder / "picture");
  CHECK(picture_folders(folder.path()) == std::set<std::string>{running});
}

TEST_CASE("a picture is left as PNG and SVG") {
  const test::PictureFolder folder;
  test::require_picture(draw(line_picture(), folder.stem()), folder);
}

TEST_CASE("without gnuplot the reason is given and nothing is left behind") {
  const test::PictureFolder folder;
  const test::EnvironmentVariable nowhere("PATH", "/nonexistent");
  const PlotResult result = draw(line_picture(), folder.stem());
  CHECK_FALSE(result);
  CHECK(result.reason == "gnuplot is not installed");
  CHECK(folder.empty());
}

TEST_CASE("a script that fails and a place that cannot be written are reasons, not exceptions") {
  if (!has_gnuplot()) return;
  const test::PictureFolder folder;
  Picture broken = line_picture();
  broken.script = "plot 'line' using nonsense nonsense";
  const PlotResult failed = draw(broken, folder.stem());
  CHECK_FALSE(failed);
  CHECK(failed.reason.find("gnuplot failed: ") == 0);
  CHECK(failed.reason.find('\n') == std::string::npos);
  CHECK(folder.empty());

  const PlotResult nowhere = draw(line_picture(), folder.stem() / "missing" / "picture");
  CHECK_FALSE(nowhere);
  CHECK(nowhere.reason.find("missing") != std::string::npos);
}

TEST_CASE("the ending of a file chooses the one picture that is written") {
  if (!has_gnuplot()) return;
  const TemporaryFolder folder;
  const Picture picture{.script = "plot x"};
  for (const auto& [ending, begin] : {std::pair(".png", "\x89PNG"), {".svg", "<?xml"}, {".pdf", "%PDF"}}) {
    const std::filesystem::path file = folder / (std::string("x") + ending);
    REQUIRE(draw(picture, file));
    CHECK(read_file(file).starts_with(begin));
  }
  CHECK(std::distance(std::filesystem::directory_iterator(folder / ""), std::filesystem::directory_iterator()) == 3);
}

TEST_CASE("any text becomes a gnuplot string of exactly this text") {
  CHECK(gnuplot_string("chair") == "'chair'");
  CHECK(gnuplot_string("it's") == "'it''s'");
  CHECK(gnuplot_string("a\nb\tc\x7f") == "'a b c '");
  CHECK(gnuplot_string("`ls` $HOME \\n \"q\" 100%") == "'`ls` $HOME \\n \"q\" 100%'");
  CHECK(gnuplot_tic("100%d") == "'100%%d'");
  CHECK(gnuplot_string("ü € 😀") == "'ü € 😀'");
  CHECK(gnuplot_string("\xff"
                       "a\xc3") == "'?a?'");
  CHECK(gnuplot_string("\xc0\xaf") ==
        "'?"
        "?'");
  CHECK(gnuplot_string("") == "''");
}

TEST_CASE("titles and labels show as they are") {
  const test::PictureFolder folder;
  const std::string text = "it's_a `ls` {x}^2 @y 100%d \\n $HOME";
  Picture picture = line_picture();
  picture.script =
      "set title " + gnuplot_string(text) + "\nset xtics (" + gnuplot_tic(text) + " 0.5)\n" + picture.script;
  if (!test::require_picture(draw(picture, folder.stem()), folder)) return;
  CHECK(test::occurrences(folder.svg(), "it's_a `ls` {x}^2 @y 100%d \\n $HOME") >= 2);
}

}  // namespace geosft::test::test_gnuplot

namespace geosft::test::test_run_program {

TEST_CASE("a program runs in its folder, without a shell, and what it prints is kept") {
  const TemporaryFolder folder;
  const int status = run_program({"sh", "-c", "pwd; echo \"$0\" >&2; exit 3", "a 'b' $HOME"}, folder.path(), "log.txt");
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 3);
  CHECK(read_file(folder / "log.txt") == folder.path().string() + "\na 'b' $HOME\n");
}

TEST_CASE("a program that is not there is told from one that fails") {
  const TemporaryFolder folder;
  CHECK(run_program({"geosft-no-such-program"}, folder.path(), "log.txt") == -ENOENT);
  CHECK(run_program({"false"}, folder.path(), "log.txt") > 0);
}

}  // namespace geosft::test::test_run_program
