// SPDX-License-Identifier: Apache-2.0
// The functions of NCCL that are used, for processes of one machine without a GPU: sums in shared memory, of values in
// the memory of the host, in the order of the ranks. As with NCCL, a sum is enqueued on a stream, waits for the other
// processes however long they take, and ends when it is aborted; unless NCCL_RUNTIME_CONNECT is 0, the call waits for
// them itself. GEOSFT_STAND_IN_FAILS is the rank of a process that cannot be connected; with
// GEOSFT_STAND_IN_HIDES_ERRORS none can be asked for errors.
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

#include "tests/models/training/distributed/nccl/stand_in_stream.h"

namespace {

constexpr size_t max_processes = 8;  // processes
constexpr size_t piece = 64 * 1024;  // bytes that are summed at a time
constexpr int success = 0, system_error = 2, invalid_usage = 5, remote_error = 6;
constexpr int int64 = 4, float32 = 7, float64 = 8;

// What the processes have together.
struct Rendezvous {
  std::atomic<int> here, round;  // zero at first, as the memory is
  std::array<std::atomic<pid_t>, max_processes> process;
  std::array<std::array<std::byte, piece>, max_processes> values;
};

struct Id {
  char bytes[128];
};

bool ended(pid_t process) {
  std::string stat;
  std::getline(std::ifstream("/proc/" + std::to_string(process) + "/stat") >> std::ws, stat);
  const size_t name = stat.rfind(')');
  return name == std::string::npos || stat.at(name + 2) == 'Z';
}

template <class Value>
void sum(const Rendezvous& all, int size, std::byte* to, size_t bytes) {
  for (size_t at = 0; at < bytes; at += sizeof(Value)) {
    Value total{};
    for (int rank = 0; rank < size; ++rank) {
      Value part;
      std::memcpy(&part, &all.values[static_cast<size_t>(rank)][at], sizeof(Value));
      total += part;
    }
    std::memcpy(to + at, &total, sizeof(Value));
  }
}

// Process 0 makes the file, the others wait for it.
int open_meeting(const Id& id, int rank) {
  if (rank == 0) return shm_open(id.bytes, O_RDWR | O_CREAT, 0600);
  for (;;) {
    const int file = shm_open(id.bytes, O_RDWR, 0600);
    if (file >= 0 || errno != ENOENT) return file;
    sched_yield();
  }
}

// Leaves nothing behind where process 0 has made its file.
int fail_to_connect(const Id& id, int rank) {
  if (rank > 0) close(open_meeting(id, rank));
  shm_unlink(id.bytes);
  return invalid_usage;
}

}  // namespace

struct ncclComm {
  Rendezvous* all;
  int rank, size;
  std::atomic<bool> aborted{false};
  std::atomic<int> enqueued{0};

  // False where it was aborted before all have come.
  bool barrier() {
    const int round = all->round;
    if (++all->here == size) {
      all->here = 0;
      ++all->round;
      return true;
    }
    while (all->round == round) {
      if (aborted) return false;
      sched_yield();
    }
    return true;
  }

  void sum_piece(std::byte* to, size_t bytes, int type) {
    std::memcpy(all->values[static_cast<size_t>(rank)].data(), to, bytes);
    if (!barrier()) return;
    if (type == float32) sum<float>(*all, size, to, bytes);
    if (type == float64) sum<double>(*all, size, to, bytes);
    if (type == int64) sum<uint64_t>(*all, size, to, bytes);
    barrier();
  }
};

extern "C" {

int ncclGetUniqueId(Id* id) {
  const std::string name = "/geosft_stand_in_" + std::to_string(getpid());
  shm_unlink(name.c_str());  // of a process with this number that came to nothing
  std::memset(id->bytes, 0, sizeof(Id));
  std::memcpy(id->bytes, name.c_str(), name.size());
  return success;
}

int ncclCommInitRank(ncclComm** comm, int size, Id id, int rank) {
  const char* const fails = std::getenv("GEOSFT_STAND_IN_FAILS");
  if (fails != nullptr && std::to_string(rank) == fails) return fail_to_connect(id, rank);
  const int file = open_meeting(id, rank);
  if (file < 0 || ftruncate(file, sizeof(Rendezvous)) != 0) return system_error;
  void* const memory = mmap(nullptr, sizeof(Rendezvous), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (memory == MAP_FAILED) return system_error;
  *comm = new ncclComm{static_cast<Rendezvous*>(memory), rank, size};
  (*comm)->all->process[static_cast<size_t>(rank)] = getpid();
  (*comm)->barrier();
  if (rank == 0) shm_unlink(id.bytes);
  return success;
}

int ncclAllReduce(const void* from, void* to, size_t count, int type, int, ncclComm* comm, void* stream) {
  if (from != to) return invalid_usage;
  const char* const late = std::getenv("NCCL_RUNTIME_CONNECT");
  if ((late == nullptr || std::string(late) != "0") && !comm->barrier()) return system_error;
  const size_t bytes = count * (type == float32 ? 4 : 8);
  ++comm->enqueued;
  static_cast<geosft::test::StandInStream*>(stream)->add([=] {
    auto* const values = static_cast<std::byte*>(to);
    for (size_t at = 0; at < bytes && !comm->aborted; at += piece) {
      comm->sum_piece(values + at, std::min(piece, bytes - at), type);
    }
    --comm->enqueued;
  });
  return success;
}

int ncclCommGetAsyncError(ncclComm* comm, int* error) {
  if (std::getenv("GEOSFT_STAND_IN_HIDES_ERRORS") != nullptr) return invalid_usage;
  *error = success;
  for (int rank = 0; rank < comm->size; ++rank) {
    if (ended(comm->all->process[static_cast<size_t>(rank)])) *error = remote_error;
  }
  return success;
}

int ncclCommDestroy(ncclComm* comm) {
  while (comm->enqueued > 0) sched_yield();
  munmap(comm->all, sizeof(Rendezvous));
  delete comm;
  return success;
}

int ncclCommAbort(ncclComm* comm) {
  comm->aborted = true;
  return ncclCommDestroy(comm);
}

const char* ncclGetErrorString(int result) {
  return result == remote_error ? "remote process exited or there was a network error" : "the stand-in refuses";
}

const char* ncclGetLastError(ncclComm*) {
  return "";
}
}
