// SPDX-License-Identifier: Apache-2.0
// Benchmarks primal_attention over all tokens of an item, and its layers, against LibTorch's softmax attention.
#include <ATen/CPUGeneratorImpl.h>
#include <torch/utils.h>

#include <cmath>
#include <memory>

#include "models/layers/primal_self_attention.h"
#include "models/layers/sparse_masks.h"
#include "models/ops/primal_attention.h"
#include "tools/bench/attention_inputs.h"
#include "tools/bench/catalogue.h"
#include "tools/bench/composites.h"

namespace geosft::bench {
namespace {

constexpr double bench_beta = 0.5;
constexpr int64_t window = 32;  // radius of the sparse mask

struct PrimalMember {
  const char* name;
  const char* about;
  double beta = 0;
  bool scaled = false, linear = false, sparse = false;
};
constexpr PrimalMember primal_members[] = {
    {"softmax", "softmax attention of all tokens over all"},
    {"bn", "the same, recentred by half the mean of the keys", bench_beta},
    {"bn_sh", "the same with pooled keys and values, factors as default_pool has them", bench_beta, true},
    {"linear", "linear attention, features elu + 1", 0, false, true},
    {"sparse", "softmax over the tokens at most 32 places away", 0, false, false, true}};

std::vector<int64_t> item_offsets(const Sizes& sizes) {
  std::vector<int64_t> offsets;
  for (int64_t b = 0; b <= sizes.batch; ++b) offsets.push_back(b * sizes.tokens);
  return offsets;
}

SparseMask bench_mask(const Sizes& sizes) {
  return window_mask(item_offsets(sizes), window);
}

double keys_per_query(const SparseMask& mask, const Sizes& sizes) {
  return static_cast<double>(mask.col.size(0)) / static_cast<double>(sizes.batch * sizes.tokens);
}

std::function<at::Tensor()> primal_forward(const PrimalMember& member, const Sizes& sizes, const PackedInputs& in) {
  std::optional<at::Tensor> beta, rowptr, col;
  if (member.beta != 0) beta = at::scalar_tensor(member.beta);
  if (member.sparse) {
    const SparseMask mask = bench_mask(sizes);
    rowptr = mask.rowptr;
    col = mask.col;
  }
  const std::vector<int64_t> pool = default_pool(sizes.heads);
  return [=] {
    return primal_attention(in.q, in.k, in.v, beta,
                            member.scaled ? at::OptionalIntArrayRef(pool) : at::OptionalIntArrayRef(),
                            member.linear ? "linear" : "softmax", attention_eps, in.q_ptr, in.k_ptr, rowptr, col);
  };
}

// Returns the keys per query of a member, mean over the heads.
double keys_per_query(const PrimalMember& member, const Sizes& sizes) {
  const auto tokens = static_cast<double>(sizes.tokens);
  if (member.sparse) return keys_per_query(bench_mask(sizes), sizes);
  if (!member.scaled) return tokens;
  double keys = 0;
  for (const int64_t factor : default_pool(sizes.heads)) keys += std::ceil(tokens / static_cast<double>(factor));
  return keys / static_cast<double>(sizes.heads);
}

// Returns the same function composed of LibTorch's operations; empty for members without a composite.
std::function<at::Tensor()> primal_composite(const PrimalMember& member, const Sizes& sizes,
                                             const HeadsFirstInputs& in) {
  if (member.scaled) return {};
  if (member.linear) {
    return [in] {
      const at::Tensor g = at::elu(in.q) + 1, f = at::elu(in.k) + 1;
      const at::Tensor total = at::matmul(g, f.sum(2).unsqueeze(-1)) + attention_eps;
      return at::matmul(g, at::matmul(f.transpose(2, 3), in.v)) / total;
    };
  }
  if (member.sparse) {
    const at::Tensor place = at::arange(sizes.tokens, at::kLong);
    const at::Tensor mask = (place.unsqueeze(1) - place).abs() <= window;
    return [in, mask] { return at::scaled_dot_product_attention(in.q, in.k, in.v, mask); };
  }
  return [in, beta = member.beta] {
    if (beta == 0) return softmax_attention(in);
    const at::Tensor shift = beta * in.k.mean(2, true);
    return at::scaled_dot_product_attention(in.q - shift, in.k - shift, in.v);
  };
}

Benchmark make_primal(const PrimalMember& member, const Sizes& sizes, Pass pass, const std::string& name) {
  const PackedInputs in = random_inputs(sizes, sizes.tokens);
  const HeadsFirstInputs first = heads_first(in, sizes);
  const AttentionShape shape = attention_shape(sizes, sizes.tokens);
  const Tensors leaves{first.q, first.k, first.v};
  Benchmark benchmark{name, {}};
  benchmark.implementations = {
      {"geosft", measured_pass(pass, {in.q, in.k, in.v}, in.grad_output, primal_forward(member, sizes, in))},
      {"scaled_dot_product_attention",
       measured_pass(pass, leaves, first.grad_output, [first] { return softmax_attention(first); }),
       pass == Pass::both ? dot_both_work(shape) : dot_forward_work(shape)}};
  if (const auto composite = primal_composite(member, sizes, first)) {
    benchmark.implementations.push_back(
        {"composite", measured_pass(pass, leaves, first.grad_output, composite), std::nullopt, packed_rows});
  }
  benchmark.keys = static_cast<double>(sizes.tokens);
  benchmark.implementations[0].keys = keys_per_query(member, sizes);
  return benchmark;
}

// Converts between packed rows and a padded batch [B, h, longest, c] with zeros after each item.
struct Padding {
  at::Tensor place;  // int64 [N]: row of the padded batch [B longest] for each packed row
  at::Tensor known;  // bool [B, 1, 1, longest]: not padding
  int64_t items, longest;

  at::Tensor padded(const at::Tensor& packed) const {
    const at::Tensor rows = at::zeros({items * longest, packed.size(1), packed.size(2)}, packed.options());
    return rows.index_copy(0, place, packed.detach())
        .view({items, longest, packed.size(1), -1})
        .transpose(1, 2)
        .contiguous();
  }
  at::Tensor packed(const at::Tensor& padded) const { return packed_rows(padded).index_select(0, place); }
};

Padding padding_of(const at::Tensor& ptr) {
  const at::Tensor counts = ptr.diff();
  const int64_t items = counts.size(0), longest = counts.max().item<int64_t>();
  const at::Tensor known = at::arange(longest, at::kLong) < counts.unsqueeze(1);
  return {known.flatten().nonzero().squeeze(1), known.view({items, 1, 1, longest}), items, longest};
}

// Benchmarks many short items of different lengths, as in speech datasets.
Benchmark make_ragged(const Sizes& sizes, Pass pass, const std::string& name) {
  std::vector<int64_t> offsets{0};
  while (offsets.back() < sizes.batch * sizes.tokens) {
    const int64_t length = 7 + static_cast<int64_t>(offsets.size() * 11) % 23;
    offsets.push_back(std::min(offsets.back() + length, sizes.batch * sizes.tokens));
  }
  const PackedInputs in = random_inputs(sizes, sizes.tokens);
  const at::Tensor ptr = at::tensor(offsets, at::kLong);
  const auto loop = [=] {
    Tensors items;
    for (size_t b = 0; b + 1 < offsets.size(); ++b) {
      const auto item = [&](const at::Tensor& x) {
        return x.slice(0, offsets[b], offsets[b + 1]).transpose(0, 1).unsqueeze(0);
      };
      items.push_back(at::scaled_dot_product_attention(item(in.q), item(in.k), item(in.v)).squeeze(0).transpose(0, 1));
    }
    return at::cat(items);
  };
  const Tensors leaves{in.q, in.k, in.v};
  const Padding padding = padding_of(ptr);
  // Padding is not timed: a model with padded batches pads only once.
  const Tensors padded{padding.padded(in.q).requires_grad_(true), padding.padded(in.k).requires_grad_(true),
                       padding.padded(in.v).requires_grad_(true)};
  const auto masked = [=] { return at::scaled_dot_product_attention(padded[0], padded[1], padded[2], padding.known); };
  Benchmark benchmark{name, {}};
  benchmark.implementations = {
      {"geosft",
       measured_pass(pass, leaves, in.grad_output,
                     [=] { return primal_attention(in.q, in.k, in.v, {}, {}, "softmax", attention_eps, ptr, ptr); })},
      {"a call of scaled_dot_product_attention an item", measured_pass(pass, leaves, in.grad_output, loop),
       std::nullopt, [](const at::Tensor& result) { return result; }},
      {"scaled_dot_product_attention of a padded batch",
       measured_pass(pass, padded, padding.padded(in.grad_output), masked), std::nullopt,
       [padding](const at::Tensor& result) { return padding.packed(result); }, static_cast<double>(padding.longest)}};
  const at::Tensor counts = ptr.diff().to(at::kDouble);
  benchmark.keys = (counts.square().sum() / counts.sum()).item<double>();
  benchmark.items = static_cast<double>(offsets.size() - 1);
  benchmark.items_are = "sequences";
  return benchmark;
}

// The layer with its projections; forward is inference without autograd.
Implementation layer_implementation(const std::string& name, const std::string& member, const Sizes& sizes, Pass pass) {
  torch::manual_seed(sizes.seed);
  auto generator = at::make_generator<at::CPUGeneratorImpl>(sizes.seed);
  PrimalSelfAttention layer(sizes.width, sizes.heads, primal_options(member, sizes.heads));
  const at::Tensor x = normal({sizes.batch * sizes.tokens, sizes.width}, generator).requires_grad_(true);
  const at::Tensor grad_output = normal(x.sizes(), generator), ptr = equal_offsets(sizes.batch, sizes.tokens);
  Tensors inputs = layer->parameters();
  inputs.push_back(x);
  return {name, measured_pass(pass, inputs, grad_output,
                              [=]() mutable { return layer->forward(x, ptr, RelativeEncoding::none()); })};
}

Benchmark make_primal_layer(const std::string& member, const Sizes& sizes, Pass pass, const std::string& name) {
  Benchmark benchmark{name,
                      {layer_implementation("geosft", member, sizes, pass),
                       layer_implementation("its softmax attention", "softmax", sizes, pass)}};
  benchmark.keys = static_cast<double>(sizes.tokens);
  for (const PrimalMember& one : primal_members) {
    if (one.name != member) continue;
    // The layer's own mask is strided.
    benchmark.implementations[0].keys =
        one.sparse ? keys_per_query(strided_mask(item_offsets(sizes), 0), sizes) : keys_per_query(one, sizes);
  }
  return benchmark;
}

}  // namespace

Entries primal_entries(const Sizes& sizes) {
  Entries entries;
  for (const Pass pass : {Pass::forward, Pass::both}) {
    for (const PrimalMember& member : primal_members) {
      const std::string name = std::string("primal_attention/") + member.name + "/" + pass_name(pass);
      entries.push_back({name, member.about, [=] { return make_primal(member, sizes, pass, name); }});
    }
    const std::string ragged = std::string("primal_attention/ragged/") + pass_name(pass);
    entries.push_back(
        {ragged, "softmax attention of items of 7 to 29 tokens", [=] { return make_ragged(sizes, pass, ragged); }});
    for (const char* member : {"bn", "bn_sh", "linear", "sparse"}) {
      const std::string name = std::string("primal_layer/") + member + "/" + pass_name(pass);
      entries.push_back({name, "the layer of that name, its maps included, beside that of softmax attention",
                         [=] { return make_primal_layer(member, sizes, pass, name); }});
    }
  }
  return entries;
}

}  // namespace geosft::bench
