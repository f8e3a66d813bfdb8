// SPDX-License-Identifier: Apache-2.0
// An invisible display for the time of a test, and what is on it.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <optional>
#include <string>

#include "tests/environment.h"

namespace geosft::test {

// Sets a variable of this process, and of its children, and puts it back.
class Environment {
 public:
  Environment(const char* name, const std::optional<std::string>& value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    set(value);
  }
  ~Environment() { set(before_); }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  void set(const std::optional<std::string>& value) const {
    if (value) {
      ::setenv(name_, value->c_str(), 1);
    } else {
      ::unsetenv(name_);
    }
  }
  const char* name_;
  std::optional<std::string> before_;
};

inline bool installed(const std::string& program) {
  return std::system(("command -v " + program + " >/dev/null 2>&1").c_str()) == 0;
}

// Xvfb with software OpenGL, or without any, as the display; not there() where it is not installed.
class VirtualScreen {
 public:
  explicit VirtualScreen(bool opengl = true) {
    if (!installed("Xvfb")) return;
    // Two processes must not have one number, even one after the other: a server that ends removes the socket of this
    // number, which may be that of the next server by then. So each counts from its own number on, and waits for its
    // servers to end.
    constexpr int tries = 20, numbers = 50000;
    std::string display;
    for (int i = 0; i < tries && display.empty(); ++i) {
      display = started(":" + std::to_string(1000 + (::getpid() + i) % numbers), opengl);
    }
    REQUIRE_FALSE(display.empty());
    display_.emplace("DISPLAY", display);
    software_.emplace("LIBGL_ALWAYS_SOFTWARE", "1");
    leaks_.emplace("LSAN_OPTIONS", "detect_leaks=0");  // the driver's: it is gone when leaks are looked for
  }
  ~VirtualScreen() { end(); }
  VirtualScreen(const VirtualScreen&) = delete;
  VirtualScreen& operator=(const VirtualScreen&) = delete;

  // False, with a word to the reader, where the test must be left out.
  bool there() const {
    if (server_ <= 0) leave_out("no Xvfb: windows are not tested");
    return server_ > 0;
  }

 private:
  // Starts a server. Returns its display, or nothing if that is in use.
  std::string started(const std::string& display, bool opengl) {
    std::array<int, 2> pipe = {};
    REQUIRE(::pipe(pipe.data()) == 0);
    server_ = ::fork();
    if (server_ == 0) {
      ::close(pipe[0]);
      const int null = ::open("/dev/null", O_WRONLY);
      ::dup2(null, STDERR_FILENO);
      const std::string channel = std::to_string(pipe[1]);
      ::execlp("Xvfb", "Xvfb", display.c_str(), "-displayfd", channel.c_str(), "-screen", "0", "1280x1024x24",
               "-nolisten", "tcp", opengl ? static_cast<char*>(nullptr) : "-extension", "GLX",
               static_cast<char*>(nullptr));
      ::_exit(127);
    }
    ::close(pipe[1]);
    bool ready = false;  // the server then writes the number of the display, all of which must be read
    for (char c = 0; !ready && ::read(pipe[0], &c, 1) == 1;) ready = c == '\n';
    ::close(pipe[0]);
    if (!ready) end();
    return ready ? display : "";
  }
  void end() {
    if (server_ <= 0) return;
    ::kill(server_, SIGTERM);
    ::waitpid(server_, nullptr, 0);
    server_ = -1;
  }

  pid_t server_ = -1;
  std::optional<Environment> display_, software_, leaks_;
};

}  // namespace geosft::test
