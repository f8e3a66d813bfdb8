// SPDX-License-Identifier: Apache-2.0
#include "data/isolated_reader.h"

#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <mutex>
#include <utility>
#include <vector>

#include "data/data_error.h"

namespace geosft {
namespace {

// Pool of idle child processes.
class IdleReaders {
 public:
  std::unique_ptr<ReaderProcess> take(OpenReader open) {
    const std::lock_guard<std::mutex> lock(mutex_);
    clear();
    const auto last =
        std::find_if(readers_.rbegin(), readers_.rend(), [&](const auto& reader) { return reader->opens() == open; });
    if (last == readers_.rend()) return nullptr;
    std::unique_ptr<ReaderProcess> reader = std::move(*last);
    readers_.erase(std::next(last).base());
    return reader;
  }
  void leave(std::unique_ptr<ReaderProcess> reader) {
    constexpr size_t maximum = 4;
    const std::lock_guard<std::mutex> lock(mutex_);
    clear();
    if (readers_.size() < maximum) readers_.push_back(std::move(reader));
  }

 private:
  void clear() {
    std::erase_if(readers_, [](const auto& reader) { return !reader->ours() || reader->has_ended(); });
  }

  std::mutex mutex_;
  std::vector<std::unique_ptr<ReaderProcess>> readers_;
};

// A refused file may already have corrupted the child, so the child is not reused. Fuzzers, whose files are mostly
// refused, keep it to avoid constant forking.
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
constexpr bool keep_after_data_error = true;
#else
constexpr bool keep_after_data_error = false;
#endif

IdleReaders& idle_readers() {
  static IdleReaders readers;
  return readers;
}

}  // namespace

IsolatedReader::IsolatedReader(const std::string& file, uint64_t file_bytes, OpenReader open) {
  do {
    process_ = idle_readers().take(open);
  } while (process_ && !process_->begin(file, file_bytes));
  if (process_) return;
  process_ = std::make_unique<ReaderProcess>(open, file);
  reusable_ = process_->begin(file, file_bytes);
}

IsolatedReader::~IsolatedReader() {
  if (reusable_ && process_->ours() && process_->end()) idle_readers().leave(std::move(process_));
}

std::optional<std::string> IsolatedReader::ask(const std::string& request) {
  using Outcome = ReaderProcess::Outcome;
  std::string text;
  const bool before = std::exchange(reusable_, false);
  const Outcome outcome = process_->ask(request, text);
  reusable_ = before && (outcome == Outcome::answer || (keep_after_data_error && outcome == Outcome::data_error));
  if (outcome == Outcome::data_error) throw DataError(text);
  if (outcome == Outcome::answer) return text;
  return std::nullopt;
}

at::Tensor IsolatedReader::taken(at::IntArrayRef sizes, at::ScalarType type) const {
  at::Tensor out = at::empty(sizes, type);
  if (out.numel() == 0) return out;
  struct stat about {};
  const int memory = process_->memory();
  TORCH_CHECK(::fstat(memory, &about) == 0 && static_cast<uint64_t>(about.st_size) == out.nbytes(), "the answer has ",
              about.st_size, " bytes in place of ", out.nbytes());
  void* room = ::mmap(nullptr, out.nbytes(), PROT_READ, MAP_SHARED, memory, 0);
  TORCH_CHECK(room != MAP_FAILED, "no memory for ", out.nbytes(), " bytes");
  std::memcpy(out.data_ptr(), room, out.nbytes());
  ::munmap(room, out.nbytes());
  return out;
}

}  // namespace geosft
