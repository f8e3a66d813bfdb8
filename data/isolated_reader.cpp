// SPDX-License-Identifier: Apache-2.0
#include "data/isolated_reader.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>

#include "data/shape.h"

namespace geosft {
namespace {

enum class Kind : char { answer, refusal, failure };

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

struct Message {
  Kind kind = Kind::answer;
  std::string text;

  bool send(int socket) const {
    const uint64_t size = text.size();
    return send_all(socket, &kind, sizeof(kind)) && send_all(socket, &size, sizeof(size)) &&
           send_all(socket, text.data(), text.size());
  }
  bool receive(int socket) {
    uint64_t size = 0;
    constexpr uint64_t longest = uint64_t{1} << 26;
    if (!receive_all(socket, &kind, sizeof(kind)) || !receive_all(socket, &size, sizeof(size)) || size > longest) {
      return false;
    }
    text.resize(size);
    return receive_all(socket, text.data(), size);
  }
};

void limit(__rlimit_resource resource, uint64_t value) {
  rlimit now{};
  ::getrlimit(resource, &now);
  now.rlim_cur = std::min<rlim_t>(value, now.rlim_max);
  ::setrlimit(resource, &now);
}

// The address space that this process has, in bytes.
uint64_t address_space() {
  uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
}

// Signals end the child: the handlers are the parent's business, and so is what is printed.
void detach() {
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGXCPU, SIGTERM}) ::signal(signal, SIG_DFL);
  ::signal(SIGINT, SIG_IGN);  // the parent decides
  const int nowhere = ::open("/dev/null", O_WRONLY);
  if (nowhere >= 0) ::dup2(nowhere, STDERR_FILENO);
  limit(RLIMIT_CORE, 0);
}

Message answer_to(const std::string& request, const IsolatedReader::Work& work, IsolatedReader::Room& room) {
  try {
    return {Kind::answer, work(request, room)};
  } catch (const DataError& error) {
    return {Kind::refusal, error.what()};
  } catch (const std::exception&) {
    return {Kind::failure, {}};  // too little memory, most likely
  }
}

}  // namespace

void IsolatedReader::Room::allow(uint64_t bytes) {
  rlimit now{};
  ::getrlimit(RLIMIT_AS, &now);
  if (now.rlim_cur != RLIM_INFINITY) limit(RLIMIT_AS, now.rlim_cur + bytes);
}

void* IsolatedReader::Room::take(uint64_t bytes) {
  if (bytes == 0) return nullptr;
  allow(bytes);
  void* room = MAP_FAILED;
  if (::ftruncate(memory_, static_cast<off_t>(bytes)) == 0) {
    room = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory_, 0);
  }
  TORCH_CHECK(room != MAP_FAILED, "no memory for ", bytes, " bytes");
  return room;
}

void IsolatedReader::serve(int socket, int memory, uint64_t file_bytes, const Work& work) {
  constexpr uint64_t least_memory = uint64_t{64} << 20, least_seconds = 5, bytes_a_second = uint64_t{4} << 20;
  detach();
  limit(RLIMIT_CPU, least_seconds + file_bytes / bytes_a_second);
  limit(RLIMIT_AS, address_space() + least_memory + 4 * file_bytes);
  Room room(memory);
  Message request;
  while (request.receive(socket) && answer_to(request.text, work, room).send(socket)) continue;
  ::_exit(0);
}

IsolatedReader::IsolatedReader(const std::string& file, uint64_t file_bytes, const Work& work) {
  int ends[2] = {-1, -1};
  memory_ = ::memfd_create("geosft", MFD_CLOEXEC);
  if (memory_ >= 0 && ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0) child_ = ::fork();
  if (child_ == 0) {
    ::close(ends[0]);
    serve(ends[1], memory_, file_bytes, work);
  }
  const std::string reason = std::strerror(errno);
  if (ends[1] >= 0) ::close(ends[1]);
  socket_ = ends[0];
  if (child_ > 0) return;
  if (socket_ >= 0) ::close(socket_);
  if (memory_ >= 0) ::close(memory_);
  throw DataError(file, "a process to read it in", reason);
}

IsolatedReader::~IsolatedReader() {
  ::shutdown(socket_, SHUT_RDWR);  // children of other files may hold this end, too
  ::close(socket_);
  ::close(memory_);
  while (::waitpid(child_, nullptr, 0) < 0 && errno == EINTR) continue;
}

std::optional<std::string> IsolatedReader::ask(const std::string& request) {
  Message answer;
  if (!Message{Kind::answer, request}.send(socket_) || !answer.receive(socket_)) return std::nullopt;
  if (answer.kind == Kind::refusal) throw DataError(answer.text);
  if (answer.kind == Kind::failure) return std::nullopt;
  return answer.text;
}

at::Tensor IsolatedReader::taken(at::IntArrayRef sizes, at::ScalarType type) const {
  at::Tensor out = at::empty(sizes, type);
  if (out.numel() == 0) return out;
  struct stat about {};
  TORCH_CHECK(::fstat(memory_, &about) == 0 && static_cast<uint64_t>(about.st_size) == out.nbytes(), "the answer has ",
              about.st_size, " bytes in place of ", out.nbytes());
  void* room = ::mmap(nullptr, out.nbytes(), PROT_READ, MAP_SHARED, memory_, 0);
  TORCH_CHECK(room != MAP_FAILED, "no memory for ", out.nbytes(), " bytes");
  std::memcpy(out.data_ptr(), room, out.nbytes());
  ::munmap(room, out.nbytes());
  return out;
}

}  // namespace geosft
