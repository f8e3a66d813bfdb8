// SPDX-License-Identifier: Apache-2.0
// Benchmarks sample_pairs and softmax pooling against composites over equal items.
#include <ATen/CPUGeneratorImpl.h>

#include "models/ops/gather_pairs.h"
#include "models/ops/sample_pairs.h"
#include "models/ops/softmax_pool.h"
#include "tools/bench/attention_inputs.h"
#include "tools/bench/catalogue.h"

namespace geosft::bench {
namespace {

// Samples pairs with LibTorch's operations: top-k of the noisy scores [B, n], k random others, and the pairs' weights.
at::Tensor composite_weights(const at::Tensor& score, int64_t num_samples, const at::Generator& generator) {
  const at::Tensor gumbel =
      at::rand(score.sizes(), generator, score.options().requires_grad(false)).log_().neg_().log_();
  const at::Tensor noisy = score - gumbel;
  const at::Tensor top = std::get<1>(noisy.detach().topk(num_samples, 1));
  const at::Tensor lottery = at::rand(score.sizes(), generator, score.options().requires_grad(false));
  const at::Tensor partner = std::get<1>(lottery.scatter_(1, top, -1.0).topk(num_samples, 1));
  const at::Tensor log_top = at::softplus(noisy.gather(1, top)).log();
  return (log_top - at::softplus(noisy.gather(1, partner)).log()).sigmoid();
}

Benchmark make_sample(const Sizes& sizes, int64_t keys, Pass pass, const std::string& name) {
  auto generator = at::make_generator<at::CPUGeneratorImpl>(sizes.seed);
  const int64_t num_samples = std::min(keys, sizes.tokens / 2);
  const at::Tensor score = normal({sizes.batch * sizes.tokens}, generator).requires_grad_(true);
  const at::Tensor table = score.detach().view({sizes.batch, sizes.tokens}).clone().requires_grad_(true);
  const at::Tensor grad_output = normal({sizes.batch, num_samples}, generator);
  const at::Tensor ptr = equal_offsets(sizes.batch, sizes.tokens);
  const auto ours = [=] {
    return std::get<2>(sample_pairs(score, num_samples, ptr, /*noise=*/true, /*random_partner=*/true, 1.0, generator));
  };
  Benchmark benchmark{name, {}};
  benchmark.implementations = {{"geosft", measured_pass(pass, {score}, grad_output.flatten(), ours)},
                               {"topk", measured_pass(pass, {table}, grad_output, [=] {
                                  return composite_weights(table, num_samples, generator);
                                })}};
  return benchmark;
}

// Benchmarks the interpolation of sampled pairs: weight * x[top] + (1 - weight) * x[partner].
Benchmark make_gather(const Sizes& sizes, int64_t keys, Pass pass, const std::string& name) {
  const auto generator = at::make_generator<at::CPUGeneratorImpl>(sizes.seed);
  const int64_t rows = sizes.batch * sizes.tokens, num_samples = sizes.batch * std::min(keys, sizes.tokens / 2);
  const at::Tensor x = normal({rows, sizes.width}, generator).requires_grad_(true);
  const at::Tensor weight =
      at::rand({num_samples}, generator, at::TensorOptions().dtype(at::kFloat)).requires_grad_(true);
  const at::Tensor grad_output = normal({num_samples, sizes.width}, generator);
  const auto random_rows = [&] {
    return at::randint(rows, {num_samples}, generator, at::TensorOptions().dtype(at::kLong));
  };
  const at::Tensor top = random_rows(), partner = random_rows();
  const auto composite = [=] { return at::lerp(x.index({partner}), x.index({top}), weight.unsqueeze(1)); };
  Benchmark benchmark{name, {}};
  benchmark.implementations = {
      {"geosft", measured_pass(pass, {x, weight}, grad_output, [=] { return gather_pairs(x, top, partner, weight); })},
      {"index + lerp", measured_pass(pass, {x, weight}, grad_output, composite), std::nullopt,
       [](const at::Tensor& result) { return result; }}};
  return benchmark;
}

Benchmark make_pool(const Sizes& sizes, Pass pass, const std::string& name) {
  const auto generator = at::make_generator<at::CPUGeneratorImpl>(sizes.seed);
  const at::Tensor x = normal({sizes.batch * sizes.tokens, sizes.width}, generator).requires_grad_(true);
  const double spread = 1.0 / std::sqrt(static_cast<double>(sizes.width));
  const at::Tensor u = (normal({sizes.width}, generator) * spread).requires_grad_(true);
  const at::Tensor grad_output = normal({sizes.batch, sizes.width}, generator);
  const at::Tensor ptr = equal_offsets(sizes.batch, sizes.tokens);
  const auto composite = [=] {
    const at::Tensor items = x.view({sizes.batch, sizes.tokens, sizes.width});
    const at::Tensor share = at::softmax(at::matmul(items, u), 1);
    return at::bmm(share.unsqueeze(1), items).squeeze(1);
  };
  const double elements = static_cast<double>(x.numel()), bytes = 4 * elements;
  const Work work = pass == Pass::both ? Work{0, 6 * elements, 3 * bytes} : Work{0, 2 * elements, bytes};
  Benchmark benchmark{name, {}};
  benchmark.implementations = {
      {"geosft", measured_pass(pass, {x, u}, grad_output, [=] { return softmax_pool(x, u, ptr); }), work},
      {"softmax + bmm", measured_pass(pass, {x, u}, grad_output, composite), work,
       [](const at::Tensor& result) { return result; }}};
  return benchmark;
}

}  // namespace

Entries sampling_entries(const Sizes& sizes) {
  Entries entries;
  for (const int64_t keys : sizes.keys) {
    for (const Pass pass : {Pass::forward, Pass::both}) {
      const std::string name = "sample_pairs/k" + std::to_string(keys) + "/" + pass_name(pass);
      entries.push_back({name, "samples pairs with noise and random partners, and weighs them",
                         [=] { return make_sample(sizes, keys, pass, name); }});
      const std::string gather = "gather_pairs/k" + std::to_string(keys) + "/" + pass_name(pass);
      entries.push_back({gather, "mixes the rows of sampled pairs by their weights",
                         [=] { return make_gather(sizes, keys, pass, gather); }});
    }
  }
  for (const Pass pass : {Pass::forward, Pass::both}) {
    const std::string name = std::string("softmax_pool/") + pass_name(pass);
    entries.push_back(
        {name, "softmax-weighted sum of the tokens of each item", [=] { return make_pool(sizes, pass, name); }});
  }
  return entries;
}

}  // namespace geosft::bench
