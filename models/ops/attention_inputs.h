// SPDX-License-Identifier: Apache-2.0
// Names and checks the tensor arguments of the attention operators, for their kernels. Inside the library they are
// passed as one list in the order of the operator's schema, so that dispatch, autograd and the kernels of a device are
// written once for all operators. The checks use only types and shapes, so they also run on meta tensors and on
// symbolic shapes; the values of ptr are checked where they are read.
#pragma once

#include <ATen/ATen.h>
#include <ATen/core/List.h>

#include <optional>
#include <vector>

#include "geometry/packed.h"

namespace geosft {

using OptionalTensors = c10::List<std::optional<at::Tensor>>;

// q, k, v and leak come first, q_ptr and k_ptr last; between them are the inputs of the attention bias. Absent inputs
// are undefined. In derived types `kOperator` names the operator, and `check` throws an error naming the argument if a
// type or a shape is wrong. It reads no values, so meta tensors are accepted.
class AttentionInputs {
 public:
  // Takes the inputs of any operator: at least q, k, v, leak, q_ptr and k_ptr.
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
  const at::Tensor& bias_input(size_t i) const { return tensors[4 + i]; }
};

// The floating inputs whose gradients are requested. q, k, v and leak always get theirs; the gradient of an input of
// the attention bias, such as coordinates, is skipped if it is not requested.
class OutputMask {
 public:
  // `output_mask` has an element for each floating input that is given, in order.
  OutputMask(const c10::List<bool>& output_mask, const AttentionInputs& in);

  // Returns whether the gradient is requested for input `place` of the attention bias, counted from the one after leak;
  // false for absent inputs.
  bool bias_input(size_t place) const { return places_[4 + place]; }
  // Replaces gradients that are not requested by empty tensors; `gradients` are those of all floating inputs that are
  // given, in order.
  void leave_out(std::vector<at::Tensor>& gradients) const;

 private:
  std::vector<bool> places_;
  std::vector<size_t> floating_;
};

// Inputs that end with the weights of a relative encoding.
struct WeightedInputs : AttentionInputs {
  WeightedInputs(const OptionalTensors& inputs, double eps_, size_t count) : AttentionInputs(inputs, eps_, count) {}
  const at::Tensor& w_mul() const { return tensors[tensors.size() - 6]; }
  const at::Tensor& b_mul() const { return tensors[tensors.size() - 5]; }
  const at::Tensor& w_add() const { return tensors[tensors.size() - 4]; }
  const at::Tensor& b_add() const { return tensors[tensors.size() - 3]; }
};

// The inputs of an operator that has kCount of them.
template <class Base, size_t kCount>
struct CountedInputs : Base {
  CountedInputs(const OptionalTensors& inputs, double eps_) : Base(inputs, eps_, kCount) {}
};

struct MaxoutInputs : CountedInputs<AttentionInputs, 8> {
  using CountedInputs::CountedInputs;
  static constexpr const char* kOperator = "maxout_attention";
  void check() const;
  const at::Tensor& r_mul() const { return bias_input(0); }
  const at::Tensor& r_add() const { return bias_input(1); }
};

struct PointInputs : CountedInputs<WeightedInputs, 14> {
  using CountedInputs::CountedInputs;
  static constexpr const char* kOperator = "point_attention";
  void check() const;
  // Returns the channels r of X_R; throws an error naming w_mul if it has another number of rows.
  int64_t channels() const;
  const at::Tensor& x() const { return bias_input(0); }
  const at::Tensor& xs() const { return bias_input(1); }
  const at::Tensor& m() const { return bias_input(2); }
  const at::Tensor& ms() const { return bias_input(3); }
};

struct GraphInputs : CountedInputs<WeightedInputs, 16> {
  using CountedInputs::CountedInputs;
  static constexpr const char* kOperator = "graph_attention";
  void check() const;
  const at::Tensor& rowptr() const { return bias_input(0); }
  const at::Tensor& col() const { return bias_input(1); }
  const at::Tensor& edge_attr() const { return bias_input(2); }
  const at::Tensor& top() const { return bias_input(3); }
  const at::Tensor& partner() const { return bias_input(4); }
  const at::Tensor& weight() const { return bias_input(5); }
};

struct SequenceInputs : CountedInputs<WeightedInputs, 12> {
  using CountedInputs::CountedInputs;
  static constexpr const char* kOperator = "sequence_attention";
  void check() const;
  const at::Tensor& s() const { return bias_input(0); }
  const at::Tensor& ss() const { return bias_input(1); }
};

// Checks that `tensor` (argument `name`) is defined and has the dtype and the device of `like` (argument `like_name`).
void check_like(const at::Tensor& tensor, const char* name, const at::Tensor& like, const char* like_name = "q");

// Checks that `tensor` has exactly these sizes; `meaning` describes them, such as "[Nk, h]".
void check_sizes(const at::Tensor& tensor, const char* name, at::ArrayRef<c10::SymInt> sizes, const char* meaning);

// Checks that `tensor` is int64 and on the device of `like`, with one dimension.
void check_index(const at::Tensor& tensor, const char* name, const at::Tensor& like);

// Checks q [Nq, h, c], k [Nk, h, c], v [Nk, h, cv], h and c >= 1, one floating type (float32, float64, float16 or
// bfloat16).
void check_query_key_value(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v);

// Also checks leak [Nk, h]; q_ptr and k_ptr both or neither, int64 [B + 1]; eps finite and >= 0.
void check_attention(const AttentionInputs& in);

// Checks the weights of a relative encoding with `channels` channels: w_* [channels, h], b_* [h].
void check_relative_weights(const WeightedInputs& in, const c10::SymInt& channels);

// Checks the arguments of a backward operator: grad and out [Nq, h, cv]; denominator [Nq, h] in the type that kernels
// compute in.
void check_grad_output(const at::Tensor& grad, const at::Tensor& out, const at::Tensor& denominator,
                       const at::Tensor& q, const at::Tensor& v);

}  // namespace geosft
