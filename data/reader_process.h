// SPDX-License-Identifier: Apache-2.0
// Runs a child process that reads files for this one (isolated_reader.h), with its messages and resource limits.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace geosft {

// Used in the child: raises the memory limit and holds the shared memory of a large answer.
class ReaderRoom {
 public:
  explicit ReaderRoom(int memory) : memory_(memory) {}
  ~ReaderRoom() { give_back(); }
  ReaderRoom(const ReaderRoom&) = delete;
  ReaderRoom& operator=(const ReaderRoom&) = delete;
  // Raises the child's memory limit by `bytes`.
  static void allow(uint64_t bytes);
  // Maps `bytes` of memory that the parent reads after the answer. Replaces the previous mapping.
  void* take(uint64_t bytes);
  void give_back();

 private:
  int memory_;
  void* taken_ = nullptr;
  uint64_t bytes_ = 0;
};

// Runs in the child: answers a request about the file it was made for. A DataError is rethrown in the parent.
using ReaderWork = std::function<std::string(const std::string& request, ReaderRoom& room)>;
// Creates a ReaderWork. It must neither fail nor touch the file.
using OpenReader = ReaderWork (*)(const std::string& file);

class ReaderProcess {
 public:
  // Forks. Throws DataError, naming `file`, if the system cannot create a process.
  ReaderProcess(OpenReader open, const std::string& file);
  // Ends the child.
  ~ReaderProcess();
  ReaderProcess(const ReaderProcess&) = delete;
  ReaderProcess& operator=(const ReaderProcess&) = delete;

  // Opens the next file. Limits: 64 MiB plus four times `file_bytes` plus what ReaderRoom allows of memory, and 5 s
  // plus 1 s per 4 MiB of the file of CPU time. Returns false if the child has ended, which it does after one second
  // without a file.
  bool begin(const std::string& file, uint64_t file_bytes);
  enum class Outcome : char { answer, data_error, failure, gone };
  // Stores the answer, or the message of a DataError, in `text`.
  Outcome ask(const std::string& request, std::string& text);
  // Closes the file. Returns false if the child must not be reused for another file.
  bool end();

  OpenReader opens() const { return open_; }
  // Returns whether this process created the child: false in a copy after a fork.
  bool ours() const;
  // Returns whether the child has ended, without blocking, and reaps it.
  bool has_ended();
  // Returns the descriptor of the memfd that holds the last answer.
  int memory() const { return memory_; }

 private:
  void serve(int parent) const;
  OpenReader open_;
  int socket_ = -1, memory_ = -1;
  pid_t parent_, child_ = -1;
  int64_t files_ = 0;  // files read so far
};

}  // namespace geosft
