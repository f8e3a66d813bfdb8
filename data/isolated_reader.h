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

// Reads a file in a child process that answers requests. A crash, hang or excessive memory use affects only the child.
// A child that refused no request is reused for the next file if that is opened soon.
class IsolatedReader {
 public:
  // Forks, unless an idle child with the same `open` exists. This process does no work on the file. The limits are
  // those of ReaderProcess::begin. Throws DataError, naming `file`, if the system cannot create a process.
  IsolatedReader(const std::string& file, uint64_t file_bytes, OpenReader open);
  ~IsolatedReader();
  IsolatedReader(const IsolatedReader&) = delete;
  IsolatedReader& operator=(const IsolatedReader&) = delete;

  // Returns nothing if the child failed or ended, now or at an earlier request. Throws DataError if the child refused
  // the request.
  std::optional<std::string> ask(const std::string& request);
  // Returns a copy of the shared memory that the last answer filled, as a tensor of these sizes.
  at::Tensor taken(at::IntArrayRef sizes, at::ScalarType type) const;

 private:
  std::unique_ptr<ReaderProcess> process_;
  bool reusable_ = true;
};

}  // namespace geosft
