// SPDX-License-Identifier: Apache-2.0
#include "data/isolated_reader.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>

#include "data/data_error.h"
#include "tests/support.h"

namespace geosft::test::test_isolated_reader {
namespace {

// What became of a request to take so much memory beyond what there was.
std::string take(size_t mebibytes) {
  void* room = ::mmap(nullptr, mebibytes << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return room == MAP_FAILED ? "too much" : "taken";
}

// Takes all memory that the process may have, in pieces down to a mebibyte: also what the heap has kept free since
// before the fork, which no limit counts. The allocators of sanitizers keep none, and end a process that asks for more
// than there is.
void take_all() {
  for (size_t mebibytes = 64; mebibytes > 0; mebibytes /= 2) {
    while (take(mebibytes) == "taken") continue;
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    void* volatile piece = nullptr;  // or the compiler would leave the call out
    do {
      piece = std::malloc(mebibytes << 20);
    } while (piece != nullptr);
#endif
  }
}

// Does what it is asked for: "END of itself", "take MEBIBYTES", …
std::string obey(const std::string& request) {
  if (request == "pid") return std::to_string(::getpid());
  if (request == "refuse") throw DataError("file", "good", "bad");
  if (request == "throw") throw std::runtime_error("failed");
  if (request == "segv") ::raise(SIGSEGV);
  if (request == "fpe") ::raise(SIGFPE);
  if (request == "abort") ::abort();
  if (request == "exit") ::_exit(0);
  if (request == "allow 200") ReaderRoom::allow(size_t{200} << 20);
  if (request == "take all") take_all();
  if (request == "take all") return "taken";
  if (request.starts_with("take ")) return take(std::stoul(request.substr(5)));
  if (request == "loop") {
    for (std::atomic<int> i = 0;; ++i) continue;
  }
  return request;
}

// Counts requests to a file; one that is called "bad end" cannot be closed.
ReaderWork counting(const std::string& file) {
  struct State {
    explicit State(bool is_bad) : bad(is_bad) {}
    ~State() {
      if (bad) ::abort();
    }
    bool bad;
    int asked = 0;
  };
  return [file, state = std::make_shared<State>(file == "bad end")](const std::string& request, ReaderRoom&) {
    return obey(request) + (request.empty() ? file + std::to_string(++state->asked) + std::string(1, '\0') : "");
  };
}

ReaderWork numbers(const std::string&) {
  return [](const std::string& request, ReaderRoom& room) -> std::string {
    const size_t count = std::stoul(request);
    auto* out = static_cast<float*>(room.take(count * sizeof(float)));
    for (size_t i = 0; i < count; ++i) out[i] = static_cast<float>(i + count);
    return "";
  };
}

std::optional<std::string> asked(const std::string& request) {
  return IsolatedReader("file", 0, counting).ask(request);
}

std::string child_of_a_file(const std::string& file = "file") {
  return IsolatedReader(file, 0, counting).ask("pid").value();
}

// Waits until a child has ended by itself. Who started it is still to be told so.
void wait_for_end(const std::string& child) {
  siginfo_t end{};
  REQUIRE(::waitid(P_PID, static_cast<id_t>(std::stoul(child)), &end, WEXITED | WNOWAIT) == 0);
}

// The children that other cases have left in the pool end within a second: after that a case begins with none, and
// counts the files of its own children.
void wait_for_all_children() {
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream children(thread.path() / "children");
    for (std::string child; children >> child;) wait_for_end(child);
  }
}

}  // namespace

TEST_CASE("a child answers, and remembers while it has the file") {
  for (int time = 0; time < 2; ++time) {
    IsolatedReader reader("file", 0, counting);
    CHECK(reader.ask("") == std::string("file1\0", 6));
    CHECK(reader.ask(std::string(200000, 'y')).value().size() == 200000);
    CHECK(reader.ask("") == std::string("file2\0", 6));
  }
}

TEST_CASE("large answers come as tensors, each in place of the one before") {
  for (int time = 0; time < 2; ++time) {
    IsolatedReader reader("file", 0, numbers);
    for (const int64_t count : {6, 40000000, 2, 0}) {
      CAPTURE(count);
      CHECK(reader.ask(std::to_string(count)) == "");
      require_equal(reader.taken({count}, at::kFloat), at::arange(count, count * 2, at::kFloat), "numbers");
    }
  }
}

TEST_CASE("what a child refuses is refused here, and it goes on") {
  IsolatedReader reader("file", 0, counting);
  CHECK_THROWS_AS(reader.ask("refuse"), DataError);
  require_error([&] { reader.ask("refuse"); }, {"file: expected good, found bad"});
  CHECK(reader.ask("other") == "other");
}

TEST_CASE("a child that crashes, stops or fails is no answer, then or later, and the next file has another") {
  const std::string how = GENERATE("segv", "fpe", "abort", "exit");
  std::string child;
  {
    IsolatedReader reader("file", 0, counting);
    child = reader.ask("pid").value();
    CHECK_FALSE(reader.ask("throw"));
    CHECK_FALSE(reader.ask(how));
    CHECK_FALSE(reader.ask("throw"));
  }
  CHECK(child_of_a_file() != child);
}

TEST_CASE("the next file has the same child, unless that failed, crashed in closing, or waited for a second") {
  wait_for_all_children();
  const std::string child = child_of_a_file();
  CHECK(child_of_a_file("another") == child);
  {
    const IsolatedReader busy("file", 0, counting);
    CHECK(child_of_a_file() != child);
  }
  CHECK_THROWS_AS(asked("refuse"), DataError);
  const std::string other = child_of_a_file();
  CHECK(other != child);
  CHECK_FALSE(asked("throw"));
  const std::string second = child_of_a_file();
  CHECK(child_of_a_file() == second);
  CHECK(child_of_a_file("bad end") == second);
  const std::string third = child_of_a_file();
  CHECK(third != second);
  wait_for_end(third);
  CHECK(child_of_a_file() != third);
  CHECK(IsolatedReader("6", 0, numbers).ask("6") == "");
}

TEST_CASE("a child has nothing of its parent open, and is not served by for ever") {
  wait_for_all_children();
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const std::string child = child_of_a_file("pipe");
  ::close(ends[1]);
  char byte = 0;
  CHECK(::read(ends[0], &byte, 1) == 0);  // the end: nobody else can write
  ::close(ends[0]);
  int files = 1;  // "pipe"
  while (child_of_a_file() == child && files < 1000) ++files;
  CHECK(files == 100);
}

TEST_CASE("a child without memory for a message is ended") {
  IsolatedReader reader("file", 0, counting);
  CHECK(reader.ask("take all") == "taken");
  CHECK_FALSE(reader.ask(std::string(size_t{60} << 20, 'y')));
  CHECK_FALSE(reader.ask("y"));
}

TEST_CASE("a fork of this process leaves its children alone") {
  wait_for_all_children();
  const std::string child = child_of_a_file();
  const pid_t fork = ::fork();
  if (fork == 0) ::_exit(child_of_a_file() != child && asked("") == std::string("file1\0", 6) ? 7 : 1);
  int status = 0;
  REQUIRE(::waitpid(fork, &status, 0) == fork);
  CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 7));
  CHECK(child_of_a_file() == child);
}

TEST_CASE("a child may take the memory that it is allowed for each file, and no more") {
  for (int time = 0; time < 8; ++time) CHECK(asked("take 40") == "taken");
  CHECK(asked("take 200") == "too much");
  IsolatedReader allowed("file", 0, counting);
  CHECK(allowed.ask("allow 200") == "allow 200");
  CHECK(allowed.ask("take 200") == "taken");
  IsolatedReader of_a_large_file("file", uint64_t{100} << 20, counting);
  CHECK(of_a_large_file.ask("take 300") == "taken");
}

TEST_CASE("a child that never answers is ended") {
  CHECK_FALSE(asked("loop"));
}

TEST_CASE("threads have children of their own") {
  std::vector<std::thread> threads;
  std::atomic<int> good = 0;
  threads.reserve(8);
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&good, i] {
      for (int round = 0; round < 10; ++round) {
        const std::string file = std::to_string(i);
        if (IsolatedReader(file, 0, counting).ask("") == file + "1" + std::string(1, '\0')) ++good;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(good == 80);
}

}  // namespace geosft::test::test_isolated_reader
