// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/main_guard.h"

#include <ATen/ATen.h>
#include <c10/util/Exception.h>
#include <catch2/catch.hpp>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <new>
#include <sstream>
#include <stdexcept>
#include <string>

#include "tests/data/files.h"
#include "tools/experiment/arguments.h"

namespace geosft::test::test_main_guard {

namespace {

struct Outcome {
  int code;
  std::string err;
};

Outcome outcome(const std::function<int()>& body) {
  std::ostringstream err;
  std::streambuf* const before = std::cerr.rdbuf(err.rdbuf());
  const int code = run_tool("geosft-some", body);
  std::cerr.rdbuf(before);
  return {code, err.str()};
}

// The outcome in a process of its own whose stdout is `descriptor`; the parent's is left alone.
Outcome outcome_with_stdout(int descriptor, const std::function<int()>& body) {
  std::array<int, 2> err;
  REQUIRE(pipe(err.data()) == 0);
  std::cout.flush();
  const pid_t child = fork();
  if (child == 0) {
    dup2(descriptor, STDOUT_FILENO);
    dup2(err[1], STDERR_FILENO);
    _exit(run_tool("geosft-some", body));
  }
  close(err[1]);
  Outcome result;
  std::array<char, 256> buffer;
  for (ssize_t count = 0; (count = read(err[0], buffer.data(), buffer.size())) > 0;) {
    result.err.append(buffer.data(), static_cast<std::size_t>(count));
  }
  close(err[0]);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  result.code = WEXITSTATUS(status);
  return result;
}

int write_much() {
  for (int line = 0; line < 100000; ++line) std::cout << "a line that somebody should read\n";
  return 0;
}

}  // namespace

TEST_CASE("a line that is given again is printed once") {
  std::ostringstream out;
  LinesOnce notes(out);
  for (const char* line : {"a", "b", "a", "b", "c"}) notes.print(line);
  CHECK(out.str() == "a\nb\nc\n");
}

TEST_CASE("the code of the body is the code of the tool") {
  CHECK(outcome([] { return 0; }).code == 0);
  CHECK(outcome([] { return 5; }).code == 5);
  CHECK(outcome([] { return 0; }).err.empty());
}

TEST_CASE("an exception becomes one line and its exit code") {
  const Outcome use = outcome([]() -> int { throw UsageError("no such option\nand more"); });
  CHECK(use.code == 2);
  CHECK(use.err == "geosft-some: error: no such option\n");

  const Outcome plain = outcome([]() -> int { throw std::runtime_error("disk full"); });
  CHECK(plain.code == 1);
  CHECK(plain.err == "geosft-some: error: disk full\n");

  const Outcome torch = outcome([]() -> int { TORCH_CHECK(false, "points: expected [n, 3]", "\nsecond line"); });
  CHECK(torch.code == 1);
  CHECK(torch.err == "geosft-some: error: points: expected [n, 3]\n");

  const Outcome memory = outcome([]() -> int { throw std::bad_alloc(); });
  CHECK(memory.code == 1);
  CHECK_THAT(memory.err, Catch::StartsWith("geosft-some: error: out of memory. A smaller --batch-size") &&
                             Catch::Contains("in proportion") && Catch::EndsWith("--block N.\n"));

  const Outcome tensor = outcome([] { return static_cast<int>(at::empty({int64_t{1} << 50}).numel()); });
  CHECK(tensor.code == 1);
  CHECK_THAT(tensor.err, Catch::StartsWith("geosft-some: error: out of memory: ") &&
                             Catch::Contains("4503599627370496 bytes") && Catch::Contains("--batch-size"));
  CHECK(std::count(tensor.err.begin(), tensor.err.end(), '\n') == 1);

  const Outcome stop = outcome([]() -> int { throw Interrupted("saved in runs/a"); });
  CHECK(stop.code == 130);
  CHECK(stop.err == "geosft-some: interrupted: saved in runs/a\n");

  const Outcome odd = outcome([]() -> int { throw 3; });
  CHECK(odd.code == 1);
  CHECK(odd.err.find("geosft-some: error: ") == 0);
}

TEST_CASE("the end of the process writes what was printed") {
  std::array<int, 2> out;
  REQUIRE(pipe(out.data()) == 0);
  std::cout.flush();
  const pid_t child = fork();
  if (child == 0) {
    dup2(out[1], STDOUT_FILENO);
    std::cout << "by a stream, ";
    std::fputs("by C", stdout);
    end_process(7);
  }
  close(out[1]);
  std::string text(64, '\0');
  size_t size = 0;
  for (ssize_t got = 1; got > 0; size += static_cast<size_t>(got)) got = read(out[0], &text[size], text.size() - size);
  close(out[0]);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 7);
  CHECK(text.substr(0, size) == "by a stream, by C");
}

TEST_CASE("a stdout that nobody reads ends the tool silently") {
  std::array<int, 2> ends;
  REQUIRE(pipe(ends.data()) == 0);
  close(ends[0]);
  struct ChangesErrno {
    ~ChangesErrno() { errno = ENOENT; }
  };
  const auto write_and_clean_up = [] {
    const ChangesErrno last;
    return write_much();
  };
  for (const auto& body : {std::function<int()>(write_much), std::function<int()>(write_and_clean_up)}) {
    const Outcome result = outcome_with_stdout(ends[1], body);
    CHECK(result.code == 1);
    CHECK(result.err.empty());
  }
  close(ends[1]);
}

TEST_CASE("a stdout on a full disk is an error with its reason") {
  const int full = open("/dev/full", O_WRONLY);
  REQUIRE(full >= 0);
  for (const auto& body :
       {std::function<int()>(write_much), std::function<int()>([] { return std::cout << "short", 0; })}) {
    const Outcome result = outcome_with_stdout(full, body);
    CHECK(result.code == 1);
    CHECK(result.err == "geosft-some: error: cannot write to standard output: No space left on device\n");
  }
  close(full);
}

TEST_CASE("the first signal sets the flag and the second has its usual effect") {
  const Outcome flagged = outcome_with_stdout(STDOUT_FILENO, [] {
    install_interrupt_handler();
    if (interrupted()) return 10;
    raise(SIGINT);
    if (!interrupted()) return 11;
    clear_interrupt();
    if (interrupted()) return 12;
    raise(SIGTERM);
    return interrupted() ? 0 : 13;
  });
  CHECK(flagged.code == 0);

  const pid_t child = fork();
  if (child == 0) {
    install_interrupt_handler();
    raise(SIGTERM);
    raise(SIGTERM);
    _exit(0);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGTERM);
}

TEST_CASE("a signal before the first step removes the empty folders that are named, and says so") {
  const TemporaryFolder temporary;
  const std::filesystem::path above = temporary.path() / "runs", run = above / "first";
  std::filesystem::create_directories(run);
  std::ofstream(temporary.path() / "kept") << "x";
  const auto stopped = [&](int signal) {
    return outcome_with_stdout(STDOUT_FILENO, [&, signal] {
      exit_on_interrupt("in a test", {run, above, temporary.path()});
      raise(signal);
      return 0;
    });
  };
  const Outcome first = stopped(SIGINT);
  CHECK(first.code == 130);
  CHECK(first.err == "geosft-some: interrupted: in a test\n");
  CHECK_FALSE(std::filesystem::exists(above));
  CHECK(std::filesystem::exists(temporary.path() / "kept"));

  std::filesystem::create_directories(run);
  std::ofstream(run / "config.toml") << "x";
  CHECK(stopped(SIGTERM).code == 130);
  CHECK(std::filesystem::exists(run / "config.toml"));
}

TEST_CASE("children of a process that exits on a signal say nothing, and remove nothing") {
  const TemporaryFolder temporary;
  std::filesystem::create_directory(temporary.path() / "run");
  const Outcome result = outcome_with_stdout(STDOUT_FILENO, [&] {
    exit_on_interrupt("in a test", {temporary.path() / "run"});
    const pid_t child = fork();
    if (child == 0) {
      raise(SIGINT);
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
  });
  CHECK(result.code == 130);
  CHECK(result.err.empty());
  CHECK(std::filesystem::exists(temporary.path() / "run"));
}

TEST_CASE("the flag takes the place of an exit at a signal") {
  const Outcome result = outcome_with_stdout(STDOUT_FILENO, [] {
    exit_on_interrupt("in a test", {});
    install_interrupt_handler();
    raise(SIGINT);
    return interrupted() ? 0 : 1;
  });
  CHECK(result.code == 0);
  CHECK(result.err.empty());
}

}  // namespace geosft::test::test_main_guard

namespace geosft::test::test_memory_error {
namespace {

template <class Fail>
std::optional<std::string> text(const Fail& fail) {
  try {
    fail();
  } catch (...) {
    return memory_error(std::current_exception());
  }
  return std::nullopt;
}

// As C10_CUDA_CHECK throws them.
[[noreturn]] void throw_accelerator_error(int32_t code, const std::string& message) {
  throw c10::AcceleratorError({__func__, __FILE__, __LINE__}, code, message);
}

}  // namespace

TEST_CASE("too little memory is told from other errors") {
  CHECK(text([] { throw std::bad_alloc(); }) == "out of memory");
  CHECK_THAT(text([] { at::empty({int64_t{1} << 50}); }).value(),
             Catch::StartsWith("out of memory: ") && Catch::Contains("4503599627370496 bytes"));
  const auto gpu = [] { TORCH_CHECK_WITH(OutOfMemoryError, false, "CUDA out of memory.\nMore"); };
  CHECK(text(gpu) == "out of memory: CUDA out of memory.");
  CHECK_FALSE(text([] { TORCH_CHECK(false, "points: expected [n, 3]"); }));
  CHECK_FALSE(text([] { throw std::runtime_error("disk full"); }));
  CHECK_FALSE(text([] { throw 3; }));
}

TEST_CASE("a GPU's want of memory is understood where LibTorch's allocator did not ask for it") {
  const auto allocation = [] {
    throw_accelerator_error(2, "CUDA error: out of memory\nSearch for `cudaErrorMemoryAllocation' in https://…");
  };
  CHECK(text(allocation) == "out of memory: CUDA error: out of memory");
  const auto named = [] { throw_accelerator_error(2, "CUDA error: no room\nSearch for `cudaErrorMemoryAllocation'"); };
  CHECK(text(named) == "out of memory: CUDA error: no room");
  const auto cublas = [] {
    TORCH_CHECK(false, "CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`");
  };
  CHECK(text(cublas) == "out of memory: CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`");
  const auto launch = [] { TORCH_CHECK(false, "knn: CUDA did not take a kernel: out of memory"); };
  CHECK(text(launch) == "out of memory: knn: CUDA did not take a kernel: out of memory");
  CHECK_FALSE(text([] { throw_accelerator_error(700, "CUDA error: an illegal memory access was encountered"); }));
  CHECK_FALSE(text([] { TORCH_CHECK(false, "CUDA error: CUBLAS_STATUS_NOT_INITIALIZED when calling …"); }));
}

}  // namespace geosft::test::test_memory_error
