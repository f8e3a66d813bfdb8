// SPDX-License-Identifier: Apache-2.0
#include "data/reader_process.h"

#include <c10/util/Exception.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <utility>

#include "data/data_error.h"

namespace geosft {
namespace {

bool send_all(int socket, const void* bytes, size_t size) {
  const char* next = static_cast<const char*>(bytes);
  while (size > 0) {
    const ssize_t sent = ::send(socket, next, size, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    next += sent;
    size -= static_cast<size_t>(sent);
  }
  return true;
}

bool receive_all(int socket, void* bytes, size_t size) {
  char* next = static_cast<char*>(bytes);
  while (size > 0) {
    const ssize_t got = ::recv(socket, next, size, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    next += got;
    size -= static_cast<size_t>(got);
  }
  return true;
}

enum class Kind : char { begin, request, end, answer, data_error, failure };

struct Message {
  Kind kind = Kind::end;
  uint64_t number = 0;  // size of the file, for Kind::begin
  std::string text = {};

  bool send(int socket) const {
    const Header header{number, text.size(), kind};
    std::string bytes(reinterpret_cast<const char*>(&header), sizeof(header));
    bytes += text;
    return send_all(socket, bytes.data(), bytes.size());
  }
  bool receive(int socket) {
    Header header{};
    constexpr uint64_t longest = uint64_t{1} << 26;
    if (!receive_all(socket, &header, sizeof(header)) || header.size > longest) return false;
    kind = header.kind;
    number = header.number;
    text.resize(header.size);
    return receive_all(socket, text.data(), header.size);
  }

 private:
  struct Header {
    uint64_t number, size;
    Kind kind;
  };
};

void limit(__rlimit_resource resource, uint64_t value) {
  rlimit now{};
  ::getrlimit(resource, &now);
  now.rlim_cur = std::min<rlim_t>(value, now.rlim_max);
  ::setrlimit(resource, &now);
}

// Returns the size of the address space of this process in bytes.
uint64_t address_space() {
  uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
}

// Returns the CPU time used so far, rounded up.
uint64_t seconds_used() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  return static_cast<uint64_t>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) + 1;
}

// Fuzzers find many files that the library reads forever, so they use a short limit.
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
constexpr uint64_t min_seconds = 1;
#else
constexpr uint64_t min_seconds = 5;
#endif

void limit_for(uint64_t file_bytes) {
  constexpr uint64_t min_memory = uint64_t{64} << 20, bytes_a_second = uint64_t{4} << 20;
  limit(RLIMIT_CPU, seconds_used() + min_seconds + file_bytes / bytes_a_second);
  limit(RLIMIT_AS, RLIM_INFINITY);  // otherwise memory left from the previous file could not be measured
  limit(RLIMIT_AS, address_space() + min_memory + 4 * file_bytes);
}

// Resets signal handlers and redirects the standard streams in the child, as both belong to the parent. Fuzzers keep
// their crash handlers. Closes all inherited descriptors except the socket and the memfd, so that the child keeps no
// pipe or lock of others open.
std::pair<int, int> detach(int socket, int memory) {
#ifndef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) ::signal(signal, SIG_DFL);
#endif
  for (const int signal : {SIGXCPU, SIGTERM}) ::signal(signal, SIG_DFL);
  ::signal(SIGINT, SIG_IGN);  // the parent handles Ctrl-C
  const int nowhere = ::open("/dev/null", O_RDWR);
  for (const int usual : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(nowhere, usual);
  limit(RLIMIT_CORE, 0);
  constexpr int first = 3;
  const std::pair high{::fcntl(socket, F_DUPFD, first + 2), ::fcntl(memory, F_DUPFD, first + 2)};
  ::dup2(high.first, first);
  ::dup2(high.second, first + 1);
  ::close_range(first + 2, ~0U, 0);
  return {first, first + 1};
}

Message answer_to(const std::string& request, const ReaderWork& work, ReaderRoom& room) {
  try {
    return {Kind::answer, 0, work(request, room)};
  } catch (const DataError& error) {
    return {Kind::data_error, 0, error.what()};
  } catch (const std::exception&) {
    return {Kind::failure};  // most likely out of memory
  }
}

// Returns whether no message arrives within one second.
bool idle(int socket) {
  constexpr int milliseconds = 1000;
  pollfd waiting{socket, POLLIN, 0};
  int ready = -1;
  do {
    ready = ::poll(&waiting, 1, milliseconds);
  } while (ready < 0 && errno == EINTR);
  return ready == 0;
}

// Files per child. A new child is then forked from the current state of the parent.
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
constexpr int64_t max_files = 100000;
#else
constexpr int64_t max_files = 100;
#endif

}  // namespace

void ReaderRoom::allow(uint64_t bytes) {
  rlimit now{};
  ::getrlimit(RLIMIT_AS, &now);
  if (now.rlim_cur != RLIM_INFINITY) limit(RLIMIT_AS, now.rlim_cur + bytes);
}

void* ReaderRoom::take(uint64_t bytes) {
  give_back();
  if (bytes == 0) return nullptr;
  allow(bytes);
  void* room = MAP_FAILED;
  if (::ftruncate(memory_, static_cast<off_t>(bytes)) == 0) {
    room = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory_, 0);
  }
  TORCH_CHECK(room != MAP_FAILED, "no memory for ", bytes, " bytes");
  taken_ = room;
  bytes_ = bytes;
  return room;
}

void ReaderRoom::give_back() {
  if (taken_ != nullptr) ::munmap(taken_, bytes_);
  taken_ = nullptr;
}

// Child loop: serves files until the parent has been idle for a second or has ended.
void ReaderProcess::serve(int parent) const {
  const auto [socket, memory] = detach(parent, memory_);
  ReaderRoom room(memory);
  ReaderWork work;
  Message message;
  bool had_one = false;
  while (!(had_one && idle(socket)) && message.receive(socket)) {
    Message answer{Kind::answer};
    if (message.kind == Kind::begin) {
      limit_for(message.number);
      work = open_(message.text);
    } else if (message.kind == Kind::request) {
      answer = answer_to(message.text, work, room);
    } else {
      work = nullptr;
      room.give_back();
    }
    had_one = message.kind == Kind::end;
    if (!answer.send(socket)) break;
  }
}

ReaderProcess::ReaderProcess(OpenReader open, const std::string& file) : open_(open), parent_(::getpid()) {
  int ends[2] = {-1, -1};
  memory_ = ::memfd_create("geosft", MFD_CLOEXEC);
  if (memory_ >= 0 && ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0) child_ = ::fork();
  if (child_ == 0) {
    ::close(ends[0]);
    try {
      serve(ends[1]);
    } catch (...) {  // too little memory even for a message
    }
    ::_exit(0);
  }
  const std::string reason = std::strerror(errno);
  if (ends[1] >= 0) ::close(ends[1]);
  socket_ = ends[0];
  if (child_ > 0) return;
  if (socket_ >= 0) ::close(socket_);
  if (memory_ >= 0) ::close(memory_);
  throw DataError(file, "a process to read it in", reason);
}

ReaderProcess::~ReaderProcess() {
  if (ours()) ::shutdown(socket_, SHUT_RDWR);  // children forked later may also hold this end
  ::close(socket_);
  ::close(memory_);
  while (child_ > 0 && ours() && ::waitpid(child_, nullptr, 0) < 0 && errno == EINTR) continue;
}

bool ReaderProcess::has_ended() {
  if (child_ > 0 && ::waitpid(child_, nullptr, WNOHANG) != 0) child_ = -1;
  return child_ < 0;
}

bool ReaderProcess::ours() const {
  return ::getpid() == parent_;
}

bool ReaderProcess::begin(const std::string& file, uint64_t file_bytes) {
  Message answer;
  return Message{Kind::begin, file_bytes, file}.send(socket_) && answer.receive(socket_);
}

ReaderProcess::Outcome ReaderProcess::ask(const std::string& request, std::string& text) {
  Message answer;
  if (!Message{Kind::request, 0, request}.send(socket_) || !answer.receive(socket_)) return Outcome::gone;
  text = std::move(answer.text);
  if (answer.kind == Kind::data_error) return Outcome::data_error;
  return answer.kind == Kind::answer ? Outcome::answer : Outcome::failure;
}

bool ReaderProcess::end() {
  // Also releases the shared memory of the answers.
  Message answer;
  return ++files_ < max_files && Message{Kind::end}.send(socket_) && answer.receive(socket_) &&
         answer.kind == Kind::answer && ::ftruncate(memory_, 0) == 0;
}

}  // namespace geosft
