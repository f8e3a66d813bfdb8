// SPDX-License-Identifier: Apache-2.0
// What the attention operators keep beside results and gradients: at most a tenth of q, k and v and a constant;
// primal_attention, which keeps features and shifted queries, something linear in the tokens.
#include <torch/csrc/autograd/autograd.h>

#include <catch2/catch.hpp>

#include "tests/models/ops/graph_cases.h"
#include "tests/models/ops/maxout_cases.h"
#include "tests/models/ops/point_cases.h"
#include "tests/models/ops/sequence_cases.h"
#include "tools/bench/attention_inputs.h"
#include "tools/bench/catalogue.h"
#include "tools/bench/peak_memory.h"

namespace geosft::bench::test::test_attention_memory {
namespace {

constexpr int64_t constant = 2 << 20;
// Items, tokens and keys: many items, a few, and so many tokens that the constant is nothing beside a tenth of them.
const auto all_sizes = {std::tuple(512, 32, 16), std::tuple(2, 8192, 64), std::tuple(2, 65536, 32)};

int64_t bytes_of(const Tensors& tensors) {
  int64_t bytes = 0;
  for (const at::Tensor& tensor : tensors) bytes += static_cast<int64_t>(tensor.nbytes());
  return bytes;
}

// Ours alone: forward and backward.
int64_t added_bytes(const Entries& entries, const std::string& name) {
  const Benchmark benchmark = chosen_entries(entries, {name}).front().make();
  Tensors results;
  const int64_t peak = peak_tensor_bytes([&] { results = benchmark.implementations.front().run(); });
  return peak - bytes_of(results);
}

// Holds an operator on bfloat16 to the bound, with the gradients of all of its arguments.
void require_little_of_half(const geosft::test::Attention& attention, const geosft::test::Arguments& arguments) {
  geosft::test::Arguments halves = arguments;
  Tensors leaves;
  int64_t inputs = 0;
  for (auto& [name, tensor] : halves.tensors) {
    if (!tensor.is_floating_point()) continue;
    tensor = tensor.to(at::kBFloat16).requires_grad_(true);
    if (name == "q" || name == "k" || name == "v") inputs += static_cast<int64_t>(tensor.nbytes());
    leaves.push_back(tensor);
  }
  const at::Tensor grad_output = at::ones_like(halves["q"]);
  Tensors results;
  const int64_t peak = peak_tensor_bytes([&] {
    const at::Tensor out = attention(halves);
    results = torch::autograd::grad({out}, leaves, {grad_output});
    results.push_back(out);
  });
  CHECK(peak - bytes_of(results) < inputs / 10 + constant);
}

}  // namespace

TEST_CASE("attention adds a tenth of its inputs and a constant at most", "[bench]") {
  for (const auto& [items, tokens, keys] : all_sizes) {
    const Sizes sizes{.batch = items, .tokens = tokens, .width = 256, .heads = 16, .keys = {keys}, .seed = 1};
    const int64_t inputs = 4 * sizes.width * items * (tokens + 2 * keys);
    for (const char* name : {"maxout_attention", "point_attention", "point_attention_normals", "point_attention_angles",
                             "sequence_attention", "graph_attention"}) {
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

TEST_CASE("what primal attention adds is linear in the tokens", "[bench]") {
  const auto added = [](const std::string& member, int64_t tokens) {
    const Sizes sizes{.batch = 1, .tokens = tokens, .width = 64, .heads = 4, .keys = {16}, .seed = 1};
    return added_bytes(primal_entries(sizes), "primal_attention/" + member + "/forward+backward");
  };
  for (const char* member : {"softmax", "bn", "bn_sh", "linear", "sparse"}) {
    INFO(member);
    // Pairs of 4,096 tokens alone are 268 MB, sixteen times those of 1,024.
    CHECK(added(member, 4096) < 4.6 * static_cast<double>(added(member, 1024)) + constant);
  }
}

TEST_CASE("attention of half types is not converted whole", "[bench]") {
  using namespace geosft::test;
  for (const auto& [items, tokens, keys] : all_sizes) {
    // Of 16 channels the float32 denominators alone are an eighth of q: too much where the constant is nothing beside
    // it.
    const int64_t c = items * tokens > 16384 ? 32 : 16;
    const geosft::test::Sizes sizes{std::vector<int64_t>(items, tokens), std::vector<int64_t>(items, keys), 256 / c, c,
                                    c};
    INFO(items << " items of " << tokens << " tokens");
    require_little_of_half(maxout_cases::fused, random_attention(sizes, 1));
    require_little_of_half(point_cases::fused, point_cases::random_points(sizes, 2, /*channels=*/2));
    require_little_of_half(sequence_cases::fused, sequence_cases::random_sequence(sizes, 3, /*depth=*/256));
    require_little_of_half(graph_cases::fused, graph_cases::random_graph(sizes, 4, /*channels=*/8, /*degree=*/4));
  }
}

}  // namespace geosft::bench::test::test_attention_memory
