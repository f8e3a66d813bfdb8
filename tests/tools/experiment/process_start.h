// SPDX-License-Identifier: Apache-2.0
// Describes what a program is started with, and writes it as a message for a copy of the program that waits before its
// main (wait_before_main.cpp).
#pragma once

#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

namespace geosft::test {

// The exit code of a child that could not be started as it should be.
constexpr int not_started = 127;

// The variable of such a copy: the number of its socket.
constexpr const char* waiting_variable = "GEOSFT_WAIT_BEFORE_MAIN";

// The longest message. It is less than what a socket takes at once.
constexpr size_t max_message_bytes = 100000;

// The header of a message with the two files of a process's output, for sendmsg and recvmsg.
struct MessageHeader {
  using Files = std::array<int, 2>;

  iovec bytes;
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(Files))> control{};
  msghdr about{};

  // The text must outlive it.
  explicit MessageHeader(std::string& text) : bytes{text.data(), text.size()} {
    about.msg_iov = &bytes;
    about.msg_iovlen = 1;
    about.msg_control = control.data();
    about.msg_controllen = control.size();
  }
  MessageHeader(const MessageHeader&) = delete;
  MessageHeader& operator=(const MessageHeader&) = delete;
};

struct ProcessStart {
  std::vector<std::string> words;        // the program and its arguments
  std::vector<std::string> environment;  // NAME=value
  std::string folder;                    // absolute
  rlim_t file_bytes = RLIM_INFINITY;     // no file may grow beyond

  // Neither words nor variables hold a NUL.
  std::string message() const {
    std::string text;
    for (const std::string& field : {std::to_string(words.size()), std::to_string(file_bytes), folder}) {
      text.append(field).push_back('\0');
    }
    for (const auto* list : {&words, &environment}) {
      for (const std::string& field : *list) text.append(field).push_back('\0');
    }
    return text;
  }
  static ProcessStart from_message(const std::string& text) {
    std::vector<std::string> fields;
    for (size_t at = 0; at < text.size(); at = text.find('\0', at) + 1) fields.emplace_back(text.c_str() + at);
    ProcessStart start;
    constexpr int decimal = 10;
    const auto words = fields.begin() + 3;
    const auto variables = words + static_cast<int64_t>(std::stoull(fields[0]));
    start.file_bytes = std::strtoull(fields[1].c_str(), nullptr, decimal);
    start.folder = fields[2];
    start.words.assign(words, variables);
    start.environment.assign(variables, fields.end());
    return start;
  }

  // Gives the calling process, a child, this folder and limit, and these files as its output.
  void take_over(int out, int err) const {
    ::dup2(out, STDOUT_FILENO);
    ::dup2(err, STDERR_FILENO);
    if (::chdir(folder.c_str()) != 0) ::_exit(not_started);
    const rlimit limit{file_bytes, file_bytes};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
};

// The strings as main takes them, as long as they live.
inline std::vector<char*> null_terminated(const std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  for (const std::string& text : strings) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace geosft::test
