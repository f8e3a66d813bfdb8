// SPDX-License-Identifier: Apache-2.0
// Batches without rows, for every operator: no items (ptr = [0]) and items without rows give empty results and
// gradients of the right shapes and types, on the CPU, on meta tensors and by the host code of a GPU.
#include <torch/csrc/autograd/autograd.h>

#include <catch2/catch.hpp>

#include "geometry/farthest_point_sampling.h"
#include "geometry/knn.h"
#include "graph/random_walk_pe.h"
#include "models/ops/edge_sum.h"
#include "models/ops/gather_pairs.h"
#include "models/ops/graph_attention.h"
#include "models/ops/low_rank_gradient.h"
#include "models/ops/maxout_attention.h"
#include "models/ops/point_attention.h"
#include "models/ops/point_tokens.h"
#include "models/ops/polynomial_attention.h"
#include "models/ops/polynomial_degree.h"
#include "models/ops/primal_attention.h"
#include "models/ops/sample_pairs.h"
#include "models/ops/seeded_dropout.h"
#include "models/ops/sequence_attention.h"
#include "models/ops/softmax_pool.h"
#include "tests/models/training/emulated_gpu.h"
#include "tests/support.h"

namespace geosft::test::test_empty_batches {
namespace {

using Tensors = std::vector<at::Tensor>;

struct Operator {
  const char* name;
  const char* ptr;                           // its first argument of offsets
  std::vector<std::vector<int64_t>> leaves;  // shapes of the floating arguments
  std::function<at::Tensor(const Tensors& leaves, const at::Tensor& ptr)> call;
  std::vector<int64_t> result = {0, 2, 4};  // shape; -1: as many as there are items
  bool on_meta = true;                      // its result has a shape that is known without the values of ptr
  bool on_gpu = true;
  bool half_types = true;
  std::optional<at::ScalarType> type = {};  // of the result, if it is not that of the leaves
};

std::vector<Operator> operators() {
  const std::vector<int64_t> rows{0, 2, 4}, leak{0, 2}, points{0, 3}, none{0}, per_head{2}, one_channel{1, 2};
  const std::vector<std::vector<int64_t>> qkv{rows, rows, rows};
  const auto with = [](std::vector<std::vector<int64_t>> all, const std::vector<std::vector<int64_t>>& more) {
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  const auto qkv_leak = with(qkv, {leak}), dense = with(qkv_leak, {leak, leak});
  const std::vector<std::vector<int64_t>> weights{one_channel, per_head, one_channel, per_head};
  const auto longs = [](const Tensors& x, int64_t count) {
    return at::zeros({count}, x[0].options().dtype(at::kLong).requires_grad(false));
  };
  const auto polynomial = [](bool causal, bool center) {
    return [=](const Tensors& x, const at::Tensor& ptr) {
      return polynomial_attention(x[0], x[1], x[2], 2, 0.5, causal, ptr, ptr, center);
    };
  };
  const auto primal = [](const char* kernel) {
    return [=](const Tensors& x, const at::Tensor& ptr) {
      return primal_attention(x[0], x[1], x[2], x[3], std::vector<int64_t>{1, 2}, kernel, 1e-3, ptr, ptr);
    };
  };
  const auto seeds = [longs](const Tensors& x, const at::Tensor& ptr) {
    return longs(x, std::max<int64_t>(ptr.size(0) - 1, 0));
  };
  return {
      {"maxout_attention, plain", "q_ptr", qkv_leak,
       [](const Tensors& x, const at::Tensor& ptr) {
         return maxout_attention(x[0], x[1], x[2], x[3], {}, {}, ptr, ptr);
       }},
      {"maxout_attention", "q_ptr", dense,
       [](const Tensors& x, const at::Tensor& ptr) {
         return maxout_attention(x[0], x[1], x[2], x[3], x[4], x[5], ptr, ptr);
       }},
      {"point_attention", "q_ptr", with(with(qkv_leak, {points, points}), weights),
       [](const Tensors& x, const at::Tensor& ptr) {
         return point_attention(x[0], x[1], x[2], x[3], x[4], x[5], {}, {}, x[6], x[7], x[8], x[9], ptr, ptr);
       }},
      {"point_attention, normals", "q_ptr",
       with(with(qkv_leak, {points, points, points, points}), {{2, 2}, per_head, {2, 2}, per_head}),
       [](const Tensors& x, const at::Tensor& ptr) {
         return point_attention(x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7], x[8], x[9], x[10], x[11], ptr, ptr);
       }},
      {"graph_attention", "q_ptr", with(with(qkv_leak, {{0, 1}, none}), weights),
       [longs](const Tensors& x, const at::Tensor& ptr) {
         return graph_attention(x[0], x[1], x[2], x[3], longs(x, 1), longs(x, 0), x[4], longs(x, 0), longs(x, 0), x[5],
                                x[6], x[7], x[8], x[9], ptr, ptr);
       }},
      {"sequence_attention", "q_ptr", with(with(qkv_leak, {{0, 1}, {0, 1}}), weights),
       [](const Tensors& x, const at::Tensor& ptr) {
         return sequence_attention(x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7], x[8], x[9], ptr, ptr);
       }},
      {"polynomial_attention", "q_ptr", qkv, polynomial(false, false)},
      {"polynomial_attention, centred", "q_ptr", qkv, polynomial(false, true)},
      {"polynomial_attention, causal", "q_ptr", qkv, polynomial(true, false)},
      {"primal_attention", "q_ptr", with(qkv, {per_head}), primal("softmax")},
      {"primal_attention, linear", "q_ptr", with(qkv, {per_head}), primal("linear")},
      {"primal_attention, masked", "q_ptr", qkv,
       [longs](const Tensors& x, const at::Tensor& ptr) {
         return primal_attention(x[0], x[1], x[2], {}, {}, "softmax", 1e-6, ptr, ptr, longs(x, 1), longs(x, 0));
       }},
      {"softmax_pool",
       "ptr",
       {{0, 5}, {5}},
       [](const Tensors& x, const at::Tensor& ptr) { return softmax_pool(x[0], x[1], ptr); },
       {-1, 5}},
      {"sum_pool",
       "ptr",
       {{0, 5}},
       [](const Tensors& x, const at::Tensor& ptr) { return sum_pool(x[0], ptr); },
       {-1, 5},
       false},
      {"sample_pairs",
       "ptr",
       {none},
       [](const Tensors& x, const at::Tensor& ptr) { return std::get<2>(sample_pairs(x[0], 3, ptr)); },
       {0},
       false},
      {"sample_pairs, random",
       "ptr",
       {none},
       [seeds](const Tensors& x, const at::Tensor& ptr) {
         return std::get<2>(sample_pairs(x[0], 3, ptr, true, true, 0.5, std::nullopt, seeds(x, ptr)));
       },
       {0},
       false},
      {"select_pairs_with_replacement",
       "ptr",
       {none},
       [seeds](const Tensors& x, const at::Tensor& ptr) {
         const SampledPairs pairs = select_pairs_with_replacement(x[0], 3, ptr, seeds(x, ptr));
         return gather_pairs(x[0], pairs.top, pairs.partner, pair_weight(x[0], pairs, 1.0));
       },
       {0},
       false,
       true,
       false},
      {"sample_ptr of sample_pairs",
       "ptr",
       {none},
       [](const Tensors& x, const at::Tensor& ptr) { return std::get<3>(sample_pairs(x[0], 3, ptr)).slice(0, 1); },
       {-1},
       false,
       true,
       true,
       at::kLong},
      {"gather_pairs",
       nullptr,
       {rows, none},
       [longs](const Tensors& x, const at::Tensor&) { return gather_pairs(x[0], longs(x, 0), longs(x, 0), x[1]); },
       {0, 2, 4},
       false},  // LibTorch has the meta kernel of its index_select in Python alone
      {"seeded_dropout",
       nullptr,
       {rows},
       [longs](const Tensors& x, const at::Tensor&) { return seeded_dropout(x[0], 0.5, longs(x, 1)); },
       {0, 2, 4},
       false},
      {"random_walk_pe",
       nullptr,
       {points},
       [longs](const Tensors& x, const at::Tensor&) { return random_walk_pe(longs(x, 1), longs(x, 0), 3); },
       {0, 3},
       true,
       true,
       true,
       at::kFloat},
      {"farthest_point_sampling",
       "ptr",
       {points},
       [](const Tensors& x, const at::Tensor& ptr) { return farthest_point_sampling(x[0], 3, ptr); },
       {0},
       false,
       true,
       false,
       at::kLong},
      {"farthest_point_order",
       "ptr",
       {points},
       [](const Tensors& x, const at::Tensor& ptr) { return farthest_point_order(x[0], ptr); },
       {0},
       false,
       true,
       false,
       at::kLong},
      {"knn",
       "ptr",
       {points, points},
       [](const Tensors& x, const at::Tensor& ptr) { return std::get<1>(knn(x[0], x[1], 3, ptr, ptr)); },
       {0, 3},
       true,
       true,
       false},
      {"point_tokens",
       "ptr",
       {points, points},
       [](const Tensors& x, const at::Tensor& ptr) {
         return point_tokens(PointTokens::absolute_local, x[0], x[1], ptr);
       },
       {0, point_token_channels(PointTokens::absolute_local, true)},
       false,
       true,
       false},
      {"polynomial_attention_low_rank",
       "q_ptr",
       qkv,
       [](const Tensors& x, const at::Tensor& ptr) {
         return polynomial_attention_low_rank(x[0], x[1], x[2], 2, 0.5, false, ptr, ptr, true);
       },
       {0, 2, 4},
       false,
       false,
       false},
      {"polynomial_score_bound",
       "q_ptr",
       {rows, rows},
       [](const Tensors& x, const at::Tensor& ptr) { return polynomial_score_bound(x[0], x[1], 0.5, ptr, ptr); },
       {2},
       false,
       true,
       true,
       at::kDouble},
  };
}

Tensors leaves_of(const Operator& op, at::Device device, at::ScalarType type) {
  Tensors leaves;
  for (const std::vector<int64_t>& shape : op.leaves) {
    leaves.push_back(at::ones(shape, type).to(device).requires_grad_(true));
  }
  return leaves;
}

std::vector<int64_t> result_of(const Operator& op, int64_t items) {
  std::vector<int64_t> sizes = op.result;
  for (int64_t& size : sizes) size = size < 0 ? items : size;
  return sizes;
}

std::vector<at::ScalarType> types_of(const Operator& op) {
  if (!op.half_types) return {at::kFloat, at::kDouble};
  return {at::kFloat, at::kDouble, at::kHalf, at::kBFloat16};
}

void require_empty(const Operator& op, at::Device device, at::Device of_ptr, int64_t items, at::ScalarType type) {
  INFO(op.name << " on " << device << ", ptr on " << of_ptr << ", items " << items << ", " << type);
  const Tensors leaves = leaves_of(op, device, type);
  const at::Tensor out = op.call(leaves, at::zeros({items + 1}, at::kLong).to(of_ptr));
  REQUIRE(out.sizes() == at::IntArrayRef(result_of(op, items)));
  REQUIRE(out.scalar_type() == op.type.value_or(type));
  if (!device.is_meta()) REQUIRE(out.cpu().eq(0).all().item<bool>());
  if (!out.requires_grad()) return;
  const Tensors gradients = torch::autograd::grad({out}, leaves, {at::ones_like(out)}, std::nullopt, false, true);
  for (size_t i = 0; i < leaves.size(); ++i) {
    REQUIRE(gradients[i].defined());
    REQUIRE(gradients[i].sizes() == leaves[i].sizes());
    REQUIRE(gradients[i].scalar_type() == type);
    REQUIRE(gradients[i].device() == leaves[i].device());
    if (!device.is_meta()) REQUIRE(gradients[i].cpu().eq(0).all().item<bool>());
  }
}

}  // namespace

TEST_CASE("operators give no items, and items without rows, an empty result and empty gradients", "[empty_batches]") {
  const at::Device gpu = emulated_gpu::device;
  for (const Operator& op : operators()) {
    for (const at::ScalarType type : types_of(op)) {
      for (const int64_t items : {0, 1, 3}) {
        require_empty(op, at::kCPU, at::kCPU, items, type);
        if (op.on_gpu) require_empty(op, gpu, gpu, items, type);
        if (op.on_gpu) require_empty(op, gpu, at::kCPU, items, type);
        if (op.on_meta) require_empty(op, at::kMeta, at::kMeta, items, type);
      }
    }
  }
}

TEST_CASE("operators refuse a ptr without entries, and one without items for rows, by name", "[empty_batches]") {
  const at::Device gpu = emulated_gpu::device, cpu = at::kCPU, meta = at::kMeta;
  for (Operator op : operators()) {
    if (op.ptr == nullptr) continue;
    for (const auto& [device, of_ptr] :
         {std::pair(cpu, cpu), std::pair(gpu, gpu), std::pair(gpu, cpu), std::pair(meta, meta)}) {
      if ((device == gpu && !op.on_gpu) || (device == meta && !op.on_meta)) continue;
      INFO(op.name << " on " << device << ", ptr on " << of_ptr);
      require_error([&] { op.call(leaves_of(op, device, at::kFloat), at::zeros({0}, at::kLong).to(of_ptr)); },
                    {op.ptr, "at least 1 entry"});
    }
  }
  const at::Tensor x = at::ones({5, 3}), none = at::zeros({1}, at::kLong);
  for (const auto& [device, of_ptr] :
       {std::pair(cpu, cpu), std::pair(gpu, gpu), std::pair(gpu, cpu), std::pair(meta, meta)}) {
    INFO(device << ", ptr on " << of_ptr);
    const at::Tensor rows = x.to(device), ptr = none.to(of_ptr);
    const auto q = rows.unsqueeze(1);
    require_error([&] { softmax_pool(rows, rows[0], ptr); }, {"ptr must have an item for the 5 rows", "[1]"});
    require_error([&] { maxout_attention(q, q, q, rows.slice(1, 0, 1), {}, {}, ptr, ptr); },
                  {"q_ptr must have an item for the 5 rows", "[1]"});
    require_error([&] { primal_attention(q.slice(0, 0, 0), q, q, {}, {}, "softmax", 0, ptr, ptr); },
                  {"k_ptr must have an item for the 5 rows", "[1]"});
    require_error([&] { knn(rows, rows, 2, ptr, ptr); }, {"ptr must", "5"});
  }
}

}  // namespace geosft::test::test_empty_batches
