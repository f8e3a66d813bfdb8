// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/ATen.h>
#include <ATen/core/Generator.h>

#include <cstdint>
#include <vector>

namespace geosft {

// The random numbers of a training step, all of which come from one generator on the CPU, and on a device only from
// here. A step that is like the one before draws as often, and as many each time: its numbers can be drawn before it,
// into memory that stays, and be the same.
class SeedTape {
 public:
  SeedTape(at::Generator generator, at::Device device);

  // The next draw, int64 [count] on the device (sample_seeds of sample_pairs.h). After redraw() it is one of those that
  // have been made: throws c10::Error unless the step draws what the first one did.
  at::Tensor next(int64_t count);

  // Makes all draws of the next step, in the order in which they were taken first.
  void redraw();

  const at::Generator& generator() const { return generator_; }
  at::Device device() const { return device_; }

 private:
  at::Generator generator_;
  at::Device device_;
  std::vector<int64_t> counts_;
  at::Tensor drawn_;  // undefined before redraw()
  size_t taken_ = 0;  // draws
  int64_t place_ = 0;
};

}  // namespace geosft
