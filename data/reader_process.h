// SPDX-License-Identifier: Apache-2.0
// A child process that reads files for this one (isolated_reader.h): the process, what is said to it, and its limits.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace geosft {

// In the child: memory, which may be taken as far as it is allowed, and room for a large answer.
class ReaderRoom {
 public:
  explicit ReaderRoom(int memory) : memory_(memory) {}
  ~ReaderRoom() { give_back(); }
  ReaderRoom(const ReaderRoom&) = delete;
  ReaderRoom& operator=(const ReaderRoom&) = delete;
  // From now on the child may take so many bytes more.
  static void allow(uint64_t bytes);
  // So many bytes that the parent sees after the answer, in place of those that were taken before.
  void* take(uint64_t bytes);
  void give_back();

 private:
  int memory_;
  void* taken_ = nullptr;
  uint64_t bytes_ = 0;
};

// In the child: answers a request to the file that it was made for. A DataError becomes the parent's.
using ReaderWork = std::function<std::string(const std::string& request, ReaderRoom& room)>;
// Makes that work; it must not fail, nor touch the file yet.
using OpenReader = ReaderWork (*)(const std::string& file);

class ReaderProcess {
 public:
  // Forks. Throws DataError, naming `file`, where the system has no more processes.
  ReaderProcess(OpenReader open, const std::string& file);
  // Ends it.
  ~ReaderProcess();
  ReaderProcess(const ReaderProcess&) = delete;
  ReaderProcess& operator=(const ReaderProcess&) = delete;

  // From here on it reads this file: it may take 64 MiB, four times `file_bytes` and what ReaderRoom allows, and 5 s of
  // processor time and one for every 4 MiB of the file. False: it has ended, as it does by itself after a second
  // without a file.
  bool begin(const std::string& file, uint64_t file_bytes);
  enum class Outcome : char { answer, refusal, failure, gone };
  // Fills `text` with the answer, or with what was refused.
  Outcome ask(const std::string& request, std::string& text);
  // The file is closed. False: it is not to be used for another one.
  bool end();

  OpenReader opens() const { return open_; }
  // Whether it is this process's: after a fork the copy is another one's.
  bool ours() const;
  // Without waiting; what is left of one that has is cleared away.
  bool has_ended();
  // A file in memory, in which its last answer took room.
  int memory() const { return memory_; }

 private:
  void serve(int parent) const;
  OpenReader open_;
  int socket_ = -1, memory_ = -1;
  pid_t parent_, child_ = -1;
  int64_t files_ = 0;  // that it has read
};

}  // namespace geosft
