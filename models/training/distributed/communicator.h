// SPDX-License-Identifier: Apache-2.0
// Declares the collective operations of the processes that train one model together, named as in PyTorch's c10d.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <memory>

namespace geosft {

// An asynchronous all-reduce.
class Work {
 public:
  virtual ~Work() = default;
  // Called at most once. On the CPU, returns when the sum is complete. On a GPU, makes the current stream wait for it.
  virtual void wait() = 0;
  // Lets the all-reduce advance without waiting for it. If wait() is never called, the tensor is kept alive until the
  // all-reduce has ended.
  virtual void progress() {}
};

// All processes call the members below in the same order, with tensors of the same shape and type.
class Communicator {
 public:
  virtual ~Communicator() = default;
  virtual int64_t rank() const = 0;  // 0 … size() - 1
  virtual int64_t size() const = 0;
  // Starts to replace `values` (contiguous; float32, float64 or int64) by their sum over all processes; they must not
  // be accessed before wait() has returned. The sum has the same bits in all processes. Integers wrap around. Values
  // are on the CPU, or on the GPU if each process has one (nccl/nccl_communicator.h).
  virtual std::unique_ptr<Work> all_reduce(const at::Tensor& values) const = 0;
  // Throws if all-reduces have been aborted: results that are still on a GPU are invalid then. Results that have been
  // waited for are valid.
  virtual void check() const {}
  // Called by a process that has failed, before it reports its error. Returns when the all-reduces that it has started
  // on a GPU have completed or, if other processes do not take part, have been aborted. Processes that are still
  // training may notice an abort first, and report that they have lost the others.
  virtual void drain() const {}
  // Called by a process that has failed, before it reports its error and exits, which ends the others. An error that
  // several processes have is reported once. Rank 0 returns immediately. Of the other ranks only the first that has
  // failed returns, and only if rank 0 is blocked in an all-reduce; the others never return.
  virtual void elect_error_reporter() const {}

  bool is_root() const { return rank() == 0; }  // rank 0 writes files and reports progress
  // Returns the all-reduced sum of a copy.
  at::Tensor sum(const at::Tensor& values) const;
  // Returns whether `here` is true in any process.
  bool any(bool here) const;
  // Returns when all processes have called it.
  void barrier() const;
  // Returns the values of rank 0.
  at::Tensor broadcast(const at::Tensor& values) const;
};

// Calls make() in rank 0 first, then in the other processes, which can use the caches that it has filled.
template <class Make>
auto root_first(const Communicator& processes, const Make& make) {
  if (!processes.is_root()) processes.barrier();
  auto made = make();
  if (processes.is_root()) processes.barrier();
  return made;
}

// Returns the communicator of a process that trains alone.
const Communicator& one_process();

// Gathers int64 rows that the processes hold: `rows` [count, …] become rows first … first + count - 1 of the result
// [all, …]. No two processes may hold the same row; a process with `absent` contributes none.
at::Tensor all_gather(const Communicator& processes, const at::Tensor& rows, int64_t first, int64_t all,
                      bool absent = false);

}  // namespace geosft
