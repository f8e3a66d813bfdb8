// SPDX-License-Identifier: Apache-2.0
#include "models/layers/transformer_layer.h"

#include <algorithm>

#include "geometry/device_offsets.h"
#include "models/layers/linear.h"

namespace geosft {

namespace {

AttentionFunction make_sampling(TransformerLayerImpl& layer) {
  layer.attention = layer.register_module("attention", SamplingAttention(layer.options.attention));
  return [made = layer.attention.ptr()](const at::Tensor& x, const RelativeEncoding& relative,
                                        const std::optional<at::Tensor>& ptr,
                                        SamplingContext& context) { return made->forward(x, relative, ptr, context); };
}

AttentionFunction make_polynomial(TransformerLayerImpl& layer) {
  const AttentionOptions& sizes = layer.options.attention;
  layer.polynomial =
      layer.register_module("attention", PolynomialSelfAttention(sizes.width, sizes.heads, layer.options.polynomial));
  return [made = layer.polynomial.ptr()](const at::Tensor& x, const RelativeEncoding& /*relative*/,
                                         const std::optional<at::Tensor>& ptr, SamplingContext& context) {
    if (context.trace() != nullptr) context.trace()->layers.push_back(made->trace(x, ptr));
    return made->forward(x, ptr);
  };
}

AttentionFunction make_primal(TransformerLayerImpl& layer) {
  const AttentionOptions& sizes = layer.options.attention;
  layer.primal =
      layer.register_module("attention", PrimalSelfAttention(sizes.width, sizes.heads, layer.options.primal));
  return [made = layer.primal.ptr()](const at::Tensor& x, const RelativeEncoding& relative,
                                     const std::optional<at::Tensor>& ptr, SamplingContext& context) {
    if (context.trace() != nullptr) context.trace()->layers.push_back(made->trace(x, ptr, relative));
    return made->forward(x, ptr, relative);
  };
}

void choose_primal(LayerOptions& options, const std::string& name) {
  options.primal = primal_options(name, options.attention.heads);
}

// Returns the function of a layer's attention, whose kind decides; empty for none.
AttentionFunction attention_of(TransformerLayerImpl& layer) {
  const auto& known = named_attentions();
  const auto found = std::find_if(known.begin(), known.end(),
                                  [&](const NamedAttention& one) { return one.kind == layer.options.kind; });
  TORCH_CHECK(found != known.end(), "kind must be one of the attentions, got ", static_cast<int>(layer.options.kind));
  return found->make == nullptr ? AttentionFunction() : found->make(layer);
}

}  // namespace

const std::vector<NamedAttention>& named_attentions() {
  static const std::vector<NamedAttention> all = [] {
    std::vector<NamedAttention> named = {{"sampling", AttentionKind::sampling, make_sampling},
                                         {"polynomial", AttentionKind::polynomial, make_polynomial}};
    for (const std::string& name : primal_names()) {
      named.push_back({name, AttentionKind::primal, make_primal, choose_primal});
    }
    named.push_back({"none", AttentionKind::none});
    return named;
  }();
  return all;
}

std::vector<std::string> attention_names(bool or_none) {
  std::vector<std::string> names;
  for (const NamedAttention& one : named_attentions()) {
    if (or_none || one.kind != AttentionKind::none) names.push_back(one.name);
  }
  return names;
}

void choose_attention(LayerOptions& options, const std::string& name) {
  const auto& known = named_attentions();
  const auto chosen = std::find_if(known.begin(), known.end(), [&](const auto& one) { return one.name == name; });
  if (chosen == known.end()) {
    std::string all;
    for (const std::string& one : attention_names()) all += (all.empty() ? "" : ", ") + one;
    TORCH_CHECK(false, "name of an attention must be one of ", all, ", not ", name);
  }
  options.kind = chosen->kind;
  if (chosen->choose != nullptr) chosen->choose(options, name);
}

TransformerLayerImpl::TransformerLayerImpl(const LayerOptions& layer_options) : options(layer_options) {
  const int64_t width = options.attention.width, inner = options.expansion * width;
  const bool convolves = options.local.kind != LocalKind::none;
  TORCH_CHECK(options.expansion >= 0, "expansion must be at least 0, got ", options.expansion);
  for (const auto& [name, probability] : {std::pair("token_dropout", options.token_dropout),
                                          std::pair("feed_forward_dropout", options.feed_forward_dropout)}) {
    TORCH_CHECK(probability >= 0 && probability < 1, name, " must lie in [0, 1), got ", probability);
  }
  TORCH_CHECK(options.drop_path >= 0 && options.drop_path < 1, "drop_path must lie in [0, 1), got ", options.drop_path);
  TORCH_CHECK(options.drop_path == 0 || (options.residual && !convolves),
              "drop_path must be 0 without residual connections, and with a local branch");
  attend_ = attention_of(*this);
  TORCH_CHECK(attend_ || convolves, "kind must be an attention where there is no local branch");
  if (attend_) {
    first_ = Normalization(*this, "norm1", options.normalization, width);
  }
  if (convolves) {
    local = register_module("local", MessagePassing(width, options.local, options.normalization));
    local_ = Normalization(*this, "local_norm", options.normalization, width);
  }
  if (options.expansion > 0) {
    second_ = Normalization(*this, "norm2", options.normalization, width);
    expand = register_module("expand", torch::nn::Linear(width, inner));
    contract = register_module("contract", torch::nn::Linear(inner, width));
  }
  norm1 = first_.layer;
  norm2 = second_.layer;
}

at::Tensor TransformerLayerImpl::feed_forward(const at::Tensor& x, SamplingContext& context) {
  const at::Tensor hidden = context.dropout(apply_linear(expand, x, Activation::gelu), options.feed_forward_dropout);
  return context.dropout(apply_linear(contract, hidden), options.token_dropout);
}

// Leaves out the rows of some items, in training.
at::Tensor TransformerLayerImpl::dropped(const at::Tensor& branch, const std::optional<at::Tensor>& ptr,
                                         SamplingContext& context) const {
  if (options.drop_path == 0.0 || context.mode() != SampleMode::random) return branch;
  const int64_t items = ptr ? ptr->size(0) - 1 : 1;
  const at::Tensor kept = context.dropout(at::ones({items, 1}, branch.options().requires_grad(false)),
                                          options.drop_path, context.rows_before([](int64_t) { return int64_t{1}; }));
  return branch * kept.index_select(0, item_of_row_on_device(ptr, branch.size(0), branch.device()));
}

at::Tensor TransformerLayerImpl::convolve(const at::Tensor& x, LocalGraph* graph, SamplingContext& context) {
  TORCH_CHECK(graph != nullptr, "graph must be given to a layer with a local branch");
  return local->forward(x, *graph, context);
}

at::Tensor TransformerLayerImpl::attend_and_convolve(const at::Tensor& x, const RelativeEncoding& relative,
                                                     const std::optional<at::Tensor>& ptr, SamplingContext& context,
                                                     LocalGraph* graph) {
  const bool pre = options.norm == NormPlacement::pre;
  const auto on_top = [&](const at::Tensor& branch) { return options.residual ? x + branch : branch; };
  if (!attend_) {
    const at::Tensor rows = convolve(pre ? local_(x, context) : x, graph, context);
    return on_top(context.dropout(at::gelu(pre ? rows : local_(rows, context)), options.token_dropout));
  }
  at::Tensor branch;
  if (!local.is_empty()) {
    branch = context.dropout(convolve(pre ? local_(x, context) : x, graph, context), options.token_dropout);
    if (!pre) branch = local_(on_top(branch), context);
  }
  const at::Tensor attended = attend_(pre ? first_(x, context) : x, relative, ptr, context);
  at::Tensor result = on_top(dropped(context.dropout(attended, options.token_dropout), ptr, context));
  if (!pre) result = first_(result, context);
  return branch.defined() ? result + branch : result;
}

at::Tensor TransformerLayerImpl::forward(at::Tensor x, const RelativeEncoding& relative,
                                         const std::optional<at::Tensor>& ptr, SamplingContext& context,
                                         LocalGraph* graph) {
  const bool pre = options.norm == NormPlacement::pre;
  x = attend_and_convolve(x, relative, ptr, context, graph);
  if (options.expansion == 0) return x;
  x = x + dropped(feed_forward(pre ? second_(x, context) : x, context), ptr, context);
  return pre ? x : second_(x, context);
}

}  // namespace geosft
