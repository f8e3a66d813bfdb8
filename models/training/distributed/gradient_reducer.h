// SPDX-License-Identifier: Apache-2.0
// Sums gradients over processes while the backward pass is still running, as DistributedDataParallel does.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "models/training/distributed/communicator.h"

namespace geosft {

// Returns the bucket size: half a MiB per process, between 1 and 8 MiB. The latency of an all-reduce grows with the
// number of processes, and the last one does not overlap with computation.
int64_t bucket_bytes_for(int64_t processes);

// Parameters are assigned to buckets in reverse order, which is roughly the order in which the backward pass completes
// their gradients. The all-reduce of a bucket starts as soon as all its gradients are complete, and overlaps with the
// rest of the backward pass. All processes start the buckets in the same order. The host does not wait for the GPU.
class GradientReducer {
 public:
  // The parameters are float32 or float64, on one device that `processes` can all-reduce. `processes` must outlive the
  // object; a parameter may belong to one reducer at a time. A bucket is closed by the parameter that fills it to
  // `bucket_bytes`.
  GradientReducer(const Communicator& processes, std::vector<at::Tensor> parameters, int64_t bucket_bytes);
  ~GradientReducer();
  GradientReducer(const GradientReducer&) = delete;
  GradientReducer& operator=(const GradientReducer&) = delete;

  // Called before and after one backward() that begins without gradients. After finish() the gradients are the sums
  // over the processes; a parameter without a gradient in every process still has none.
  void begin();
  void finish();

  int64_t buckets() const { return static_cast<int64_t>(buckets_.size()); }

 private:
  struct Bucket {
    std::vector<size_t> members;  // parameters
    at::Tensor values;            // their gradients, concatenated
    size_t missing = 0;           // gradients that are not complete yet
    std::unique_ptr<Work> work = {};
  };
  void assign_buckets(int64_t bucket_bytes);
  void fill_bucket(const std::vector<size_t>& members);
  void mark_ready(size_t parameter);
  void start_next();
  at::Tensor processes_with_gradient() const;
  void copy_back(Bucket& bucket, const at::Tensor& processes_with_gradient);

  const Communicator& processes_;
  std::vector<at::Tensor> parameters_;
  std::vector<size_t> bucket_of_;
  std::vector<Bucket> buckets_;
  size_t started_ = 0;  // buckets
  bool active_ = false;
};

}  // namespace geosft
