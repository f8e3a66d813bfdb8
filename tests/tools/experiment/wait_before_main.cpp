// SPDX-License-Identifier: Apache-2.0
// Preloaded, it keeps a program from its main when all libraries are loaded, which takes most of the time of a short
// run. For each message (process_start.h) with two files for its output, the program makes a copy of itself, answers
// with the copy's process id, and the copy runs main. The copy is a child of the process that asks. (loaded_program.h)
#include <dlfcn.h>
#include <sched.h>
#include <sys/syscall.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "tests/tools/experiment/process_start.h"

namespace {

using geosft::test::ProcessStart;
using Main = int (*)(int, char**, char**);

Main main_of_program = nullptr;

// Waits for a message. Returns it with its files, and nothing when the other side is gone.
std::string receive(int socket, std::array<int, 2>& files) {
  std::string message(geosft::test::max_message_bytes, '\0');
  geosft::test::MessageHeader header(message);
  const ssize_t received = ::recvmsg(socket, &header.about, MSG_CMSG_CLOEXEC);
  if (received <= 0) return {};
  std::memcpy(files.data(), CMSG_DATA(CMSG_FIRSTHDR(&header.about)), sizeof(files));
  message.resize(static_cast<size_t>(received));
  return message;
}

// No thread exists before main, so that the copy is complete.
pid_t copy_as_sibling() {
  return static_cast<pid_t>(::syscall(SYS_clone, CLONE_PARENT | SIGCHLD, nullptr, nullptr, nullptr, nullptr));
}

[[noreturn]] void run(const ProcessStart& start, const std::array<int, 2>& files) {
  start.take_over(files[0], files[1]);
  std::vector<char*> words = geosft::test::null_terminated(start.words);
  std::vector<char*> variables = geosft::test::null_terminated(start.environment);
  ::environ = variables.data();
  std::exit(main_of_program(static_cast<int>(start.words.size()), words.data(), ::environ));
}

int serve(int, char**, char**) {
  const int socket = std::atoi(std::getenv(geosft::test::waiting_variable));
  while (true) {
    std::array<int, 2> files{};
    const std::string message = receive(socket, files);
    if (message.empty()) ::_exit(0);
    const pid_t copy = copy_as_sibling();
    if (copy == 0) {
      ::close(socket);
      run(ProcessStart::from_message(message), files);
    }
    for (const int file : files) ::close(file);
    if (::send(socket, &copy, sizeof(copy), MSG_NOSIGNAL) != sizeof(copy)) ::_exit(1);
  }
}

}  // namespace

// Takes the place of the function that a program's entry calls, and which calls main.
extern "C" int __libc_start_main(Main main, int count, char** words, void (*begin)(), void (*end)(), void (*unload)(),
                                 void* stack) {
  main_of_program = main;
  const auto start = reinterpret_cast<decltype(&__libc_start_main)>(::dlsym(RTLD_NEXT, "__libc_start_main"));
  return start(serve, count, words, begin, end, unload, stack);
}
