// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/run_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <torch/headeronly/version.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <system_error>

#include "data/atomic_file.h"
#include "data/read_file.h"
#include "geometry/version.h"
#include "tools/experiment/arguments.h"

namespace geosft {

namespace {

// Returns whether the folder holds only what a run writes first.
bool only_begun(const RunFolder& run, std::error_code& error) {
  for (std::filesystem::directory_iterator at(run.path(), error), end; !error && at != end; at.increment(error)) {
    if (at->path() != run.classes() && at->path() != run.split()) return false;
  }
  return true;
}

// Returns the folder and those above it that do not exist yet, the innermost first.
std::vector<std::filesystem::path> missing_folders(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> missing;
  std::error_code error;
  for (std::filesystem::path at = folder; !at.empty() && !std::filesystem::exists(at, error); at = at.parent_path()) {
    if (at.has_filename()) missing.push_back(at);  // not the "a/" of "a/b/"
  }
  return missing;
}

}  // namespace

// Takes a lock that is released when the process ends, in any way.
void RunFolder::claim() {
  const int descriptor = ::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  claim_ = std::shared_ptr<void>(nullptr, [descriptor](void*) { ::close(descriptor); });
  // Other errors are ignored: some file systems cannot lock folders.
  if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    throw UsageError("another process trains in the run folder " + path_.string());
  }
}

RunFolder RunFolder::create(const std::filesystem::path& folder) {
  RunFolder run(folder);
  std::error_code error;
  if (std::filesystem::exists(run.config(), error) || std::filesystem::exists(run.last_checkpoint(), error)) {
    throw UsageError(folder.string() + " holds a run already: resume it, or name another folder");
  }
  const std::vector<std::filesystem::path> missing = missing_folders(folder);
  std::filesystem::create_directories(folder, error);
  if (error) throw std::runtime_error("cannot make the run folder " + folder.string() + ": " + error.message());
  run.made_ = missing;
  run.claim();
  remove_abandoned(folder);
  const bool empty = only_begun(run, error);
  if (error) throw std::runtime_error("cannot read the run folder " + folder.string() + ": " + error.message());
  if (!empty) throw UsageError("the run folder " + folder.string() + " is not empty and holds no run: name another");
  // Fails now if the folder is not writable, before the data are read.
  const AtomicFile probe(run.config());
  return run;
}

void RunFolder::discard() const {
  std::error_code kept;  // folders that hold something are kept
  for (const std::filesystem::path& folder : made_) std::filesystem::remove(folder, kept);
}

bool RunFolder::holds_run(const std::filesystem::path& folder) {
  std::error_code error;
  return std::filesystem::exists(RunFolder(folder).config(), error);
}

bool RunFolder::keeps(const std::filesystem::path& name) const {
  const auto files = {config(), classes(), split(), metrics(), log(), result(), version()};
  return name.extension() == ".ckpt" ||
         std::any_of(files.begin(), files.end(), [&](const auto& file) { return file.filename() == name; });
}

namespace {

// Returns the first folder in `folder` that holds a run, as those of a sweep do; empty if there is none.
std::filesystem::path first_run_in(const std::filesystem::path& folder) {
  std::filesystem::path first;
  std::error_code error;
  for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    if ((first.empty() || at->path() < first) && RunFolder::holds_run(at->path())) first = at->path();
  }
  return first;
}

}  // namespace

RunFolder RunFolder::open(const std::filesystem::path& folder) {
  RunFolder run(folder);
  std::error_code error;
  if (!std::filesystem::is_directory(folder, error)) {
    throw UsageError("no run folder " + folder.string() + ": it does not exist or is not a folder");
  }
  if (!holds_run(folder)) {
    const std::filesystem::path inside = first_run_in(folder);
    throw UsageError("no run in " + folder.string() + ": it holds no " + run.config().filename().string() +
                     (inside.empty() ? "" : ", but folders that do, such as " + inside.string()));
  }
  return run;
}

RunFolder RunFolder::resume(const std::filesystem::path& folder) {
  RunFolder run = open(folder);
  run.claim();
  remove_abandoned(folder);
  return run;
}

void RunFolder::write_config(const std::string& toml) const {
  write_file_atomically(config(), toml);
}
void RunFolder::write_split(const std::string& csv) const {
  write_file_atomically(split(), csv);
}
void RunFolder::write_version() const {
  write_file_atomically(version(), version_text());
}
void RunFolder::write_result(const std::string& json) const {
  write_file_atomically(result(), json);
}

void RunFolder::append_log(const std::string& lines) const {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  std::array<char, 32> stamp{};
  if (::localtime_r(&now, &local) != nullptr) {
    std::strftime(stamp.data(), stamp.size(), "%Y-%m-%d %H:%M:%S  ", &local);
  }
  std::istringstream in(lines);
  std::string text;
  for (std::string line; std::getline(in, line);) text += (line.empty() ? "" : stamp.data()) + line + "\n";
  std::ofstream(log(), std::ios::app) << text;
}

void RunFolder::write_classes(const std::vector<std::string>& names) const {
  std::string text;
  for (const std::string& name : names) {
    if (name.empty() || trimmed(name) != name || name.find_first_of("\r\n") != std::string::npos) {
      throw std::invalid_argument("class name: expected one line without blanks around it, found '" + name + "'");
    }
    text += name + "\n";
  }
  write_file_atomically(classes(), text);
}

std::vector<std::string> RunFolder::read_classes() const {
  return read_lines(classes());
}

std::string version_text() {
  std::string text = std::string("geosft ") + version() + "\nLibTorch " TORCH_VERSION "\ncompiler ";
#if defined(__clang__)
  text += "clang " __clang_version__;
#else
  text += "gcc " __VERSION__;
#endif
  return text + "\n";
}

}  // namespace geosft
