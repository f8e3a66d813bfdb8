// SPDX-License-Identifier: Apache-2.0
// The operators' host code on the emulated GPU: nothing is read from the device, wherever the offsets are, and a call
// that was captured can be replayed on other numbers.
#include <catch2/catch.hpp>

#include "geometry/device_offsets.h"
#include "geometry/farthest_point_sampling.h"
#include "geometry/knn.h"
#include "geometry/operators.h"
#include "graph/random_walk_pe.h"
#include "models/ops/edge_sum.h"
#include "models/ops/gated_edge_sum.h"
#include "models/ops/gather_pairs.h"
#include "models/ops/max_pool.h"
#include "models/ops/sample_pairs.h"
#include "models/ops/seeded_dropout.h"
#include "models/ops/softmax_pool.h"
#include "tests/models/ops/graph_cases.h"
#include "tests/models/ops/maxout_cases.h"
#include "tests/models/ops/point_cases.h"
#include "tests/models/ops/polynomial_cases.h"
#include "tests/models/ops/primal_cases.h"
#include "tests/models/ops/sequence_cases.h"
#include "tests/models/training/emulated_gpu.h"

namespace geosft::test::test_device_calls {
namespace {

using emulated_gpu::device;
using emulated_gpu::EmulatedGraph;
using emulated_gpu::NeverWaiting;

struct Operator {
  std::string name;
  Attention call;
  Arguments arguments;
};

const Sizes sizes{{33, 0, 5}, {9, 0, 20}, 2, 4, 4}, self_attention{{70, 0, 5}, {70, 0, 5}, 2, 4, 4};

std::vector<Operator> attention() {
  return {{"maxout_attention", maxout_cases::fused, maxout_cases::with_relative(sizes, 1)},
          {"point_attention", point_cases::fused, point_cases::random_points(sizes, 2, 2)},
          {"point_attention, angles", point_cases::fused, point_cases::random_points(sizes, 2, 5)},
          {"graph_attention", graph_cases::fused, graph_cases::random_graph(sizes, 3, 2, 3)},
          {"sequence_attention", sequence_cases::fused, sequence_cases::random_sequence(sizes, 4, 3)}};
}

std::vector<Operator> over_all_tokens() {
  std::vector<Operator> all;
  for (const bool causal : {false, true}) {
    all.push_back({causal ? "polynomial_attention, causal" : "polynomial_attention",
                   fused_polynomial({2, 0.5, causal, !causal}), random_polynomial(self_attention, 5)});
  }
  for (const bool linear : {false, true}) {
    all.push_back({linear ? "primal_attention, linear" : "primal_attention", fused_primal({{2, 1}, linear}),
                   random_primal(sizes, 6, true)});
  }
  all.push_back({"primal_attention, masked", fused_primal({{2, 1}}), random_primal(sizes, 7)});
  add_random_mask(all.back().arguments, {{2, 1}}, true, 8);
  return all;
}

std::vector<Operator> others() {
  const at::Tensor ptr = at::tensor({0, 33, 33, 38}, at::kLong), seeds = at::tensor({5, 6, 7}, at::kLong);
  const auto normal = [](at::IntArrayRef shape) { return at::randn(shape, generator(9), at::kDouble); };
  const auto pool = [](const Arguments& a) { return softmax_pool(a["x"], a["u"], a["k_ptr"]); };
  const auto dropout = [](const Arguments& a) { return seeded_dropout(a["x"], 0.3, a["seed"]); };
  // sample_pairs with a known number of samples: without it the call waits for offsets on a device.
  const auto pairs = [](const Arguments& a) {
    using Signature = std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor>(
        const at::Tensor&, int64_t, const std::optional<at::Tensor>&, bool, bool, const std::optional<at::Tensor>&,
        int64_t);
    static const auto select = find_operator<Signature>("_select_pairs");
    const auto [top, partner, noise, sample_ptr] =
        select.call(a["score"].detach(), 4, a["k_ptr"], true, true, a["seed"], 6);
    return pair_weight(a["score"], {top, partner, noise, sample_ptr}, 1.0);
  };
  const auto nearest = [](const Arguments& a) {
    return std::get<1>(knn(a["x"], a["queries"], 3, a["k_ptr"], a["k_ptr"]));
  };
  const auto walks = [](const Arguments& a) {
    return random_walk_pe(a["rowptr"], a["col"], 4, a["weight"].detach()) * a["one"];
  };
  const auto farthest = [](const Arguments& a) {
    return a["x"].index_select(0, farthest_point_order(a["x"].detach(), a["k_ptr"]));
  };
  const at::Tensor top = at::tensor({3, 37, 3, 0, 20}, at::kLong), partner = at::tensor({3, 1, 9, 36, 21}, at::kLong);
  const auto gather = [](const Arguments& a) { return gather_pairs(a["x"], a["top"], a["partner"], a["weight"]); };
  const auto of_x = [](const Arguments& a) {
    return gather_pairs(a["x"], a["top"], a["partner"], a["weight"].detach());
  };
  const auto of_weight = [](const Arguments& a) {
    return gather_pairs(a["x"].detach(), a["top"], a["partner"], a["weight"]);
  };
  const Arguments pairs_of_x{{{"x", normal({38, 3, 2})}, {"weight", normal({5})}, {"top", top}, {"partner", partner}}};
  Arguments graph = graph_cases::random_graph({{38}, {4}, 1, 4, 4}, 10, 1, 3);
  graph.tensors = {{"rowptr", graph["rowptr"]},
                   {"col", graph["col"]},
                   {"one", at::ones({1}, at::kDouble)},
                   {"weight", at::rand({graph["col"].size(0)}, generator(11), at::kDouble)}};
  const at::Tensor rowptr = graph["rowptr"], col = graph["col"];
  const auto convolved = [](const Arguments& a) {
    return edge_sum(a["x"], edge_index(a["rowptr"], a["col"], 38), a["edge"], a["scale"].detach(), true);
  };
  const auto gated = [](const Arguments& a) {
    const auto [out, gate] =
        gated_edge_sum(a["x"], a["x"] * 2, a["x"] + 1, a["edge"], edge_index(a["rowptr"], a["col"], 38));
    return at::cat({out, gate});
  };
  const auto summed = [](const Arguments& a) { return sum_pool(a["x"], a["k_ptr"]); };
  const auto largest = [](const Arguments& a) { return max_pool(a["x"], a["k_ptr"]); };
  const Arguments edges{{{"x", normal({38, 5})},
                         {"rowptr", rowptr},
                         {"col", col},
                         {"edge", normal({col.size(0), 5})},
                         {"scale", normal({col.size(0)})}}};
  return {{"edge_sum", convolved, edges},
          {"gated_edge_sum", gated, edges},
          {"sum_pool", summed, {{{"x", normal({38, 5})}, {"k_ptr", ptr}}}},
          {"max_pool", largest, {{{"x", normal({38, 5})}, {"k_ptr", ptr}}}},
          {"knn", nearest, {{{"x", normal({38, 3})}, {"queries", normal({38, 3}).flip(0) * 2}, {"k_ptr", ptr}}}},
          {"random_walk_pe", walks, graph},
          {"farthest_point_order", farthest, {{{"x", normal({38, 3})}, {"k_ptr", ptr}}}},
          {"gather_pairs", gather, pairs_of_x},
          {"gather_pairs, x alone", of_x, pairs_of_x},
          {"gather_pairs, weight alone", of_weight, pairs_of_x},
          {"softmax_pool", pool, {{{"x", normal({38, 5})}, {"u", normal({5})}, {"k_ptr", ptr}}}},
          {"seeded_dropout", dropout, {{{"x", normal({38, 5})}, {"seed", at::tensor({-3}, at::kLong)}}}},
          {"sample_pairs", pairs, {{{"score", normal({38})}, {"k_ptr", ptr}, {"seed", seeds}}}}};
}

std::vector<Operator> operators() {
  std::vector<Operator> all = attention();
  for (const auto& more : {over_all_tokens(), others()}) all.insert(all.end(), more.begin(), more.end());
  return all;
}

bool is_offsets(const std::string& name) {
  return name == "q_ptr" || name == "k_ptr";
}

enum class Offsets { there, here, with_copy };

// On the device, as leaves; offsets where they are to be.
Arguments placed(const Arguments& arguments, Offsets offsets) {
  Arguments there{{}, arguments.eps};
  for (const auto& [name, tensor] : arguments.tensors) {
    at::Tensor copy =
        tensor.is_floating_point() ? tensor.to(at::kFloat).to(device).requires_grad_() : tensor.to(device);
    if (is_offsets(name) && offsets == Offsets::here) copy = tensor;
    if (is_offsets(name) && offsets == Offsets::with_copy) copy = ptr_with_device_copy(tensor, copy);
    there.tensors[name] = copy;
  }
  return there;
}

// The result, and the gradients of the leaves.
std::vector<at::Tensor> results(const Attention& call, const Arguments& leaves) {
  torch::autograd::variable_list inputs;
  for (const auto& [name, tensor] : leaves.tensors) {
    if (tensor.requires_grad()) inputs.push_back(tensor);
  }
  const at::Tensor out = call(leaves);
  std::vector<at::Tensor> all =
      torch::autograd::grad({out}, inputs, {at::ones_like(out)}, std::nullopt, false, /*allow_unused=*/true);
  std::erase_if(all, [](const at::Tensor& gradient) { return !gradient.defined(); });
  all.push_back(out.detach());
  return all;
}

void require_results(const std::vector<at::Tensor>& actual, const std::vector<at::Tensor>& expected, double tolerance) {
  REQUIRE(actual.size() == expected.size());
  for (size_t i = 0; i < actual.size(); ++i) {
    require_close(actual[i].cpu(), expected[i].cpu(), tolerance, std::to_string(i), 1e-3);
  }
}

std::vector<at::Tensor> on_cpu(const Operator& op) {
  Arguments leaves = op.arguments;
  for (auto& [name, tensor] : leaves.tensors) {
    if (tensor.is_floating_point()) tensor = tensor.to(at::kFloat).requires_grad_();
  }
  return results(op.call, leaves);
}

}  // namespace

TEST_CASE("operators give a device's results without waiting for it, wherever the offsets are", "[device_calls]") {
  for (const Operator& op : operators()) {
    const std::vector<at::Tensor> expected = on_cpu(op);
    for (const Offsets offsets : {Offsets::there, Offsets::here, Offsets::with_copy}) {
      INFO(op.name << ", offsets " << static_cast<int>(offsets));
      const Arguments leaves = placed(op.arguments, offsets);
      std::vector<at::Tensor> actual;
      {
        const NeverWaiting never;
        actual = results(op.call, leaves);
      }
      require_results(actual, expected, 1e-4);
    }
  }
}

TEST_CASE("operators that were captured are replayed on other numbers", "[device_calls]") {
  for (const Operator& op : operators()) {
    for (const Offsets offsets : {Offsets::there, Offsets::with_copy}) {
      INFO(op.name << ", offsets " << static_cast<int>(offsets));
      const Arguments leaves = placed(op.arguments, offsets);
      EmulatedGraph graph;
      std::vector<at::Tensor> kept;
      graph.capture([&] { kept = results(op.call, leaves); });
      graph.replay();
      {
        const at::NoGradGuard guard;
        for (const auto& [name, tensor] : leaves.tensors) {
          if (tensor.requires_grad()) tensor.mul_(0.5).add_(0.1);
        }
      }
      graph.replay();
      require_results(kept, results(op.call, leaves), 0);
    }
  }
}

}  // namespace geosft::test::test_device_calls
