// SPDX-License-Identifier: Apache-2.0
#include "models/training/nccl/watched_group.h"

#include <c10/core/impl/VirtualGuardImpl.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <exception>
#include <stdexcept>

namespace geosft::nccl {
namespace {

using c10::impl::VirtualGuardImpl;

constexpr std::chrono::milliseconds glance{100};  // between two looks at the sums

Number type_of(const at::Tensor& values) {
  TORCH_CHECK(values.is_contiguous(), "values must be contiguous");
  switch (values.scalar_type()) {
    case at::kFloat:
      return Number::float32;
    case at::kDouble:
      return Number::float64;
    case at::kLong:
      return Number::int64;
    default:
      TORCH_CHECK(false, "values must be float32, float64 or int64, got ", values.scalar_type());
  }
}

// The stream that computes waits for a sum, the program does not.
class StreamSum : public PendingSum {
 public:
  using Left = std::shared_ptr<std::list<at::Tensor>>;
  StreamSum(const at::Tensor& values, Left left) : values_{values}, left_(std::move(left)) {}
  ~StreamSum() override {
    if (!waited_) left_->splice(left_->end(), values_);  // allocates nothing: memory may just have run out
  }
  StreamSum(const StreamSum&) = delete;
  StreamSum& operator=(const StreamSum&) = delete;
  void wait() override {
    const at::Device device = values_.front().device();
    done_->block(VirtualGuardImpl(device.type()).getStream(device));
    waited_ = true;
  }
  void set_done(std::shared_ptr<c10::Event> done) { done_ = std::move(done); }

 private:
  std::list<at::Tensor> values_;  // one, alive while they are summed
  std::shared_ptr<c10::Event> done_;
  Left left_;
  bool waited_ = false;
};

}  // namespace

WatchedGroup::WatchedGroup(const Library& library, Group* group, at::Device device, std::chrono::milliseconds patience)
    : library_(library),
      group_(group),
      device_(device),
      stream_(VirtualGuardImpl(device.type()).getStreamFromGlobalPool(device, /*isHighPriority=*/true)),
      patience_(patience),
      left_(std::make_shared<std::list<at::Tensor>>()),
      thread_([this] { watch(); }) {}

WatchedGroup::~WatchedGroup() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
    if (std::uncaught_exceptions() > 0) drop();
  }
  ended_.notify_one();
  thread_.join();
  if (group_ != nullptr) library_.comm_destroy(group_);
}

std::unique_ptr<PendingSum> WatchedGroup::start_sum(const at::Tensor& values) {
  const Number type = type_of(values);
  c10::Event computed(device_.type());
  computed.record(VirtualGuardImpl(device_.type()).getStream(device_));
  computed.block(stream_);
  auto sum = std::make_unique<StreamSum>(values, left_);  // keeps them, whatever comes of the call
  const auto done = std::make_shared<c10::Event>(device_.type());
  Group* const group = begin_call();
  // Without the lock: should the call itself wait for other processes, the thread must be able to end that.
  const Result result = library_.all_reduce(values.data_ptr(), values.data_ptr(), static_cast<size_t>(values.numel()),
                                            type, Reduction::sum, group, stream_.native_handle());
  end_call(result, done);
  sum->set_done(done);
  return sum;
}

Group* WatchedGroup::begin_call() {
  const std::lock_guard lock(mutex_);
  require_group();
  last_ = {nullptr, Clock::now()};
  return group_;
}

// Of a call that has failed, too, the stream comes to an end.
void WatchedGroup::end_call(Result result, const std::shared_ptr<c10::Event>& done) {
  const std::lock_guard lock(mutex_);
  done->record(stream_);
  last_->done = done;
  require_group();
  require_success(library_, result, group_, "cannot sum over the GPUs");
}

void WatchedGroup::require_group() const {
  if (group_ == nullptr) throw std::runtime_error(failure_.empty() ? "the GPUs are no longer connected" : failure_);
}

void WatchedGroup::check() {
  const std::lock_guard lock(mutex_);
  if (!failure_.empty()) throw std::runtime_error(failure_);
}

void WatchedGroup::abort() {
  const std::lock_guard lock(mutex_);
  drop();
}

void WatchedGroup::end_sums(std::chrono::milliseconds grace) {
  std::unique_lock lock(mutex_);
  const auto wait = [&] {
    const Clock::time_point last = Clock::now() + grace;
    while (!idle() && Clock::now() < last) ended_.wait_for(lock, glance);
  };
  wait();
  if (!idle()) {
    drop();
    wait();  // what is broken off leaves the GPU a little later
  }
  if (idle()) left_->clear();
}

void WatchedGroup::watch() {
  std::unique_lock lock(mutex_);
  try {
    VirtualGuardImpl(device_.type()).setDevice(device_);  // of a new thread it is the first one, which is another's
    while (!ended_.wait_for(lock, glance, [&] { return over_ || group_ == nullptr; })) look();
  } catch (const c10::Error& error) {  // of CUDA
    fail(error.what_without_backtrace());
  } catch (const std::exception& error) {
    fail(error.what());
  }
}

void WatchedGroup::look() {
  Result error = Result::success;
  require_success(library_, library_.comm_get_async_error(group_, &error), group_, "cannot be asked for errors");
  if (error != Result::success && error != Result::in_progress) {
    fail("NCCL has lost the other GPUs: " + reason_of(library_, error, group_));
  } else if (idle()) {
    last_.reset();
  } else if (Clock::now() - last_->at > patience_) {
    fail("a sum over the GPUs has not ended within " +
         std::to_string(std::chrono::duration_cast<std::chrono::seconds>(patience_).count()) +
         " s: another process is lost or does not go on");
  }
}

void WatchedGroup::fail(const std::string& reason) {
  failure_ = reason;
  drop();
}

// Sums run one after the other.
bool WatchedGroup::idle() const {
  return !last_ || (last_->done && last_->done->query());
}

void WatchedGroup::drop() {
  if (group_ != nullptr) library_.comm_abort(group_);
  group_ = nullptr;
}

}  // namespace geosft::nccl
