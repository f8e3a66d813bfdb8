// SPDX-License-Identifier: Apache-2.0
#include "models/training/mpi/mpi_communicator.h"

#include <mpi.h>

#include <cstdlib>
#include <limits>
#include <list>
#include <stdexcept>

namespace geosft {
namespace {

MPI_Datatype type_of(const at::Tensor& values) {
  switch (values.scalar_type()) {
    case at::kFloat:
      return MPI_FLOAT;
    case at::kDouble:
      return MPI_DOUBLE;
    case at::kLong:
      return MPI_INT64_T;
    default:
      TORCH_CHECK(false, "values must be float32, float64 or int64, got ", values.scalar_type());
  }
}

bool running() {
  int started = 0, ended = 0;
  MPI_Initialized(&started);
  MPI_Finalized(&ended);
  return started != 0 && ended == 0;
}

// What failed processes and the leading one tell each other, apart from the sums.
class Failures {
 public:
  void begin() { MPI_Comm_dup(MPI_COMM_WORLD, &channel_); }

  // In a failed process that does not lead.
  void await_turn() const {
    MPI_Send(nullptr, 0, MPI_BYTE, 0, 0, channel_);
    MPI_Recv(nullptr, 0, MPI_BYTE, 0, 0, channel_, MPI_STATUS_IGNORE);
  }
  // In the leading process, while it waits for the others: the first that has failed gets its turn.
  void answer() {
    int failed = 0;
    MPI_Status status;
    if (answered_) return;
    MPI_Iprobe(MPI_ANY_SOURCE, 0, channel_, &failed, &status);
    if (failed == 0) return;
    MPI_Send(nullptr, 0, MPI_BYTE, status.MPI_SOURCE, 0, channel_);
    answered_ = true;
  }

 private:
  MPI_Comm channel_ = MPI_COMM_NULL;
  bool answered_ = false;
};

class MpiSum : public PendingSum {
 public:
  // `failures` in the leading process, null in the others.
  MpiSum(const at::Tensor& values, Failures* failures) : values_{values}, failures_(failures) {
    TORCH_CHECK(values.is_cpu() && values.is_contiguous(), "values must be contiguous and on the CPU");
    TORCH_CHECK(values.numel() <= std::numeric_limits<int>::max(), "values must be fewer than 2^31, got ",
                values.numel());
    MPI_Iallreduce(MPI_IN_PLACE, values.data_ptr(), static_cast<int>(values.numel()), type_of(values), MPI_SUM,
                   MPI_COMM_WORLD, &request_);
  }
  // A sum cannot be taken back: to values that nobody waited for MPI may write for as long as the process lives.
  ~MpiSum() override {
    static auto* const left = new std::list<at::Tensor>();
    if (running() && !done()) left->splice(left->end(), values_);
  }
  MpiSum(const MpiSum&) = delete;
  MpiSum& operator=(const MpiSum&) = delete;
  void wait() override {
    if (failures_ == nullptr) {
      MPI_Wait(&request_, MPI_STATUS_IGNORE);
      return;
    }
    while (!done()) failures_->answer();
  }
  void progress() override { done(); }

 private:
  bool done() {
    int done = 0;
    MPI_Test(&request_, &done, MPI_STATUS_IGNORE);
    return done != 0;
  }

  std::list<at::Tensor> values_;  // one
  Failures* failures_;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

// A process that leaves by an error would let the others wait for it forever.
void end_all(int status, void*) {
  if (running()) MPI_Abort(MPI_COMM_WORLD, status == 0 ? 1 : status);
}

class MpiCommunicator : public Communicator {
 public:
  MpiCommunicator() {
    int level = MPI_THREAD_SINGLE;
    // FUNNELED: loaders have threads, and only the one that trains calls MPI. Errors of MPI itself end all processes.
    if (running() || MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &level) != MPI_SUCCESS) {
      throw std::runtime_error("MPI cannot be started");
    }
    on_exit(end_all, nullptr);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
    if (level < MPI_THREAD_FUNNELED) {
      throw std::runtime_error("this MPI does not allow threads beside the one calling it");
    }
    failures_.begin();
  }
  // While an exception is on its way, the exit ends the others, after the reason was told.
  ~MpiCommunicator() override {
    if (std::uncaught_exceptions() == 0) MPI_Finalize();
  }
  MpiCommunicator(const MpiCommunicator&) = delete;
  MpiCommunicator& operator=(const MpiCommunicator&) = delete;

  int64_t rank() const override { return rank_; }
  int64_t size() const override { return size_; }
  std::unique_ptr<PendingSum> start_sum(const at::Tensor& values) const override {
    return std::make_unique<MpiSum>(values, leads() ? &failures_ : nullptr);
  }
  void await_turn_to_speak() const override {
    if (!leads()) failures_.await_turn();
  }

 private:
  int rank_ = 0, size_ = 1;
  mutable Failures failures_;
};

}  // namespace
}  // namespace geosft

extern "C" __attribute__((visibility("default"))) geosft::Communicator* geosft_start_mpi() {
  return new geosft::MpiCommunicator();
}
