// SPDX-License-Identifier: Apache-2.0
#include "models/training/distributed/nccl/nccl_communicator.h"

#include <c10/core/impl/VirtualGuardImpl.h>

#include <cstdlib>
#include <cstring>
#include <future>
#include <optional>
#include <thread>

#include "models/training/distributed/nccl/nccl_library.h"
#include "models/training/distributed/nccl/nccl_watchdog.h"

namespace geosft {
namespace {

// Creates the id in rank 0 and broadcasts it to the others.
nccl::UniqueId broadcast_id(const nccl::Library& library, const Communicator& connected) {
  nccl::UniqueId id{};
  if (connected.is_root()) {
    nccl::require_success(library, library.get_unique_id(&id), nullptr, "cannot be started");
  }
  at::Tensor words = at::zeros({static_cast<int64_t>(sizeof(id) / sizeof(int64_t))}, at::kLong);
  std::memcpy(words.data_ptr(), &id, sizeof(id));
  words = connected.broadcast(words);
  std::memcpy(&id, words.const_data_ptr(), sizeof(id));
  return id;
}

// Makes NCCL connect when the communicator is initialised, not in the first all-reduce of each kind, whose call would
// block until all other processes have called it.
void disable_lazy_connect() {
  setenv("NCCL_RUNTIME_CONNECT", "0", /*overwrite=*/0);
}

// Runs in a detached thread: if another process fails, the call may never return.
std::future<nccl::Group*> connect_async(const nccl::Library& library, const Communicator& connected,
                                        const nccl::UniqueId& id, at::Device device) {
  std::packaged_task<nccl::Group*()> task([library, id, device, rank = static_cast<int>(connected.rank()),
                                           size = static_cast<int>(connected.size())] {
    const c10::impl::VirtualGuardImpl gpus(device.type());
    gpus.setDevice(device);
    nccl::Group* group = nullptr;
    nccl::require_success(library, library.comm_init_rank(&group, size, id, rank), nullptr, "cannot connect the GPUs");
    return group;
  });
  std::future<nccl::Group*> found = task.get_future();
  std::thread(std::move(task)).detach();
  return found;
}

// The processes keep communicating while they connect, so that one that fails can report its error.
nccl::Group* connect(const nccl::Library& library, const Communicator& connected, at::Device device) {
  constexpr std::chrono::milliseconds interval{20};
  disable_lazy_connect();
  std::future<nccl::Group*> pending = connect_async(library, connected, broadcast_id(library, connected), device);
  std::optional<nccl::Group*> group;
  do {
    if (!group && pending.wait_for(interval) == std::future_status::ready) group = pending.get();
  } while (connected.any(!group.has_value()));
  return *group;
}

class NcclCommunicator : public Communicator {
 public:
  NcclCommunicator(const Communicator& connected, at::Device device, const nccl::Library& library,
                   const NcclOptions& options)
      : connected_(connected),
        device_(device),
        drain_timeout_(options.drain_timeout),
        watchdog_(library, connect(library, connected, device), device, options.timeout) {}

  int64_t rank() const override { return connected_.rank(); }
  int64_t size() const override { return connected_.size(); }
  std::unique_ptr<Work> all_reduce(const at::Tensor& values) const override {
    watchdog_.check();
    return values.device() == device_ ? watchdog_.all_reduce(values) : connected_.all_reduce(values);
  }
  void check() const override { watchdog_.check(); }
  void drain() const override { watchdog_.drain(drain_timeout_); }
  void elect_error_reporter() const override {
    connected_.elect_error_reporter();
    watchdog_.abort();  // not earlier: rank 0, which elects the reporter, may be waiting for an all-reduce on the GPU
  }

 private:
  const Communicator& connected_;
  at::Device device_;
  std::chrono::milliseconds drain_timeout_;
  mutable nccl::NcclWatchdog watchdog_;
};

}  // namespace

std::unique_ptr<Communicator> make_nccl_communicator(const Communicator& connected, at::Device device,
                                                     const NcclOptions& options) {
  return std::make_unique<NcclCommunicator>(connected, device, nccl::load_library(options.library), options);
}

}  // namespace geosft
