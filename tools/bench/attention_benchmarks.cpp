// SPDX-License-Identifier: Apache-2.0
// maxout_attention beside softmax attention and composites of the same mathematics.
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
  benchmark.contenders = {
      {"geosft", measured_pass(pass, {in.q, in.k, in.v, in.leak}, in.upstream, ours), work},
      {"scaled_dot_product_attention",
       measured_pass(pass, {first.q, first.k, first.v}, first.upstream, [first] { return softmax_attention(first); }),
       both ? dot_both_work(shape) : dot_forward_work(shape)},
      {"cdist", measured_pass(pass, leaves, first.upstream, [first] { return cdist_attention(first); }), work,
       packed_rows},
      {"broadcasting", measured_pass(pass, leaves, first.upstream, [first] { return broadcast_attention(first); }),
       work, packed_rows}};
  return benchmark;
}

}  // namespace

Entries attention_entries(const Sizes& sizes) {
  Entries entries;
  for (const int64_t keys : sizes.keys) {
    for (const Pass pass : {Pass::forward, Pass::both}) {
      const std::string name = "maxout_attention/k" + std::to_string(keys) + "/" + pass_name(pass);
      entries.push_back({name, "attention of all tokens over " + std::to_string(keys) + " keys",
                         [=] { return make_attention(sizes, keys, pass, name); }});
    }
  }
  return entries;
}

}  // namespace geosft::bench
