// SPDX-License-Identifier: Apache-2.0
// Names the tensor arguments of the attention operators. Inside the library they are passed as one list in the order of
// the operator's schema, so that dispatch, autograd and the kernels of a device are written once for all operators.
#pragma once

#include <ATen/ATen.h>
#include <ATen/core/List.h>

#include <optional>
#include <vector>

namespace geosft {

using OptionalTensors = c10::List<std::optional<at::Tensor>>;

// q, k, v and leak come first, q_ptr and k_ptr last; between them are the inputs of the attention bias. Absent inputs
// are undefined. In derived types `kOperator` names the operator, and `check` throws an error naming the argument if a
// type or a shape is wrong. It reads no values, so meta tensors are accepted.
class AttentionInputs {
 public:
  // For any operator: at least q, k, v, leak, q_ptr and k_ptr.
  AttentionInputs(const OptionalTensors& inputs, double eps_);

  const at::Tensor& q() const { return tensors[0]; }
  const at::Tensor& k() const { return tensors[1]; }
  const at::Tensor& v() const { return tensors[2]; }
  const at::Tensor& leak() const { return tensors[3]; }
  const at::Tensor& q_ptr() const { return tensors[tensors.size() - 2]; }
  const at::Tensor& k_ptr() const { return tensors[tensors.size() - 1]; }

  std::vector<at::Tensor> tensors;
  double eps;

 protected:
  // `count` is the number of inputs of the operator; any other number is an error.
  AttentionInputs(const OptionalTensors& inputs, double eps_, size_t count);
  const at::Tensor& own(size_t i) const { return tensors[4 + i]; }
};

// The floating inputs whose gradients are requested. q, k, v and leak always get theirs; the gradient of an input of
// the attention bias, such as coordinates, is skipped if it is not requested.
class OutputMask {
 public:
  // `output_mask` has an element for each floating input that is given, in order.
  OutputMask(const c10::List<bool>& output_mask, const AttentionInputs& in);

  // For input `place` of the attention bias, counted from the one after leak; false for absent inputs.
  bool own(size_t place) const { return places_[4 + place]; }
  // Replaces gradients that are not requested by empty tensors; `gradients` are those of all floating inputs that are
  // given, in order.
  void leave_out(std::vector<at::Tensor>& gradients) const;

 private:
  std::vector<bool> places_;
  std::vector<size_t> given_;
};

struct MaxoutInputs : AttentionInputs {
  MaxoutInputs(const OptionalTensors& inputs, double eps_) : AttentionInputs(inputs, eps_, 8) {}
  static constexpr const char* kOperator = "maxout_attention";
  void check() const;
  const at::Tensor& r_mul() const { return own(0); }
  const at::Tensor& r_add() const { return own(1); }
};

// Inputs that end with the weights of a relative encoding.
struct WeightedInputs : AttentionInputs {
  WeightedInputs(const OptionalTensors& inputs, double eps_, size_t count) : AttentionInputs(inputs, eps_, count) {}
  const at::Tensor& w_mul() const { return tensors[tensors.size() - 6]; }
  const at::Tensor& b_mul() const { return tensors[tensors.size() - 5]; }
  const at::Tensor& w_add() const { return tensors[tensors.size() - 4]; }
  const at::Tensor& b_add() const { return tensors[tensors.size() - 3]; }
};

struct PointInputs : WeightedInputs {
  PointInputs(const OptionalTensors& inputs, double eps_) : WeightedInputs(inputs, eps_, 14) {}
  static constexpr const char* kOperator = "point_attention";
  void check() const;
  const at::Tensor& x() const { return own(0); }
  const at::Tensor& xs() const { return own(1); }
  const at::Tensor& m() const { return own(2); }
  const at::Tensor& ms() const { return own(3); }
};

struct SequenceInputs : WeightedInputs {
  SequenceInputs(const OptionalTensors& inputs, double eps_) : WeightedInputs(inputs, eps_, 12) {}
  static constexpr const char* kOperator = "sequence_attention";
  void check() const;
  const at::Tensor& s() const { return own(0); }
  const at::Tensor& ss() const { return own(1); }
};

struct GraphInputs : WeightedInputs {
  GraphInputs(const OptionalTensors& inputs, double eps_) : WeightedInputs(inputs, eps_, 16) {}
  static constexpr const char* kOperator = "graph_attention";
  void check() const;
  const at::Tensor& rowptr() const { return own(0); }
  const at::Tensor& col() const { return own(1); }
  const at::Tensor& edge_attr() const { return own(2); }
  const at::Tensor& top() const { return own(3); }
  const at::Tensor& partner() const { return own(4); }
  const at::Tensor& weight() const { return own(5); }
};

}  // namespace geosft
