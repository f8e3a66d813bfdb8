// SPDX-License-Identifier: Apache-2.0
#include "models/training/distributed/mpi/mpi_communicator.h"

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

// Exchanges messages between failed processes and rank 0, on a separate communicator.
class ErrorChannel {
 public:
  void open() { MPI_Comm_dup(MPI_COMM_WORLD, &channel_); }

  // Called by a failed process other than rank 0; returns when it may report its error.
  void request_report() const {
    MPI_Send(nullptr, 0, MPI_BYTE, 0, 0, channel_);
    MPI_Recv(nullptr, 0, MPI_BYTE, 0, 0, channel_, MPI_STATUS_IGNORE);
  }
  // Called by rank 0 while it waits for the others: lets the first process that has failed report its error.
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

class MpiWork : public Work {
 public:
  // `errors` is null except in rank 0.
  MpiWork(const at::Tensor& values, ErrorChannel* errors) : values_{values}, errors_(errors) {
    TORCH_CHECK(values.is_cpu() && values.is_contiguous(), "values must be contiguous and on the CPU");
    TORCH_CHECK(values.numel() <= std::numeric_limits<int>::max(), "values must be fewer than 2^31, got ",
                values.numel());
    MPI_Iallreduce(MPI_IN_PLACE, values.data_ptr(), static_cast<int>(values.numel()), type_of(values), MPI_SUM,
                   MPI_COMM_WORLD, &request_);
  }
  // MPI_Iallreduce cannot be cancelled: MPI may write to values that were not waited for until the process ends.
  ~MpiWork() override {
    static auto* const abandoned = new std::list<at::Tensor>();
    if (running() && !done()) abandoned->splice(abandoned->end(), values_);
  }
  MpiWork(const MpiWork&) = delete;
  MpiWork& operator=(const MpiWork&) = delete;
  void wait() override {
    if (errors_ == nullptr) {
      MPI_Wait(&request_, MPI_STATUS_IGNORE);
      return;
    }
    while (!done()) errors_->answer();
  }
  void progress() override { done(); }

 private:
  bool done() {
    int done = 0;
    MPI_Test(&request_, &done, MPI_STATUS_IGNORE);
    return done != 0;
  }

  std::list<at::Tensor> values_;  // one tensor
  ErrorChannel* errors_;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

// Ends the other processes, which would otherwise wait for this one forever.
void abort_all(int status, void*) {
  if (running()) MPI_Abort(MPI_COMM_WORLD, status == 0 ? 1 : status);
}

class MpiCommunicator : public Communicator {
 public:
  MpiCommunicator() {
    int level = MPI_THREAD_SINGLE;
    // FUNNELED: only the training thread calls MPI, not those of the loaders. Errors of MPI itself end all processes.
    if (running() || MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &level) != MPI_SUCCESS) {
      throw std::runtime_error("MPI cannot be started");
    }
    on_exit(abort_all, nullptr);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
    if (level < MPI_THREAD_FUNNELED) {
      throw std::runtime_error("this MPI does not support MPI_THREAD_FUNNELED");
    }
    errors_.open();
  }
  // During stack unwinding the other processes are ended at exit (abort_all), after the error has been reported.
  ~MpiCommunicator() override {
    if (std::uncaught_exceptions() == 0) MPI_Finalize();
  }
  MpiCommunicator(const MpiCommunicator&) = delete;
  MpiCommunicator& operator=(const MpiCommunicator&) = delete;

  int64_t rank() const override { return rank_; }
  int64_t size() const override { return size_; }
  std::unique_ptr<Work> all_reduce(const at::Tensor& values) const override {
    return std::make_unique<MpiWork>(values, is_root() ? &errors_ : nullptr);
  }
  void elect_error_reporter() const override {
    if (!is_root()) errors_.request_report();
  }

 private:
  int rank_ = 0, size_ = 1;
  mutable ErrorChannel errors_;
};

}  // namespace
}  // namespace geosft

extern "C" __attribute__((visibility("default"))) geosft::Communicator* geosft_start_mpi() {
  return new geosft::MpiCommunicator();
}
