// SPDX-License-Identifier: Apache-2.0
#include "models/training/mpi/mpi_communicator.h"

#include <mpi.h>

#include <cstdlib>
#include <limits>
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

class MpiSum : public PendingSum {
 public:
  explicit MpiSum(const at::Tensor& values) : values_(values) {
    TORCH_CHECK(values.is_cpu() && values.is_contiguous(), "values must be contiguous and on the CPU");
    TORCH_CHECK(values.numel() <= std::numeric_limits<int>::max(), "values must be fewer than 2^31, got ",
                values.numel());
    MPI_Iallreduce(MPI_IN_PLACE, values.data_ptr(), static_cast<int>(values.numel()), type_of(values), MPI_SUM,
                   MPI_COMM_WORLD, &request_);
  }
  void wait() override { MPI_Wait(&request_, MPI_STATUS_IGNORE); }
  void progress() override {
    int done = 0;
    MPI_Test(&request_, &done, MPI_STATUS_IGNORE);
  }

 private:
  at::Tensor values_;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

bool running() {
  int started = 0, ended = 0;
  MPI_Initialized(&started);
  MPI_Finalized(&ended);
  return started != 0 && ended == 0;
}

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
    if (level < MPI_THREAD_FUNNELED)
      throw std::runtime_error("this MPI does not allow threads beside the one calling it");
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
    return std::make_unique<MpiSum>(values);
  }

 private:
  int rank_ = 0, size_ = 1;
};

}  // namespace
}  // namespace geosft

extern "C" __attribute__((visibility("default"))) geosft::Communicator* geosft_start_mpi() {
  return new geosft::MpiCommunicator();
}
