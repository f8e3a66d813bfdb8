// SPDX-License-Identifier: Apache-2.0
// The object shown: a cloud or a graph, with the trace of a trained model.
#pragma once

#include <ATen/ATen.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/layers/forward_trace.h"
#include "tools/experiment/colour_map.h"

namespace geosft::view {

// The predicted part of each point by a segmentation model.
struct FoundParts {
  at::Tensor labels;                                  // int64 [n], numbers in the model's list of parts
  at::Tensor colours;                                 // double [n, 3]
  std::vector<std::pair<std::string, Colour>> names;  // of those that were found, by number, with their shares
};

struct Subject {
  std::string name;        // file, or set and number
  std::string truth;       // class, where it is known
  std::string prediction;  // "chair 93.1 %", where a model was asked
  at::Tensor points;       // double [n, 3]; of a graph the places of its nodes
  at::Tensor normals;      // double [n, 3], or undefined
  at::Tensor edges;        // int64 [E, 2], each once; undefined for clouds
  at::Tensor encoding;     // of a graph: random-walk encoding, double [n, steps]
  std::optional<FoundParts> parts;
  std::optional<ForwardTrace> trace;
  std::string untraced;                   // why a model left no trace, for messages
  std::shared_ptr<const Subject> beside;  // its rotated copy
  double logit_difference = 0.0;          // the largest between the two

  bool is_graph() const { return edges.defined(); }
  // Layers of attention and heads that the trace has; 0 without a trace.
  int64_t layers() const;
  int64_t heads() const;
  bool head_samples() const;  // whether the model's head has a sampler
};

// Items to look at, one after the other.
class Gallery {
 public:
  virtual ~Gallery() = default;
  virtual int64_t size() const = 0;
  // Item 0 … size - 1, with its rotated copy beside it if asked for.
  virtual Subject get(int64_t item, bool beside) = 0;
};

}  // namespace geosft::view
