// SPDX-License-Identifier: Apache-2.0
// Benchmarks maxout_attention against softmax attention and composites of the same function.
#include "models/ops/maxout_attention.h"
#include "tools/bench/catalogue.h"
#include "tools/bench/composites.h"

namespace geosft::bench {
namespace {

Benchmark make_attention(const Sizes& sizes, int64_t keys, Pass pass, const std::string& name) {
  const PackedInputs in = random_inputs(sizes, keys);
  const HeadsFirstInputs first = heads_first(in, sizes);
  const AttentionShape shape = attention_shape(sizes, keys);
  const bool both = pass == Pass::both;
  const Work work = both ? maxout_both_work(shape) : maxout_forward_work(shape);
  const auto ours = [in] {
    return maxout_attention(in.q, in.k, in.v, in.leak, std::nullopt, std::nullopt, in.q_ptr, in.k_ptr, attention_eps);
  };
  const Tensors leaves{first.q, first.k, first.v, first.leak};
  Benchmark benchmark{name, {}};
  benchmark.implementations = {
      {"geosft", measured_pass(pass, {in.q, in.k, in.v, in.leak}, in.grad_output, ours), work},
      {"scaled_dot_product_attention",
       measured_pass(pass, {first.q, first.k, first.v}, first.grad_output,
                     [first] { return softmax_attention(first); }),
       both ? dot_both_work(shape) : dot_forward_work(shape)},
      {"cdist", measured_pass(pass, leaves, first.grad_output, [first] { return cdist_attention(first); }), work,
       packed_rows},
      {"broadcasting", measured_pass(pass, leaves, first.grad_output, [first] { return broadcast_attention(first); }),
       work, packed_rows}};
  benchmark.keys = static_cast<double>(keys);
  return benchmark;
}

// Benchmarks the score loop alone, by using values with one channel.
Benchmark make_score(const Sizes& sizes, int64_t keys, const std::string& name) {
  const PackedInputs in = random_inputs(sizes, keys);
  const AttentionShape shape = attention_shape(sizes, keys);
  const at::Tensor v = in.v.detach().narrow(2, 0, 1).contiguous();
  const Work work{shape.pairs * shape.width, shape.pairs * static_cast<double>(sizes.heads),
                  maxout_forward_work(shape).bytes / 2};
  const auto ours = [in, v] {
    return maxout_attention(in.q, in.k, v, in.leak, std::nullopt, std::nullopt, in.q_ptr, in.k_ptr, attention_eps);
  };
  Benchmark benchmark{name, {}};
  benchmark.implementations = {
      {"geosft", measured_pass(Pass::forward, {in.q, in.k, in.leak}, at::Tensor(), ours), work}};
  benchmark.keys = static_cast<double>(keys);
  return benchmark;
}

}  // namespace

Entries attention_entries(const Sizes& sizes) {
  Entries entries;
  for (const int64_t keys : sizes.keys) {
    append_passes(entries, sizes, keys, "maxout_attention",
                  "attention of all tokens over " + std::to_string(keys) + " keys", make_attention);
    const std::string name = "maxout_attention/k" + std::to_string(keys) + "/score";
    entries.push_back(
        {name, "its score loop: forward with values of one channel", [=] { return make_score(sizes, keys, name); }});
  }
  return entries;
}

}  // namespace geosft::bench
