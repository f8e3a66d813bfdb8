// SPDX-License-Identifier: Apache-2.0
#include "data/isolated_reader.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <tuple>
#include <utility>

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

// The whole seconds of CPU time that this process has used, rounded up.
rlim_t seconds_used() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  return static_cast<rlim_t>(used.ru_utime.tv_sec + used.ru_stime.tv_sec + 1);
}

// The seconds of CPU time that it may still use.
rlim_t seconds_left() {
  rlimit limit{};
  ::getrlimit(RLIMIT_CPU, &limit);
  return limit.rlim_cur - seconds_used();
}

// Never ends by itself. So that its limit is reached soon, it leaves itself less than a second.
[[noreturn]] void loop() {
  const rlimit soon{seconds_used(), seconds_used()};
  ::setrlimit(RLIMIT_CPU, &soon);
  for (std::atomic<int> i = 0;; ++i) continue;
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
  if (request == "seconds left") return std::to_string(seconds_left());
  if (request == "loop") loop();
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

// Returns what calls give between which less than a second passes, so that no child ends for want of a file. Where a
// machine is too busy for that, they are made again.
template <typename Calls>
auto within_a_second(const Calls& calls) {
  for (;;) {
    const auto start = std::chrono::steady_clock::now();
    const auto result = calls();
    if (std::chrono::steady_clock::now() - start < std::chrono::seconds(1)) return result;
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
    for (const int64_t count : {6, 20000000, 2, 0}) {  // also more bytes than a child may have without room
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
  const auto [child, another] =
      within_a_second([] { return std::pair(child_of_a_file(), child_of_a_file("another")); });
  CHECK(another == child);
  {
    const IsolatedReader busy("file", 0, counting);
    CHECK(child_of_a_file() != child);
  }
  CHECK_THROWS_AS(asked("refuse"), DataError);
  const std::string other = child_of_a_file();
  CHECK(other != child);
  CHECK_FALSE(asked("throw"));
  const auto [second, next, last] = within_a_second([] {
    const std::string one = child_of_a_file(), two = child_of_a_file();
    return std::tuple(one, two, child_of_a_file("bad end"));
  });
  CHECK(next == second);
  CHECK(last == second);
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
  child_of_a_file("pipe");
  ::close(ends[1]);
  char byte = 0;
  CHECK(::read(ends[0], &byte, 1) == 0);  // the end: nobody else can write
  ::close(ends[0]);
  const int files = within_a_second([] {
    CHECK_FALSE(asked("throw"));  // the child that is there ends, the next one begins to count
    const std::string child = child_of_a_file();
    int served = 1;
    while (child_of_a_file() == child && served < 1000) ++served;
    return served;
  });
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
  int status = 0;
  const auto [child, after] = within_a_second([&] {
    const std::string before = child_of_a_file();
    const pid_t fork = ::fork();
    if (fork == 0) ::_exit(child_of_a_file() != before && asked("") == std::string("file1\0", 6) ? 7 : 1);
    REQUIRE(::waitpid(fork, &status, 0) == fork);
    return std::pair(before, child_of_a_file());
  });
  CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 7));
  CHECK(after == child);
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
  // 5 seconds, and one for every 4 MiB of the file.
  CHECK(asked("seconds left") == "5");
  CHECK(IsolatedReader("file", uint64_t{8} << 20, counting).ask("seconds left") == "7");
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
