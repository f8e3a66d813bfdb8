// SPDX-License-Identifier: Apache-2.0
// Captures training steps of one shape as a CUDA graph, and replays it.
#pragma once

#include <ATen/ATen.h>
#include <ATen/core/Generator.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "models/layers/rng_buffer.h"
#include "models/training/step_graph.h"
#include "models/training/training_task.h"

namespace geosft {

// Two steps have the same shape if their inputs have the same sizes and types, and the inputs that the host reads the
// same values. When two successive steps have the same shape, the second is captured; the first one has run normally as
// a warm-up (it initialises workspaces of libraries, and records how many random numbers a step needs). Steps of other
// shapes run normally. Results are the same bit for bit.
class CudaGraphRunner {
 public:
  // Random numbers come from `generator`.
  CudaGraphRunner(StepGraphMaker make, at::Generator generator, at::Device device);

  // Runs a step on `inputs`: compute(seeds) enqueues it and returns its results, a tensor on the device that the next
  // step overwrites.
  at::Tensor run(const StepInputs& inputs, const std::function<at::Tensor(RngBuffer&)>& compute);

  int64_t replayed() const { return replayed_; }  // steps

 private:
  struct Shape {
    std::vector<at::Tensor> host, device;  // only sizes and types of `device` are compared
    bool operator==(const Shape& other) const;
  };
  static Shape shape_of(const StepInputs& inputs);
  void capture(const StepInputs& inputs, const std::function<at::Tensor(RngBuffer&)>& compute);
  void copy_inputs(const std::vector<at::Tensor>& inputs);  // copies into those that the graph reads

  StepGraphMaker make_;
  at::Generator generator_;
  at::Device device_;
  std::optional<Shape> shape_;  // of the last step, or of the graph, with the tensors that it reads
  std::optional<RngBuffer> seeds_;
  at::Tensor results_;  // of the graph
  std::unique_ptr<StepGraph> graph_;
  int64_t replayed_ = 0;
};

}  // namespace geosft
