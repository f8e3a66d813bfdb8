// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/main_guard.h"

#include <c10/util/Exception.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <new>
#include <optional>
#include <string>

#include "tools/experiment/arguments.h"

namespace geosft {
namespace {

constexpr int done = 0;
constexpr int failure = 1;
constexpr int wrong_use = 2;
constexpr int stopped = 130;

// Signal handlers can access only static storage.
std::atomic<bool> signal_received{false};
static_assert(std::atomic<bool>::is_always_lock_free);

extern "C" void geosft_note_signal(int signal) {
  signal_received.store(true);
  std::signal(signal, SIG_DFL);
}

// Describes what exit_on_interrupt does, and for which process: children inherit the handler.
struct Exit {
  pid_t process = 0;
  std::string line;
  std::vector<std::string> folders;
};
Exit planned_exit;
std::atomic<const Exit*> at_signal{nullptr};  // null while planned_exit changes
std::string tool_name = "geosft";

std::atomic<bool> exit_handlers_kept{GEOSFT_KEEP_EXIT_HANDLERS};

// Returns whether a library that is loaded before the program, such as a profiler, may report when it ends.
bool is_observed() {
  return std::getenv("LD_PRELOAD") != nullptr || std::getenv("CUDA_INJECTION64_PATH") != nullptr;
}

extern "C" void geosft_exit_at_signal(int) {
  const Exit* const planned = at_signal.load();
  if (planned != nullptr && planned->process == ::getpid()) {
    for (const std::string& folder : planned->folders) ::rmdir(folder.c_str());
    static_cast<void>(!::write(STDERR_FILENO, planned->line.data(), planned->line.size()));
  }
  ::_exit(stopped);
}

int report(const char* name, const std::string& message, int code) {
  const std::string line = std::string(name) + ": " + message + "\n";
  std::cerr << line << std::flush;  // one write: other processes may write in between
  return code;
}

int report_error(const char* name, const std::string& text) {
  const std::optional<std::string> memory = memory_error(std::current_exception());
  return report(name, "error: " + (memory ? *memory + smaller_batches() : first_line(text)), failure);
}

// Returns whether nobody reads standard output any more: errno may be of what was cleaned up since.
bool is_closed_pipe() {
  pollfd out{STDOUT_FILENO, 0, 0};
  return ::poll(&out, 1, 0) > 0 && (out.revents & POLLERR) != 0;
}

int report_stdout(const char* name, int reason) {
  if (reason == EPIPE || is_closed_pipe()) return failure;
  return report(name, std::string("error: cannot write to standard output: ") + std::strerror(reason), failure);
}

// Makes std::cout throw on failure. Must end before errors are reported: std::cerr flushes std::cout first.
class ThrowingStdout {
 public:
  ThrowingStdout() : mask_(std::cout.exceptions()) { std::cout.exceptions(std::ios_base::badbit); }
  ~ThrowingStdout() { std::cout.exceptions(mask_ & ~std::cout.rdstate()); }
  ThrowingStdout(const ThrowingStdout&) = delete;
  ThrowingStdout& operator=(const ThrowingStdout&) = delete;

 private:
  std::ios_base::iostate mask_;
};

int guarded(const char* name, const std::function<int()>& body) {
  try {
    const ThrowingStdout throwing;
    const int code = body();
    std::cout.flush();
    return code;
  } catch (const Interrupted& stop) {
    return report(name, std::string("interrupted: ") + first_line(stop.what()), stopped);
  } catch (const UsageError& error) {
    return report(name, std::string("error: ") + first_line(error.what()), wrong_use);
  } catch (const c10::Error& error) {
    return report_error(name, error.what_without_backtrace());
  } catch (const std::exception& error) {
    const int reason = errno;
    if (!std::cout) return report_stdout(name, reason);
    return report_error(name, error.what());
  } catch (...) {
    return report(name, "error: an exception of an unknown type", failure);
  }
}

}  // namespace

void install_interrupt_handler() {
  std::signal(SIGINT, geosft_note_signal);
  std::signal(SIGTERM, geosft_note_signal);
}

void exit_on_interrupt(const std::string& message, const std::vector<std::filesystem::path>& folders) {
  at_signal.store(nullptr);
  // On a terminal, the line of a progress bar is ended.
  const std::string begin = ::isatty(STDERR_FILENO) == 1 ? "\n" : "";
  planned_exit = {::getpid(), begin + tool_name + ": interrupted: " + message + "\n", {}};
  for (const std::filesystem::path& folder : folders) planned_exit.folders.push_back(folder.string());
  at_signal.store(&planned_exit);
  std::signal(SIGINT, geosft_exit_at_signal);
  std::signal(SIGTERM, geosft_exit_at_signal);
}

bool interrupted() {
  return signal_received.load();
}
void throw_if_interrupted(const char* where) {
  if (interrupted()) throw Interrupted(where);
}
void clear_interrupt() {
  signal_received.store(false);
}

int run_tool(const char* name, const std::function<int()>& body) {
  // Makes a closed stdout a stream error instead of a silent end of the process.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow (ulimit -f) is an error of its write
  tool_name = name;
  return guarded(name, body);
}

void keep_exit_handlers() {
  exit_handlers_kept.store(true);
}

void end_process(int code) {
  if (exit_handlers_kept.load() || is_observed()) std::exit(code);
  std::cout.flush();
  std::fflush(nullptr);
  std::quick_exit(code);
}

namespace {

std::string text_of(const c10::Error& error) {
  const std::string text = error.what_without_backtrace();
  return text.substr(0, text.find('\n'));
}

// LibTorch's CPU allocator has no error type of its own; the end of its message gives the requested size.
std::optional<std::string> cpu_allocation(const std::string& text) {
  const size_t allocator = text.find("DefaultCPUAllocator: ");
  return allocator == std::string::npos ? std::nullopt : std::optional(text.substr(allocator));
}

// Allocations outside LibTorch's GPU allocator (contexts, kernels, cuBLAS and other libraries, page-locked memory) fail
// with an ordinary c10::AcceleratorError or c10::Error, recognised by its text.
bool is_gpu_allocation(const c10::Error& error) {
  constexpr std::array<const char*, 4> said{"CUDA error: out of memory", "cudaErrorMemoryAllocation",
                                            "CUDA did not take a kernel: out of memory", "_STATUS_ALLOC_FAILED"};
  const std::string text = error.what_without_backtrace();
  return std::any_of(said.begin(), said.end(),
                     [&](const char* words) { return text.find(words) != std::string::npos; });
}

}  // namespace

std::string smaller_batches(const std::string& option) {
  return ". A smaller " + option +
         " (when evaluating: --evaluation-batch) needs less in proportion; of one large cloud, geosft-segment's "
         "--block N.";
}

void LinesOnce::print(const std::string& line) {
  const std::lock_guard lock(mutex_);
  if (printed_.insert(line).second) to_ << line << '\n';
}

LinesOnce& stderr_notes() {
  static LinesOnce notes(std::cerr);
  return notes;
}

std::optional<std::string> memory_error(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const std::bad_alloc&) {
    return "out of memory";
  } catch (const c10::OutOfMemoryError& gpu) {
    return "out of memory: " + text_of(gpu);
  } catch (const c10::Error& other) {
    const std::string text = text_of(other);
    if (const auto cpu = cpu_allocation(text)) return "out of memory: " + *cpu;
    return is_gpu_allocation(other) ? std::optional("out of memory: " + text) : std::nullopt;
  } catch (...) {
    return std::nullopt;
  }
}

}  // namespace geosft
