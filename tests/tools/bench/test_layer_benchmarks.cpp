// SPDX-License-Identifier: Apache-2.0
#include <torch/utils.h>

#include "models/layers/transformer_layer.h"
#include "tests/models/ops/reference.h"
#include "tests/support.h"
#include "tests/tools/bench/bench_sizes.h"
#include "tools/bench/attention_inputs.h"

namespace geosft::bench::test::test_layer_benchmarks {

TEST_CASE("layers give finite tokens of one size and gradients for every parameter", "[bench]") {
  for (const Entry& entry : layer_entries(small_sizes())) {
    INFO(entry.name);
    const Benchmark benchmark = entry.make();
    REQUIRE(benchmark.implementations.size() == 4);
    const bool both = entry.name.find("backward") != std::string::npos;
    for (const Implementation& implementation : benchmark.implementations) {
      INFO(implementation.name);
      const Tensors results = implementation.run();
      CHECK(results.size() > (both ? 12U : 0U));
      CHECK(results[0].numel() == 2 * 37 * 12);
      for (const at::Tensor& result : results) CHECK(result.isfinite().all().item<bool>());
      // Each layer ends with a normalisation, which no step of training has scaled yet.
      const at::Tensor rows = results[0].detach().to(at::kDouble).view({-1, 12});
      CHECK(rows.mean(1).abs().max().item<double>() < 1e-5);
      CHECK((rows.square().mean(1) - 1).abs().max().item<double>() < 1e-3);
    }
  }
}

TEST_CASE("the layer that is measured samples, attends and feeds forward", "[bench]") {
  using geosft::test::require_close;
  const Sizes sizes = small_sizes();
  const at::Tensor found = layer_entries(sizes).front().make().implementations[0].run()[0].detach();
  // The same weights, tokens and samples, with attention as the operators' reference has it.
  torch::manual_seed(sizes.seed);
  auto generator = generator_of(sizes);
  const at::Tensor x = normal({74, 12}, generator), ptr = equal_offsets(2, 37);
  normal({74, 12}, generator);  // the gradient of the result
  LayerOptions options;
  options.attention.width = 12;
  options.attention.heads = 3;
  options.attention.sampler.num_samples = 9;
  TransformerLayer layer(options);
  SamplingContext context = SamplingContext::training(generator);
  SamplingAttentionImpl& attention = *layer->attention;
  const Pairs pairs = attention.sampler->forward(x, ptr, context);
  const at::Tensor y = pairs.sample(x);
  const auto heads = [](const at::Tensor& rows) { return rows.view({-1, 3, 4}); };
  const at::Tensor mixed = geosft::test::reference_maxout(
      heads(attention.query->forward(x)), heads(attention.key->forward(y)), heads(attention.value->forward(y)),
      attention.leak->forward(y), {}, {}, ptr, pairs.ptr, 1e-6);
  const at::Tensor z = layer->norm1->forward(x + attention.output->forward(mixed.view({74, 12})));
  const at::Tensor expected = layer->norm2->forward(z + layer->contract->forward(at::gelu(layer->expand->forward(z))));
  require_close(found, expected.detach(), 1e-5, "layer");
}

TEST_CASE("every implementation of a layer has the gradient of its tokens last", "[bench]") {
  const Benchmark benchmark = layer_entries(small_sizes())[1].make();
  for (const Implementation& implementation : benchmark.implementations) {
    const at::Tensor gradient = implementation.run().back();
    CHECK(gradient.numel() == 2 * 37 * 12);
    CHECK(gradient.abs().sum().item<double>() > 0.0);
  }
}

}  // namespace geosft::bench::test::test_layer_benchmarks
