// SPDX-License-Identifier: Apache-2.0
// What the attention operators keep beside results and gradients: at most a tenth of q, k and v and a constant.
#include <torch/csrc/autograd/autograd.h>

#include <catch2/catch.hpp>

#include "models/ops/maxout_attention.h"
#include "tools/bench/attention_inputs.h"
#include "tools/bench/catalogue.h"
#include "tools/bench/peak_memory.h"

namespace geosft::bench::test::test_attention_memory {
namespace {

int64_t bytes_of(const Tensors& tensors) {
  int64_t bytes = 0;
  for (const at::Tensor& tensor : tensors) bytes += static_cast<int64_t>(tensor.nbytes());
  return bytes;
}

// Ours alone: forward and backward.
int64_t added_bytes(const Entries& entries, const std::string& name) {
  const Benchmark benchmark = chosen_entries(entries, {name}).front().make();
  Tensors results;
  const int64_t peak = peak_tensor_bytes([&] { results = benchmark.contenders.front().run(); });
  return peak - bytes_of(results);
}

}  // namespace

TEST_CASE("attention adds a tenth of its inputs and a constant at most", "[bench]") {
  constexpr int64_t constant = 2 << 20;
  for (const auto& [items, tokens, keys] : {std::tuple(512, 32, 16), std::tuple(2, 8192, 64)}) {
    const Sizes sizes{.batch = items, .tokens = tokens, .width = 256, .heads = 16, .keys = {keys}, .seed = 1};
    const int64_t inputs = 4 * sizes.width * items * (tokens + 2 * keys);
    for (const char* name :
         {"maxout_attention", "point_attention", "point_attention_normals", "sequence_attention", "graph_attention"}) {
      Entries all = attention_entries(sizes);
      for (const auto more : {relative_entries, graph_entries}) {
        for (Entry& entry : more(sizes)) all.push_back(std::move(entry));
      }
      INFO(name << ", " << items << " items of " << tokens << " tokens");
      CHECK(added_bytes(all, std::string(name) + "/k" + std::to_string(keys) + "/forward+backward") <
            inputs / 10 + constant);
    }
  }
}

TEST_CASE("attention of half types is not converted whole", "[bench]") {
  for (const auto& [items, tokens] : {std::pair(512, 32), std::pair(2, 8192)}) {
    const Sizes sizes{.batch = items, .tokens = tokens, .width = 256, .heads = 16, .seed = 1};
    const PackedInputs in = random_inputs(sizes, 64);
    Tensors leaves;
    for (const at::Tensor& x : {in.q, in.k, in.v, in.leak}) {
      leaves.push_back(x.detach().to(at::kBFloat16).requires_grad_(true));
    }
    const at::Tensor upstream = in.upstream.to(at::kBFloat16);
    Tensors results;
    const int64_t peak = peak_tensor_bytes([&] {
      const at::Tensor out =
          maxout_attention(leaves[0], leaves[1], leaves[2], leaves[3], std::nullopt, std::nullopt, in.q_ptr, in.k_ptr);
      results = torch::autograd::grad({out}, leaves, {upstream});
      results.push_back(out);
    });
    INFO(items << " items of " << tokens << " tokens");
    CHECK(peak - bytes_of(results) < bytes_of({leaves[0], leaves[1], leaves[2]}) / 10 + (2 << 20));
  }
}

}  // namespace geosft::bench::test::test_attention_memory
