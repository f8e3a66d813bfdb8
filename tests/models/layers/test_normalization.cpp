// SPDX-License-Identifier: Apache-2.0
#include "models/layers/normalization.h"

#include <ATen/Parallel.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/nn/modules/batchnorm.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "models/layers/statistics_reducer.h"
#include "models/ops/non_finite_error.h"
#include "tests/models/training/distributed/thread_processes.h"
#include "tests/support.h"
#include "tests/tensors.h"

namespace geosft::test::test_normalization {
namespace {

using Tensors = std::vector<at::Tensor>;

// A module whose weights differ from channel to channel.
PackedBatchNorm module_of(int64_t channels, at::ScalarType type = at::kDouble) {
  PackedBatchNorm norm(channels);
  norm->to(type);
  const at::NoGradGuard guard;
  norm->weight.copy_(normal({channels}, 91));
  norm->bias.copy_(normal({channels}, 92));
  return norm;
}

// The result, the buffers after it, and the gradients of x, weight and bias.
template <class Norm>
Tensors pass(Norm& norm, const at::Tensor& rows, const at::Tensor& grad) {
  const at::Tensor x = rows.detach().clone().requires_grad_(true);
  const at::Tensor out = norm(x);
  out.backward(grad);
  return {out.detach(), x.grad()};
}

Tensors packed_pass(PackedBatchNorm& norm, const at::Tensor& rows, const at::Tensor& grad) {
  SamplingContext context = SamplingContext::greedy();
  const auto call = [&](const at::Tensor& x) { return norm->forward(x, context); };
  Tensors found = pass(call, rows, grad);
  found.insert(found.end(), {norm->running_mean, norm->running_var, norm->weight.grad(), norm->bias.grad()});
  return found;
}

void require_all(const Tensors& actual, const Tensors& expected, double tolerance) {
  REQUIRE(actual.size() == expected.size());
  for (size_t i = 0; i < actual.size(); ++i) require_close(actual[i], expected[i], tolerance, std::to_string(i), 1.0);
}

}  // namespace

TEST_CASE("batch normalisation of packed rows is LibTorch's in training and evaluation", "[normalization]") {
  // Measured over 1,000 seeds, at most: 1.0e-14 where 1e-12 is allowed.
  const at::Tensor x = normal({40, 6}, 1) * 3 + 5, grad = normal({40, 6}, 2);
  PackedBatchNorm norm = module_of(6);
  torch::nn::BatchNorm1d reference(6);
  reference->to(at::kDouble);
  {
    const at::NoGradGuard guard;
    reference->weight.copy_(norm->weight);
    reference->bias.copy_(norm->bias);
  }
  const auto call = [&](const at::Tensor& rows) { return reference->forward(rows); };
  Tensors expected = pass(call, x, grad);
  expected.insert(expected.end(),
                  {reference->running_mean, reference->running_var, reference->weight.grad(), reference->bias.grad()});
  require_all(packed_pass(norm, x, grad), expected, 1e-12);
  norm->eval();
  reference->eval();
  SamplingContext context = SamplingContext::greedy();
  require_close(norm->forward(x, context), reference->forward(x), 1e-12, "evaluation");
}

TEST_CASE("evaluation limits what batch normalisation makes of rare values", "[normalization]") {
  PackedBatchNorm norm = module_of(3);
  SamplingContext context = SamplingContext::greedy();
  for (int batch = 0; batch < 200; ++batch) norm->forward(at::zeros({1024, 3}, at::kDouble), context);
  at::Tensor x = at::zeros({1024, 3}, at::kDouble);
  x[5][0] = 1.0, x[6][1] = -2.0;
  PackedBatchNorm seen = module_of(3);  // what training makes of the same values
  const at::Tensor in_training = seen->forward(x, context);
  norm->eval();
  const at::Tensor found = norm->forward(x, context);
  const at::Tensor limit = PackedBatchNormImpl::kMaxNormalized * norm->weight;
  require_close(found[5][0], norm->bias[0] + limit[0], 1e-12, "above");
  require_close(found[6][1], norm->bias[1] - limit[1], 1e-12, "below");
  require_close(found[5][2], norm->bias[2], 1e-12, "a value of the mean");
  require_close(found, in_training, 0.02, "training", 1.0);
}

TEST_CASE("batch normalisation has the right gradients", "[normalization]") {
  const auto call = [](const Tensors& in) {
    PackedBatchNorm norm = module_of(3);
    norm->weight.set_data(in[1]);
    SamplingContext context = SamplingContext::greedy();
    return norm->forward(in[0], context);
  };
  require_gradcheck([&](const Tensors& in) { return call({in[0], normal({3}, 91)}); }, {normal({7, 3}, 3)});
}

TEST_CASE("batch normalisation has the same bits on one thread and on two", "[normalization]") {
  const at::Tensor x = at::randn({4000, 24}, generator(4)), grad = at::randn({4000, 24}, generator(5));
  const int before = at::get_num_threads();
  const auto found = [&](int threads) {
    at::set_num_threads(threads);
    PackedBatchNorm norm = module_of(24, at::kFloat);
    return packed_pass(norm, x, grad);
  };
  const Tensors one = found(1), two = found(2);
  at::set_num_threads(before);
  for (size_t i = 0; i < one.size(); ++i) require_equal(two[i], one[i], std::to_string(i));
}

TEST_CASE("batch normalisation takes no rows and one row", "[normalization]") {
  // Measured over 1,000 seeds, at most: 3.2e-13 where 1e-12 is allowed.
  PackedBatchNorm norm = module_of(3);
  SamplingContext context = SamplingContext::greedy();
  const at::Tensor none = norm->forward(at::zeros({0, 3}, at::kDouble), context);
  REQUIRE(none.sizes() == at::IntArrayRef({0, 3}));
  const Tensors one = packed_pass(norm, normal({1, 3}, 6), normal({1, 3}, 7));
  require_close(one[0], norm->bias.unsqueeze(0), 1e-12, "its own mean");
  for (const at::Tensor& tensor : one) REQUIRE(tensor.isfinite().all().item<bool>());
  require_error([&] { norm->forward(at::ones({2, 4}, at::kDouble), context); }, {"x must be [n, 3]", "[2, 4]"});
  require_error([&] { norm->forward(at::ones({2, 3}), context); }, {"x must be", "Float"});
  require_error([] { PackedBatchNorm(0); }, {"channels", "0"});
}

TEST_CASE("statistics that are not finite leave the running averages as they are", "[normalization]") {
  PackedBatchNorm norm = module_of(3);
  SamplingContext context = SamplingContext::greedy();
  at::Tensor x = normal({5, 3}, 8);
  norm->forward(x, context);
  const at::Tensor mean = norm->running_mean.clone(), variance = norm->running_var.clone();
  x[2][1] = std::nan("");
  REQUIRE(norm->forward(x, context).isnan().any().item<bool>());
  require_equal(norm->running_mean, mean, "mean");
  require_equal(norm->running_var, variance, "variance");
}

TEST_CASE("processes normalise their rows as one does all of them", "[normalization]") {
  // Measured over 1,000 seeds, at most: 1.1e-14 where 1e-12 is allowed.
  const at::Tensor x = normal({30, 4}, 9) + 2, grad = normal({30, 4}, 10);
  PackedBatchNorm alone = module_of(4);
  const Tensors expected = packed_pass(alone, x, grad);
  const std::vector<int64_t> begin{0, 13, 13, 30};  // the second has no rows, the fourth rows that are not counted
  std::vector<Tensors> found(4);
  ThreadProcesses(4).run([&](const Communicator& all) {
    const auto rank = static_cast<size_t>(all.rank());
    const bool spare = rank == 3;
    const auto part = [&](const at::Tensor& of) {
      return spare ? at::ones({2, 4}, at::kDouble) : of.slice(0, begin[rank], begin[rank + 1]);
    };
    PackedBatchNorm norm = module_of(4);
    const auto reducer =
        std::make_shared<StatisticsReducer>([&](const at::Tensor& values) { return all.sum(values); }, !spare);
    reducer->expect(1);
    SamplingContext context = SamplingContext::greedy();
    context.sum_statistics_with(reducer);
    const auto call = [&](const at::Tensor& rows) { return norm->forward(rows, context); };
    found[rank] = pass(call, part(x), part(grad) * (spare ? 0 : 1));
    found[rank].insert(found[rank].end(),
                       {norm->running_mean, norm->running_var, norm->weight.grad(), norm->bias.grad()});
  });
  for (size_t i = 0; i < 2; ++i) {
    require_close(at::cat({found[0][i], found[1][i], found[2][i]}), expected[i], 1e-12, "rows", 1.0);
  }
  for (size_t i = 2; i < 4; ++i) {
    for (const Tensors& one : found) require_close(one[i], expected[i], 1e-12, "buffers", 1.0);
  }
  for (size_t i = 4; i < 6; ++i) {
    require_close(found[0][i] + found[1][i] + found[2][i] + found[3][i], expected[i], 1e-12, "gradients", 1.0);
  }
}

TEST_CASE("a process that cannot end its pass ends that of the others", "[normalization]") {
  std::vector<int> thrown(3, 0);
  ThreadProcesses(3).run([&](const Communicator& all) {
    StatisticsReducer reducer([&](const at::Tensor& values) { return all.sum(values); }, true);
    reducer.expect(2);
    try {
      reducer.sum(at::ones({3}, at::kDouble));
      if (all.rank() == 1) throw NonFiniteError("here");
      reducer.sum(at::ones({5}, at::kDouble));
    } catch (const NonFiniteError&) {
      ++thrown[static_cast<size_t>(all.rank())];
      reducer.abandon();
    }
    REQUIRE(all.sum(at::ones({1}, at::kDouble)).item<double>() == 3);
  });
  REQUIRE(thrown == std::vector<int>{1, 1, 1});
  ThreadProcesses(2).run([&](const Communicator& all) {
    StatisticsReducer reducer([&](const at::Tensor& values) { return all.sum(values); }, true);
    reducer.expect(1);
    reducer.sum(at::ones({3}, at::kDouble));
    if (all.rank() == 1) reducer.abandon();  // nobody waits
    REQUIRE(all.sum(at::ones({1}, at::kDouble)).item<double>() == 2);
  });
}

TEST_CASE("a normalisation has the parameters of its kind", "[normalization]") {
  // Measured over 1,000 seeds, at most: 5.4e-15 where 1e-12 is allowed.
  const at::Tensor x = normal({5, 3}, 11);
  SamplingContext context = SamplingContext::greedy();
  for (const NormKind kind : {NormKind::layer, NormKind::batch, NormKind::none}) {
    torch::nn::LayerNorm owner(torch::nn::LayerNormOptions({2}));
    Normalization norm(*owner, "norm", kind, 3);
    owner->to(at::kDouble);
    const at::Tensor out = norm(x, context);
    const int64_t dimension = kind == NormKind::layer ? 1 : 0;
    REQUIRE(batch_norm_count(*owner) == (kind == NormKind::batch ? 1 : 0));
    REQUIRE(owner->named_parameters().contains("norm.weight") == (kind != NormKind::none));
    if (kind == NormKind::none) {
      require_equal(out, x, "identity");
    } else {
      require_close(out.mean(dimension), at::zeros_like(out.mean(dimension)), 1e-12, "mean", 1.0);
    }
  }
}

}  // namespace geosft::test::test_normalization
