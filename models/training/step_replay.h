// SPDX-License-Identifier: Apache-2.0
// Training steps of one shape, enqueued once and replayed from then on.
#pragma once

#include <ATen/ATen.h>
#include <ATen/core/Generator.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "models/layers/seed_tape.h"
#include "models/training/step_graph.h"
#include "models/training/training_task.h"

namespace geosft {

// Steps are of one shape when their inputs agree in sizes and types, and those that the program reads in their values.
// The first shape that two steps in a row have is captured with the second of them; the first one, which ran as any
// other, has made what is made once (workspaces of libraries, say), and says how many random numbers a step draws.
// Steps of other shapes run as without replay. All give the same bits.
class StepReplay {
 public:
  // Random numbers come from `generator`.
  StepReplay(StepGraphMaker make, at::Generator generator, at::Device device);

  // A step on `inputs`: compute(seeds) enqueues it and gives its results, a tensor on the device that the next step
  // writes anew.
  at::Tensor run(const StepInputs& inputs, const std::function<at::Tensor(SeedTape&)>& compute);

  int64_t replayed() const { return replayed_; }  // steps

 private:
  struct Shape {
    std::vector<at::Tensor> host, device;  // of the latter only sizes and types count
    bool operator==(const Shape& other) const;
  };
  static Shape shape_of(const StepInputs& inputs);
  void capture(const StepInputs& inputs, const std::function<at::Tensor(SeedTape&)>& compute);
  void renew(const std::vector<at::Tensor>& inputs);  // on the device: those of a step that is to be replayed

  StepGraphMaker make_;
  at::Generator generator_;
  at::Device device_;
  std::optional<Shape> shape_;  // of the step before; of the graph, with the tensors that it reads
  std::optional<SeedTape> seeds_;
  at::Tensor results_;  // of the graph
  std::unique_ptr<StepGraph> graph_;
  int64_t replayed_ = 0;
};

}  // namespace geosft
