// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/gnuplot.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include "data/atomic_file.h"
#include "data/read_file.h"
#include "tools/experiment/scratch_folder.h"

namespace geosft {
namespace {

constexpr const char* script_name = "script.gp";
constexpr const char* log_name = "log.txt";
constexpr double points_per_inch = 72.0;

std::string script_of(const Picture& picture) {
  const auto size = [&](int scale) {
    return "size " + std::to_string(scale * picture.width) + "," + std::to_string(scale * picture.height);
  };
  const std::string style = " noenhanced font 'DejaVu Sans,10' background '#ffffff'";
  return "set encoding utf8\n"
         "set terminal pngcairo " +
         size(2) + style +
         " fontscale 2 linewidth 2 pointscale 2\n"
         "set output 'picture.png'\n" +
         picture.script +
         "\nunset output\nreset\n"
         "set terminal svg " +
         size(1) + " dynamic" + style +
         "\n"
         "set output 'picture.svg'\n" +
         picture.script +
         "\nunset output\nreset\n"
         "set terminal pdfcairo size " +
         std::to_string(picture.width / points_per_inch) + "in," + std::to_string(picture.height / points_per_inch) +
         "in" + style +
         "\n"
         "set output 'picture.pdf'\n" +
         picture.script + "\nunset output\n";
}

// gnuplot prints the line where it stopped, a caret below it, and then the error.
std::string last_line(const std::string& text) {
  const std::string_view whole = trimmed(text);
  const std::size_t end = whole.rfind('\n');
  return std::string(end == std::string_view::npos ? whole : whole.substr(end + 1));
}

PlotResult draw_or_throw(const Picture& picture, const std::filesystem::path& stem) {
  const ScratchFolder folder;
  for (const auto& [name, contents] : picture.data) write_file_atomically(folder.path() / name, contents);
  write_file_atomically(folder.path() / script_name, script_of(picture));
  const int status = run_program({"gnuplot", "-d", script_name}, folder.path(), log_name);
  if (status == -ENOENT) return {false, "gnuplot is not installed"};
  if (status < 0) return {false, std::string("gnuplot could not be run: ") + std::strerror(-status)};
  if (status != 0) return {false, "gnuplot failed: " + last_line(read_file(folder.path() / log_name))};
  const auto drawn = [&](const std::string& ending) { return read_file(folder.path() / ("picture" + ending)); };
  if (names_picture(stem)) {
    write_file_atomically(stem, drawn(stem.extension().string()));
    return {true, ""};
  }
  for (const std::string ending : {".png", ".svg"}) write_file_atomically(stem.string() + ending, drawn(ending));
  return {true, ""};
}

// Returns the number of bytes of the UTF-8 character at the start of `text`; 0 if it is invalid.
std::size_t utf8_length(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  if (lead < 0x80) return 1;
  const std::size_t length = lead >= 0xC2 && lead < 0xE0   ? 2
                             : lead >= 0xE0 && lead < 0xF0 ? 3
                             : lead >= 0xF0 && lead < 0xF5 ? 4
                                                           : 0;
  if (length == 0 || length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xC0) != 0x80) return 0;
  }
  return length;
}

std::string quoted_for_gnuplot(std::string_view text, bool double_percent) {
  std::string result = "'";
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    const char letter = text.front();
    if (length == 0) {
      result += '?';
    } else if (length == 1 && (static_cast<unsigned char>(letter) < 0x20 || letter == 0x7f)) {
      result += ' ';
    } else {
      if (letter == '\'' || (letter == '%' && double_percent)) result += letter;
      result += text.substr(0, length);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return result + "'";
}

}  // namespace

PlotResult draw(const Picture& picture, const std::filesystem::path& stem) {
  try {
    return draw_or_throw(picture, stem);
  } catch (const std::exception& error) {
    return {false, error.what()};
  }
}

bool names_picture(const std::filesystem::path& file) {
  const std::string ending = file.extension().string();
  return ending == ".png" || ending == ".svg" || ending == ".pdf";
}

std::string gnuplot_string(std::string_view text) {
  return quoted_for_gnuplot(text, false);
}
std::string gnuplot_tic(std::string_view text) {
  return quoted_for_gnuplot(text, true);
}

int run_program(std::vector<std::string> words, const std::filesystem::path& folder, const std::string& log) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t child = 0;
  const int error = posix_spawnp(&child, arguments.front(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return -error;
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return -errno;
  }
  return status;
}

}  // namespace geosft
