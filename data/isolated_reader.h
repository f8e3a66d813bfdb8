// SPDX-License-Identifier: Apache-2.0
// Reads files in a child process, for libraries that a hostile file can crash.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "data/reader_process.h"

namespace geosft {

// A file that a child process reads, which answers requests. What crashes, hangs or takes too much memory there ends
// there. The child of a file of which nothing was refused either serves the next one, if that comes soon.
class IsolatedReader {
 public:
  // Forks, unless a child that opens files in this way has nothing to do; no work on the file happens in this process.
  // The limits are those of ReaderProcess::begin. Throws DataError, naming `file`, where the system has no more
  // processes.
  IsolatedReader(const std::string& file, uint64_t file_bytes, OpenReader open);
  ~IsolatedReader();
  IsolatedReader(const IsolatedReader&) = delete;
  IsolatedReader& operator=(const IsolatedReader&) = delete;

  // Nothing when the child failed or ended instead of answering, or has before. Throws DataError for what it refused.
  std::optional<std::string> ask(const std::string& request);
  // A copy of what the last answer took room for: as many numbers as the sizes say.
  at::Tensor taken(at::IntArrayRef sizes, at::ScalarType type) const;

 private:
  std::unique_ptr<ReaderProcess> process_;
  bool reusable_ = true;
};

}  // namespace geosft
