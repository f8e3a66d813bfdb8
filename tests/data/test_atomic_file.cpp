// SPDX-License-Identifier: Apache-2.0
#include "data/atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include <catch2/catch.hpp>

#include "data/data_error.h"
#include "tests/data/files.h"
#include "tests/data/locked_folder.h"
#include "tests/support.h"

namespace geosft::test::test_atomic_file {

namespace {

size_t file_count(const std::filesystem::path& folder) {
  return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(folder), {}));
}

}  // namespace

TEST_CASE("an atomic file replaces its target on commit only") {
  const test::TemporaryFolder folder;
  write_file_atomically(folder / "a.csv", "first");
  CHECK(test::read_text(folder / "a.csv") == "first");
  {
    AtomicFile abandoned(folder / "a.csv");
    abandoned.write("second", 6);
    CHECK(file_count(folder.path()) == 2);
  }
  CHECK(test::read_text(folder / "a.csv") == "first");
  CHECK(file_count(folder.path()) == 1);
  write_file_atomically(folder / "a.csv", "third");
  CHECK(test::read_text(folder / "a.csv") == "third");
  CHECK(file_count(folder.path()) == 1);
}

TEST_CASE("what a writer that was killed has left is removed, and nothing else") {
  const test::TemporaryFolder folder;
  const pid_t killed = ::fork();
  if (killed == 0) {
    AtomicFile* const file = new AtomicFile(folder / "a.csv");
    file->write("half", 4);
    ::raise(SIGKILL);
  }
  ::waitpid(killed, nullptr, 0);
  const AtomicFile other(folder / "a.csv");
  for (const char* name : {"a.csv", ".a.tmp", ".a.csv.x.0.tmp"}) test::write_text(folder / name, "kept");
  CHECK(file_count(folder.path()) == 5);
  remove_abandoned(folder.path());
  CHECK(file_count(folder.path()) == 4);
  CHECK_FALSE(std::filesystem::exists(folder / (".a.csv." + std::to_string(killed) + ".0.tmp")));
  remove_abandoned(folder / "absent");
}

TEST_CASE("two writers of one target do not meet") {
  const test::TemporaryFolder folder;
  AtomicFile one(folder / "a"), two(folder / "a");
  one.write("one", 3);
  two.write("two", 3);
  two.commit();
  one.commit();
  CHECK(test::read_text(folder / "a") == "one");
}

TEST_CASE("a file takes the place of a link, whose file stays as it is") {
  const test::TemporaryFolder folder;
  write_file_atomically(folder / "stored", "old");
  std::filesystem::create_symlink("stored", folder / "link");
  write_file_atomically(folder / "link", "new");
  CHECK(std::filesystem::is_regular_file(std::filesystem::symlink_status(folder / "link")));
  CHECK(test::read_text(folder / "link") == "new");
  CHECK(test::read_text(folder / "stored") == "old");
}

TEST_CASE("a pipe is written to, and stays one") {
  const test::TemporaryFolder folder;
  const std::filesystem::path pipe = folder / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  const int reader = ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  REQUIRE(reader >= 0);
  write_file_atomically(pipe, "text");
  char text[8] = {};
  CHECK(::read(reader, text, sizeof text) == 4);
  CHECK(std::string(text) == "text");
  ::close(reader);
  CHECK(std::filesystem::is_fifo(pipe));
  std::filesystem::create_symlink("pipe", folder / "link");
  const int again = ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  write_file_atomically(folder / "link", "more");
  CHECK(::read(again, text, sizeof text) == 4);
  CHECK(std::string(text) == "more");
  ::close(again);
  CHECK(std::filesystem::is_symlink(folder / "link"));
  std::filesystem::remove(folder / "link");
  CHECK(file_count(folder.path()) == 1);
}

TEST_CASE("a folder that is absent or cannot be written to is named with the reason") {
  const test::TemporaryFolder folder;
  test::require_error([&] { write_file_atomically(folder / "none/a.csv", "x"); },
                      {"none/a.csv", "a folder that can be written to", "No such file"});
  // Not even root writes into /proc.
  CHECK_THROWS_AS(write_file_atomically("/proc/geosft.csv", "x"), DataError);
  std::filesystem::create_directory(folder / "taken");
  test::require_error([&] { write_file_atomically(folder / "taken", "x"); }, {"taken", "Is a directory"});
  CHECK(file_count(folder.path()) == 1);
}

TEST_CASE("a read-only folder leaves the old file") {
  const test::TemporaryFolder folder;
  write_file_atomically(folder / "a", "old");
  {
    const test::LockedFolder locked(folder.path());
    test::require_error([&] { write_file_atomically(folder / "a", "new"); }, {"Permission denied"});
  }
  CHECK(test::read_text(folder / "a") == "old");
}

}  // namespace geosft::test::test_atomic_file
