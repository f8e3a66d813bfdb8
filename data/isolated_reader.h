// SPDX-License-Identifier: Apache-2.0
// Libraries that a hostile file can crash, made to read it in a process of their own.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace geosft {

// A child process that answers requests. What crashes, hangs or takes too much memory there ends there.
class IsolatedReader {
 public:
  // In the child: memory, which may be taken as far as it is allowed, and room for a large answer.
  class Room {
   public:
    explicit Room(int memory) : memory_(memory) {}
    // From now on the child may take so many bytes more.
    static void allow(uint64_t bytes);
    // So many bytes that the parent sees after the answer.
    void* take(uint64_t bytes);

   private:
    int memory_;
  };

  // The answer to a request; a DataError becomes the parent's.
  using Work = std::function<std::string(const std::string& request, Room& room)>;

  // Forks; nothing of `work` happens in this process. The child may take 64 MiB, four times `file_bytes` and what Room
  // allows, and 5 s of processor time and one for every 4 MiB of the file. Throws DataError, naming `file`, where the
  // system has no more processes.
  IsolatedReader(const std::string& file, uint64_t file_bytes, const Work& work);
  ~IsolatedReader();
  IsolatedReader(const IsolatedReader&) = delete;
  IsolatedReader& operator=(const IsolatedReader&) = delete;

  // Nothing when the child failed or ended instead of answering, or has before.
  std::optional<std::string> ask(const std::string& request);
  // A copy of what the last answer took room for: as many numbers as the sizes say.
  at::Tensor taken(at::IntArrayRef sizes, at::ScalarType type) const;

 private:
  [[noreturn]] static void serve(int socket, int memory, uint64_t file_bytes, const Work& work);
  int socket_ = -1, memory_ = -1, child_ = -1;
};

}  // namespace geosft
