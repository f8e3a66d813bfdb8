// SPDX-License-Identifier: Apache-2.0
// Gradients summed over processes while the backward pass still runs.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "models/training/communicator.h"

namespace geosft {

// Half a MiB a process, from 1 to 8 MiB: every sum takes messages around all of them, and the last has nothing to hide
// behind.
int64_t bucket_bytes_for(int64_t processes);

// Parameters are put into buckets, the last ones first, as the backward pass completes them about so. The sum of a
// bucket is started as soon as all its gradients are there, and gets on while others are computed. Buckets are started
// in one order in all processes, whatever order their gradients come in. A GPU is not waited for.
class GradientExchange {
 public:
  // On one device, of whose tensors the processes can start sums, float32 or float64. What is referred to must outlive
  // the object; there may be one for a parameter at a time. A bucket ends with the parameter that fills it to
  // `bucket_bytes`.
  GradientExchange(const Communicator& processes, std::vector<at::Tensor> parameters, int64_t bucket_bytes);
  ~GradientExchange();
  GradientExchange(const GradientExchange&) = delete;
  GradientExchange& operator=(const GradientExchange&) = delete;

  // Around one backward() that begins without gradients. After finish() the gradients are the sums over the processes;
  // a parameter that has one nowhere has none.
  void begin();
  void finish();

  int64_t buckets() const { return static_cast<int64_t>(buckets_.size()); }

 private:
  struct Bucket {
    std::vector<size_t> members;  // parameters
    at::Tensor values;            // their gradients, one after the other
    size_t missing = 0;           // gradients that are not there yet
    std::unique_ptr<PendingSum> sum = {};
  };
  void assign_buckets(int64_t bucket_bytes);
  void fill_bucket(const std::vector<size_t>& members);
  void note(size_t parameter);
  void start_next();
  at::Tensor holders() const;
  void take(Bucket& bucket, const at::Tensor& holders);

  const Communicator& processes_;
  std::vector<at::Tensor> parameters_;
  std::vector<size_t> bucket_of_;
  std::vector<Bucket> buckets_;
  size_t started_ = 0;  // buckets
  bool active_ = false;
};

}  // namespace geosft
