// SPDX-License-Identifier: Apache-2.0
#include "data/atomic_file.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <regex>
#include <system_error>
#include <utility>

#include "data/data_error.h"

namespace geosft {
namespace {

// Makes a rename durable by syncing its folder. Skipped on file systems that cannot sync folders.
void sync_folder(const std::filesystem::path& folder) {
  const int descriptor = ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  ::fsync(descriptor);
  ::close(descriptor);
}

bool runs(pid_t process) {
  return ::kill(process, 0) == 0 || errno != ESRCH;
}

}  // namespace

void remove_abandoned(const std::filesystem::path& folder, const std::string& names) {
  const std::regex made_by(names);
  std::error_code error;
  for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    std::smatch match;
    std::error_code kept;  // files of other users are kept
    if (std::regex_match(name, match, made_by) && !runs(std::stoi(match[1]))) {
      std::filesystem::remove_all(at->path(), kept);
    }
  }
}

void remove_abandoned(const std::filesystem::path& folder) {
  remove_abandoned(folder, "\\..+\\.([0-9]{1,9})\\.[0-9]+\\.tmp");
}

AtomicFile::AtomicFile(std::filesystem::path target) : target_(std::move(target)) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(target_, error);
  if (std::filesystem::is_other(status)) {
    descriptor_ = ::open(target_.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor_ < 0) fail("a pipe or a device that can be written to");
    return;
  }
  // O_EXCL: two writers of one target never share a temporary file.
  for (int attempt = 0; descriptor_ < 0; ++attempt) {
    const std::string suffix = std::to_string(::getpid()) + "." + std::to_string(attempt) + ".tmp";
    temporary_ =
        target_.parent_path() / (std::string(".").append(target_.filename().string()).append(".").append(suffix));
    descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor_ < 0 && errno != EEXIST) fail("a folder that can be written to");
  }
}

AtomicFile::~AtomicFile() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void AtomicFile::write(const void* data, size_t bytes) {
  const char* next = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t written = ::write(descriptor_, next, bytes);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("room to write the file");
    next += written;
    bytes -= static_cast<size_t>(written);
  }
}

void AtomicFile::commit() {
  if (temporary_.empty()) {
    ::close(std::exchange(descriptor_, -1));
    return;
  }
  if (::fsync(descriptor_) != 0) fail("room to write the file");
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) fail("a file name that can be written to");
  ::close(std::exchange(descriptor_, -1));
  sync_folder(target_.parent_path());
}

void AtomicFile::fail(const std::string& step) const {
  throw DataError(target_.string(), step, std::strerror(errno));
}

void write_file_atomically(const std::filesystem::path& target, std::string_view contents) {
  AtomicFile file(target);
  file.write(contents.data(), contents.size());
  file.commit();
}

}  // namespace geosft
