// SPDX-License-Identifier: Apache-2.0
// The processes that train one model together, as the training sees them.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <memory>

namespace geosft {

// A sum over processes that has been started.
class PendingSum {
 public:
  virtual ~PendingSum() = default;
  // Returns when the sum is there; on a GPU, where it is for all that the calling thread enqueues from now on. Once.
  virtual void wait() = 0;
  // Lets the sum get on without waiting for it. One that is never waited for keeps its values until it is over.
  virtual void progress() {}
};

// All processes call the members below in the same order, with tensors of one shape and type.
class Communicator {
 public:
  virtual ~Communicator() = default;
  virtual int64_t rank() const = 0;  // 0 … size() - 1
  virtual int64_t size() const = 0;
  // Begins to replace `values` (contiguous: float32, float64 or int64) by their sum over all processes; they are not to
  // be touched before wait() has returned. The sum has the same bits in all processes. Integers wrap around. Values are
  // on the CPU, or on the GPU where the processes have one each (nccl/nccl_communicator.h).
  virtual std::unique_ptr<PendingSum> start_sum(const at::Tensor& values) const = 0;
  // Throws where sums have been broken off: what is on a GPU is none then. What has been waited for before is whole.
  virtual void check() const {}
  // Called by a process that has failed and goes on alone before it says why. Returns when what it has begun to sum on
  // a GPU, and waits for no more, is over: summed or, where others do not take part, broken off. Of that a process
  // that still trains may hear first, and say that it has lost the others.
  virtual void end_sums() const {}
  // Called by a process that has failed, before it says why and exits, which ends the others. Returns in the leading
  // one at once; in another one while the leading one waits for a sum, and only in the first that has failed. The
  // others wait for good: what several refuse is said once.
  virtual void await_turn_to_speak() const {}

  bool leads() const { return rank() == 0; }  // the one that writes files and speaks
  // The sum, waited for.
  at::Tensor sum(const at::Tensor& values) const;
  // Whether it is so in any process.
  bool any(bool here) const;
  // Returns when all processes have called it.
  void meet() const;
  // What the leading process has.
  at::Tensor from_leader(const at::Tensor& values) const;
};

// make() in the leading process, then in the others: what it leaves in caches they find.
template <class Make>
auto leader_first(const Communicator& processes, const Make& make) {
  if (!processes.leads()) processes.meet();
  auto made = make();
  if (processes.leads()) processes.meet();
  return made;
}

// A process that trains alone.
const Communicator& one_process();

// rows [count, …] int64 are rows first … first + count - 1 of `all` that the processes have together: all of them.
// Several processes may not have the same row; one with `absent` has none.
at::Tensor gathered_rows(const Communicator& processes, const at::Tensor& rows, int64_t first, int64_t all,
                         bool absent = false);

}  // namespace geosft
