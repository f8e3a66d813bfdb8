// SPDX-License-Identifier: Apache-2.0
// What the attention operators keep beside results and gradients: at most a tenth of q, k and v and a constant.
#include <catch2/catch.hpp>

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

}  // namespace geosft::bench::test::test_attention_memory
