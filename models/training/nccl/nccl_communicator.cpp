// SPDX-License-Identifier: Apache-2.0
#include "models/training/nccl/nccl_communicator.h"

#include <c10/core/impl/VirtualGuardImpl.h>

#include <cstdlib>
#include <cstring>
#include <future>
#include <optional>
#include <thread>

#include "models/training/nccl/nccl_library.h"
#include "models/training/nccl/watched_group.h"

namespace geosft {
namespace {

// The leading process makes it, the others get it.
nccl::UniqueId shared_id(const nccl::Library& library, const Communicator& connected) {
  nccl::UniqueId id{};
  if (connected.leads()) {
    nccl::require_success(library, library.get_unique_id(&id), nullptr, "cannot be started");
  }
  at::Tensor words = at::zeros({static_cast<int64_t>(sizeof(id) / sizeof(int64_t))}, at::kLong);
  std::memcpy(words.data_ptr(), &id, sizeof(id));
  words = connected.from_leader(words);
  std::memcpy(&id, words.const_data_ptr(), sizeof(id));
  return id;
}

// Connections are made here, and not by the first sum of each kind, in the middle of whose call a process would wait
// for all others.
void connect_at_once() {
  setenv("NCCL_RUNTIME_CONNECT", "0", /*overwrite=*/0);
}

// In a thread beside, which is left alone where it never comes to an end: because another process has failed, say.
std::future<nccl::Group*> begin_to_connect(const nccl::Library& library, const Communicator& connected,
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

// Meanwhile the processes keep talking: one that fails gets its turn to say why.
nccl::Group* connect(const nccl::Library& library, const Communicator& connected, at::Device device) {
  constexpr std::chrono::milliseconds between{20};
  connect_at_once();
  std::future<nccl::Group*> coming = begin_to_connect(library, connected, shared_id(library, connected), device);
  std::optional<nccl::Group*> group;
  do {
    if (!group && coming.wait_for(between) == std::future_status::ready) group = coming.get();
  } while (connected.any(!group.has_value()));
  return *group;
}

class NcclCommunicator : public Communicator {
 public:
  NcclCommunicator(const Communicator& connected, at::Device device, const nccl::Library& library,
                   const NcclOptions& options)
      : connected_(connected),
        device_(device),
        grace_(options.grace),
        group_(library, connect(library, connected, device), device, options.patience) {}

  int64_t rank() const override { return connected_.rank(); }
  int64_t size() const override { return connected_.size(); }
  std::unique_ptr<PendingSum> start_sum(const at::Tensor& values) const override {
    group_.check();
    return values.device() == device_ ? group_.start_sum(values) : connected_.start_sum(values);
  }
  void check() const override { group_.check(); }
  void end_sums() const override { group_.end_sums(grace_); }
  void await_turn_to_speak() const override {
    connected_.await_turn_to_speak();
    group_.abort();  // not before: other processes that have to give the turn may wait for what is being summed
  }

 private:
  const Communicator& connected_;
  at::Device device_;
  std::chrono::milliseconds grace_;
  mutable nccl::WatchedGroup group_;
};

}  // namespace

std::unique_ptr<Communicator> join_by_nccl(const Communicator& connected, at::Device device,
                                           const NcclOptions& options) {
  return std::make_unique<NcclCommunicator>(connected, device, nccl::load_library(options.library), options);
}

}  // namespace geosft
