// SPDX-License-Identifier: Apache-2.0
#include "data/isolated_reader.h"

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <csignal>
#include <cstring>
#include <thread>

#include "data/shape.h"
#include "tests/support.h"

namespace geosft::test::test_isolated_reader {
namespace {

using Room = IsolatedReader::Room;

std::optional<std::string> asked(const std::function<std::string(Room&)>& work, const std::string& request = "x") {
  IsolatedReader reader("file", 0, [&](const std::string&, Room& room) { return work(room); });
  return reader.ask(request);
}

}  // namespace

TEST_CASE("a child answers, remembers, and changes nothing in its parent") {
  int asked = 0;
  IsolatedReader reader("file", 0, [&](const std::string& request, Room&) {
    return request + " " + std::to_string(++asked) + std::string(1, '\0');
  });
  CHECK(reader.ask("first") == std::string("first 1\0", 8));
  CHECK(reader.ask(std::string(200000, 'y')).value().size() == 200003);
  CHECK(reader.ask("") == std::string(" 3\0", 3));
  CHECK(asked == 0);
}

TEST_CASE("large answers come as tensors, each in place of the one before") {
  IsolatedReader reader("file", 0, [](const std::string& request, Room& room) -> std::string {
    const size_t count = std::stoul(request);
    auto* out = static_cast<float*>(room.take(count * sizeof(float)));
    for (size_t i = 0; i < count; ++i) out[i] = static_cast<float>(i + count);
    return "";
  });
  for (const int64_t count : {6, 40000000, 2, 0}) {
    CAPTURE(count);
    CHECK(reader.ask(std::to_string(count)) == "");
    require_equal(reader.taken({count}, at::kFloat), at::arange(count, count * 2, at::kFloat), "numbers");
  }
}

TEST_CASE("what a child refuses is refused here, and it goes on") {
  IsolatedReader reader("file", 0, [](const std::string& request, Room&) -> std::string {
    if (request == "bad") throw DataError("file", "good", "bad");
    return "good";
  });
  CHECK_THROWS_AS(reader.ask("bad"), DataError);
  require_error([&] { reader.ask("bad"); }, {"file: expected good, found bad"});
  CHECK(reader.ask("other") == "good");
}

TEST_CASE("a child that crashes, stops or fails is no answer, then or later") {
  IsolatedReader reader("file", 0, [](const std::string& request, Room&) -> std::string {
    if (request == "segv") ::raise(SIGSEGV);
    if (request == "fpe") ::raise(SIGFPE);
    if (request == "abort") ::abort();
    if (request == "exit") ::_exit(0);
    throw std::runtime_error("failed");
  });
  CHECK_FALSE(reader.ask("throw"));
  const std::string how = GENERATE("segv", "fpe", "abort", "exit");
  CHECK_FALSE(reader.ask(how));
  CHECK_FALSE(reader.ask("throw"));
}

TEST_CASE("a child may take the memory that it is allowed, and no more") {
  const auto take = [](size_t mebibytes) {
    void* room = ::mmap(nullptr, mebibytes << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return std::string(room == MAP_FAILED ? "too much" : "taken");
  };
  CHECK(asked([&](Room&) { return take(40); }) == "taken");
  CHECK(asked([&](Room&) { return take(200); }) == "too much");
  CHECK(asked([&](Room&) {
          Room::allow(size_t{200} << 20);
          return take(200);
        }) == "taken");
  IsolatedReader of_a_large_file("file", uint64_t{100} << 20, [&](const std::string&, Room&) { return take(300); });
  CHECK(of_a_large_file.ask("x") == "taken");
}

TEST_CASE("a child that never answers is ended") {
  CHECK_FALSE(asked([](Room&) -> std::string {
    for (std::atomic<int> i = 0;; ++i) continue;
  }));
}

TEST_CASE("threads have children of their own, which end with them") {
  std::vector<std::thread> threads;
  std::atomic<int> good = 0;
  threads.reserve(8);
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&good, i] {
      for (int round = 0; round < 10; ++round) {
        IsolatedReader reader("file", 0,
                              [i](const std::string& request, Room&) { return request + std::to_string(i); });
        if (reader.ask("a") == "a" + std::to_string(i)) ++good;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(good == 80);
}

}  // namespace geosft::test::test_isolated_reader
