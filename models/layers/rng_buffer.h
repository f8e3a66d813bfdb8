// SPDX-License-Identifier: Apache-2.0
// Generates the random numbers of a training step ahead, so that a CUDA graph can replay the step.
#pragma once

#include <ATen/ATen.h>
#include <ATen/core/Generator.h>

#include <cstdint>
#include <vector>

namespace geosft {

// The random numbers of a training step on a device, all from one generator on the CPU. A step that requests the same
// counts as the one before can have its numbers generated in advance, into memory that stays in place, as CUDA graphs
// need; the numbers are the same either way.
class RngBuffer {
 public:
  RngBuffer(at::Generator generator, at::Device device);

  // Returns the next random numbers, int64 [count] on the device (sample_seeds of sample_pairs.h). After refill() they
  // are read from the buffer: throws c10::Error unless the step requests the same counts as the first one.
  at::Tensor next(int64_t count);

  // Generates all random numbers of the next step, in the order of the first step's requests.
  void refill();

  const at::Generator& generator() const { return generator_; }
  at::Device device() const { return device_; }

 private:
  at::Generator generator_;
  at::Device device_;
  std::vector<int64_t> counts_;
  at::Tensor values_;  // undefined before refill()
  size_t requests_ = 0;
  int64_t position_ = 0;
};

}  // namespace geosft
