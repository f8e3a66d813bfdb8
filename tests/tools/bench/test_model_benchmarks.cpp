// SPDX-License-Identifier: Apache-2.0
#include <torch/utils.h>

#include "models/layers/encoder.h"
#include "tests/support.h"
#include "tests/tools/bench/bench_sizes.h"
#include "tools/bench/attention_inputs.h"

namespace geosft::bench::test::test_model_benchmarks {

TEST_CASE("whole encoders are measured over sampling sizes and relative encodings", "[bench]") {
  const Entries entries = model_entries(small_sizes());
  REQUIRE(entries.size() == 13);
  REQUIRE(entries[3].name == "model/points/k5");
  REQUIRE(entries[7].name == "model/graph/k5");
  for (const Entry& entry : entries) {
    INFO(entry.name);
    const Benchmark benchmark = entry.make();
    REQUIRE(benchmark.implementations.size() == 2);
    const bool deit = entry.name.starts_with("model/deit_tiny/");
    REQUIRE(benchmark.keys == (deit ? 197 : 37));
    if (!deit) REQUIRE(benchmark.implementations[0].keys == (entry.name.ends_with("k5") ? 5 : 9));
    for (const Implementation& implementation : benchmark.implementations) {
      const Tensors results = implementation.run();
      REQUIRE(results.size() == 1);
      REQUIRE(results[0].numel() == (deit ? 2 * 197 * 192 : 2 * 37 * 12));
      REQUIRE_FALSE(results[0].requires_grad());
      REQUIRE(results[0].isfinite().all().item<bool>());
    }
  }
}

TEST_CASE("the plain encoder that is measured is one of four layers with fixed seeds", "[bench]") {
  const at::NoGradGuard as_measured;
  const Sizes sizes = small_sizes();
  const at::Tensor found = model_entries(sizes).front().make().implementations[0].run()[0];
  torch::manual_seed(sizes.seed);
  const at::Tensor x = normal({74, 12}, generator_of(sizes));
  LayerOptions options;
  options.attention.width = 12;
  options.attention.heads = 3;
  options.attention.sampler.num_samples = 9;
  Encoder encoder(options, 4);
  encoder->eval();
  SamplingContext context = SamplingContext::seeded();
  const at::Tensor expected = encoder->forward(x, RelativeEncoding::none(), equal_offsets(2, 37), context);
  geosft::test::require_equal(found, expected, "tokens");
}

}  // namespace geosft::bench::test::test_model_benchmarks
