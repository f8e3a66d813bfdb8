// SPDX-License-Identifier: Apache-2.0
// Shared by the main function of every tool: one-line errors on stderr, exit codes, a clean stop on Ctrl-C, and errors
// of memory.
#pragma once

#include <exception>
#include <filesystem>
#include <functional>
#include <iosfwd>
#include <mutex>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace geosft {

// Thrown by a body that stopped because of interrupted(), after saving its state: exit code 130.
class Interrupted : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Makes SIGINT and SIGTERM set the flag that interrupted() reads. A second signal ends the process immediately, so that
// a hanging body can be stopped.
void install_interrupt_handler();
// Makes SIGINT and SIGTERM end the process at once with exit code 130 and the line "geosft-classify: interrupted:
// message", after removing those of `folders`, in this order, that are empty. For work that does not ask interrupted(),
// such as reading a dataset; install_interrupt_handler() takes its place.
void exit_on_interrupt(const std::string& message, const std::vector<std::filesystem::path>& folders);
bool interrupted();
// Throws Interrupted(where) if a signal was received.
void throw_if_interrupted(const char* where);
// Clears the flag.
void clear_interrupt();

// Runs the body of a tool and returns the exit code: the body's own (0: done), 2 for UsageError, 130 for Interrupted, 1
// for any other exception. An exception becomes one line on stderr, "geosft-classify: error: …". If stdout is a closed
// pipe (`geosft-classify … | head -1`), the tool ends silently with 1; other failures to write to it are errors.
int run_tool(const char* name, const std::function<int()>& body);

// Ends the process with the exit code of a tool, as the last step of main, without destroying static objects: those of
// LibTorch take 0.06 s, a quarter of the time of a short command. Child processes that read files end by themselves.
// Calls std::exit instead in builds with sanitizers, after keep_exit_handlers(), and beside a preloaded library.
[[noreturn]] void end_process(int code);
// Makes end_process() run the handlers of std::exit: those of MPI end the processes that wait for this one.
void keep_exit_handlers();

// Prints lines, each once however often it is given: both splits of a dataset may have the same warnings, and a split
// may be opened again. Threads may share it.
class LinesOnce {
 public:
  explicit LinesOnce(std::ostream& to) : to_(to) {}
  void print(const std::string& line);

 private:
  std::ostream& to_;
  std::mutex mutex_;
  std::set<std::string> printed_;
};
// Returns the notes of this process on stderr.
LinesOnce& stderr_notes();

// Returns "out of memory" with the requested size if known; nullopt for other errors. Recognises errors of LibTorch's
// CPU and GPU allocators, of C++ allocation, and of CUDA and its libraries.
std::optional<std::string> memory_error(const std::exception_ptr& error);

// Returns general advice, appended to the message; `option` limits the batches of the training.
std::string smaller_batches(const std::string& option = "--batch-size");
inline constexpr const char* one_large_cloud = "; of one large cloud, geosft-segment's --block N needs less";

}  // namespace geosft
