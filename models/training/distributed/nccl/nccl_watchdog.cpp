// SPDX-License-Identifier: Apache-2.0
#include "models/training/distributed/nccl/nccl_watchdog.h"

#include <c10/core/impl/VirtualGuardImpl.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <exception>
#include <stdexcept>

namespace geosft::nccl {
namespace {

using c10::impl::VirtualGuardImpl;

constexpr std::chrono::milliseconds poll_interval{100};

DataType type_of(const at::Tensor& values) {
  TORCH_CHECK(values.is_contiguous(), "values must be contiguous");
  switch (values.scalar_type()) {
    case at::kFloat:
      return DataType::float32;
    case at::kDouble:
      return DataType::float64;
    case at::kLong:
      return DataType::int64;
    default:
      TORCH_CHECK(false, "values must be float32, float64 or int64, got ", values.scalar_type());
  }
}

// wait() makes the computing stream wait, not the host.
class NcclWork : public Work {
 public:
  using Abandoned = std::shared_ptr<std::list<at::Tensor>>;
  NcclWork(const at::Tensor& values, Abandoned abandoned) : values_{values}, abandoned_(std::move(abandoned)) {}
  ~NcclWork() override {
    if (!waited_) abandoned_->splice(abandoned_->end(), values_);  // does not allocate: the GPU may be out of memory
  }
  NcclWork(const NcclWork&) = delete;
  NcclWork& operator=(const NcclWork&) = delete;
  void wait() override {
    const at::Device device = values_.front().device();
    done_->block(VirtualGuardImpl(device.type()).getStream(device));
    waited_ = true;
  }
  void set_done(std::shared_ptr<c10::Event> done) { done_ = std::move(done); }

 private:
  std::list<at::Tensor> values_;  // one tensor, kept alive during the all-reduce
  std::shared_ptr<c10::Event> done_;
  Abandoned abandoned_;
  bool waited_ = false;
};

}  // namespace

NcclWatchdog::NcclWatchdog(const Library& library, Group* group, at::Device device, std::chrono::milliseconds timeout)
    : library_(library),
      group_(group),
      device_(device),
      stream_(VirtualGuardImpl(device.type()).getStreamFromGlobalPool(device, /*isHighPriority=*/true)),
      timeout_(timeout),
      abandoned_(std::make_shared<std::list<at::Tensor>>()),
      thread_([this] { watch(); }) {}

NcclWatchdog::~NcclWatchdog() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    if (std::uncaught_exceptions() > 0) abort_group();
  }
  changed_.notify_one();
  thread_.join();
  if (group_ != nullptr) library_.comm_destroy(group_);
}

std::unique_ptr<Work> NcclWatchdog::all_reduce(const at::Tensor& values) {
  const DataType type = type_of(values);
  c10::Event computed(device_.type());
  computed.record(VirtualGuardImpl(device_.type()).getStream(device_));
  computed.block(stream_);
  auto sum = std::make_unique<NcclWork>(values, abandoned_);  // keeps `values` alive even if the call below throws
  const auto done = std::make_shared<c10::Event>(device_.type());
  Group* const group = begin_call();
  // Without the lock: if the call blocks on other processes, the thread must be able to abort it.
  const Result result = library_.all_reduce(values.data_ptr(), values.data_ptr(), static_cast<size_t>(values.numel()),
                                            type, Reduction::sum, group, stream_.native_handle());
  end_call(result, done);
  sum->set_done(done);
  return sum;
}

Group* NcclWatchdog::begin_call() {
  const std::lock_guard lock(mutex_);
  require_group();
  last_ = {nullptr, Clock::now()};
  return group_;
}

// The event is recorded after a failed call, too: the stream still completes.
void NcclWatchdog::end_call(Result result, const std::shared_ptr<c10::Event>& done) {
  const std::lock_guard lock(mutex_);
  done->record(stream_);
  last_->done = done;
  require_group();
  require_success(library_, result, group_, "cannot sum over the GPUs");
}

void NcclWatchdog::require_group() const {
  if (group_ == nullptr) throw std::runtime_error(failure_.empty() ? "the GPUs are no longer connected" : failure_);
}

void NcclWatchdog::check() {
  const std::lock_guard lock(mutex_);
  if (!failure_.empty()) throw std::runtime_error(failure_);
}

void NcclWatchdog::abort() {
  const std::lock_guard lock(mutex_);
  abort_group();
}

void NcclWatchdog::drain(std::chrono::milliseconds timeout) {
  std::unique_lock lock(mutex_);
  const auto wait = [&] {
    const Clock::time_point deadline = Clock::now() + timeout;
    while (!idle() && Clock::now() < deadline) changed_.wait_for(lock, poll_interval);
  };
  wait();
  if (!idle()) {
    abort_group();
    wait();  // aborted kernels leave the GPU a little later
  }
  if (idle()) abandoned_->clear();
}

void NcclWatchdog::watch() {
  std::unique_lock lock(mutex_);
  try {
    VirtualGuardImpl(device_.type())
        .setDevice(device_);  // a new thread starts with device 0, which belongs to another process
    while (!changed_.wait_for(lock, poll_interval, [&] { return stopping_ || group_ == nullptr; })) poll();
  } catch (const c10::Error& error) {  // from CUDA
    fail(error.what_without_backtrace());
  } catch (const std::exception& error) {
    fail(error.what());
  }
}

void NcclWatchdog::poll() {
  Result error = Result::success;
  require_success(library_, library_.comm_get_async_error(group_, &error), group_, "cannot be asked for errors");
  if (error != Result::success && error != Result::in_progress) {
    fail("NCCL has lost the other GPUs: " + error_message(library_, error, group_));
  } else if (idle()) {
    last_.reset();
  } else if (Clock::now() - last_->at > timeout_) {
    fail("a sum over the GPUs has not ended within " +
         std::to_string(std::chrono::duration_cast<std::chrono::seconds>(timeout_).count()) +
         " s: another process is lost or does not go on");
  }
}

void NcclWatchdog::fail(const std::string& reason) {
  failure_ = reason;
  abort_group();
}

// All-reduces run in order, so the last one decides.
bool NcclWatchdog::idle() const {
  return !last_ || (last_->done && last_->done->query());
}

void NcclWatchdog::abort_group() {
  if (group_ != nullptr) library_.comm_abort(group_);
  group_ = nullptr;
}

}  // namespace geosft::nccl
