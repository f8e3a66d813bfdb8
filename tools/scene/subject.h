// SPDX-License-Identifier: Apache-2.0
// Defines the object shown: a cloud or a graph, with the trace of a trained model.
#pragma once

#include <ATen/ATen.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "geometry/mesh.h"
#include "models/layers/forward_trace.h"
#include "tools/experiment/colour_map.h"

namespace geosft::view {

// A class of each point, such as the part that a model predicts or the element of an atom.
struct PointLabels {
  at::Tensor labels;                                  // int64 [n]: parts or unlabelled_part; or atomic numbers less 1
  at::Tensor colours;                                 // double [n, 3]
  std::vector<std::pair<std::string, Colour>> names;  // of the classes found, by label, for the legend
};

struct Subject {
  std::string name;           // file, or dataset and index
  std::string truth;          // class, if known
  std::string prediction;     // "chair 93.1 %", if a model is given
  std::optional<bool> right;  // whether the predicted class is the true one, if both are known
  at::Tensor points;          // double [n, 3], coordinates in the file; for a graph, the positions of its nodes
  at::Tensor normals;         // double [n, 3], or undefined
  at::Tensor edges;           // int64 [E, 2], each edge once; undefined for clouds
  at::Tensor encoding;        // for a graph, its random-walk encoding, double [n, steps]
  std::optional<geosft::Mesh> surface;    // of a mesh file, in its coordinates
  std::optional<PointLabels> parts;       // predicted by a segmentation model
  std::optional<PointLabels> true_parts;  // of a labelled cloud
  std::optional<PointLabels> elements;    // of the atoms of a molecule
  at::Tensor edge_lines;                  // int64 [E]: lines of each bond (bond_lines), or undefined: one
  std::optional<ForwardTrace> trace;
  std::string untraced;                   // reason for a missing trace, for error messages
  std::shared_ptr<const Subject> beside;  // its rotated copy
  double logit_difference = 0.0;          // maximum difference of the logits of the two

  bool is_graph() const { return edges.defined(); }
  // Number of attention layers and heads in the trace; 0 without a trace.
  int64_t layers() const { return trace ? static_cast<int64_t>(trace->layers.size()) : 0; }
  int64_t heads() const { return layers() > 0 ? trace->layers.front().heads : 0; }
  bool head_samples() const { return trace && trace->head.score.defined(); }  // whether the model's head has a sampler
};

// A list of items to view.
class Gallery {
 public:
  virtual ~Gallery() = default;
  virtual int64_t size() const = 0;
  // Returns whether the items lie in the plane z = 0, which is seen from the front.
  virtual bool flat() const { return false; }
  // Returns item 0 … size - 1, with its rotated copy if `beside`.
  virtual Subject get(int64_t item, bool beside) = 0;
};

}  // namespace geosft::view
