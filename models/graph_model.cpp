// SPDX-License-Identifier: Apache-2.0
#include "models/graph_model.h"

#include <ATen/core/grad_mode.h>

#include <cmath>
#include <numbers>
#include <numeric>

#include "geometry/device_offsets.h"
#include "geometry/radius_search.h"
#include "graph/laplacian_pe.h"
#include "models/layers/relative_encoding.h"
#include "models/layers/statistics_reducer.h"
#include "models/ops/edge_sum.h"
#include "models/ops/non_finite_error.h"
#include "models/training/module_state.h"

namespace geosft {
namespace {

// Deviations at most this large are rounding: of encodings and features of graphs, whose scale is known; of data in any
// unit, relative to the mean, or too small for float32.
constexpr double known_rounding = 1e-6, relative_rounding = 2e-7, smallest_float = 1e-37;
// Bounds the memory of copies in double precision.
constexpr int64_t columns_at_a_time = 256;
// Limit of standardised features of graphs: those of unusual graphs may lie many deviations from the mean.
constexpr double max_deviations = 5.0;

int64_t total(const std::vector<int64_t>& sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t{0});
}

// Returns the channels of an edge: its categories, its values and a constant.
int64_t edge_channels(const GraphModelOptions& options) {
  return total(options.edge_vocabulary) + options.edge_values + 1;
}

bool convolves(const GraphModelOptions& options) {
  return options.layer.local.kind != LocalKind::none;
}

LayerOptions with_graph_relations(LayerOptions layer, const GraphModelOptions& options) {
  const bool needs_edges = layer.local.kind == LocalKind::gated_gcn || edge_channels(options) > 1;
  layer.local.edge_channels = convolves(options) && needs_edges ? edge_channels(options) : 0;
  if (convolves(options) && options.edge_cutoff > 0) layer.local.edge_channels = options.radial_channels;
  if (options.positions == NodePositions::relative) {
    layer.attention.relative = RelativeEncodingKind::sequence;
    layer.attention.relative_channels = options.position_channels;
    return layer;
  }
  layer.attention.relative = options.relative ? RelativeEncodingKind::graph : RelativeEncodingKind::none;
  layer.attention.relative_channels =
      options.relative ? edge_channels(options) + options.distance_channels + (options.angles ? angle_channels : 0) : 0;
  return layer;
}

// Returns how a head of graphs pools their nodes.
std::optional<Pooling> pooling_of(GraphHead head) {
  if (head == GraphHead::softmax_pool) return Pooling::softmax;
  if (head == GraphHead::sample_max) return Pooling::sample_max;
  if (head == GraphHead::sum) return Pooling::sum;
  if (head == GraphHead::mean) return Pooling::mean;
  if (head == GraphHead::max) return Pooling::max;
  return std::nullopt;
}

void check_columns(const at::Tensor& features, const char* name, int64_t columns) {
  const int64_t found = features.defined() && features.dim() == 2 ? features.size(1) : 0;
  TORCH_CHECK(found == columns, name, " must have ", columns, " columns, as the model was built for, got ", found);
}

// Throws c10::Error unless the features have a row for each of `count` nodes or edges; they may be undefined.
void check_rows(const at::Tensor& features, const char* name, int64_t count, const char* items) {
  TORCH_CHECK(!features.defined() || features.size(0) == count, name, " must have a row for each of the ", count, " ",
              items, ", got ", features.size(0));
}

// Throws c10::Error for a category outside of the vocabulary of its column. Columns behind the vocabularies are free.
void check_categories(const at::Tensor& categories, const char* name, const std::vector<int64_t>& vocabulary) {
  if (vocabulary.empty() || categories.size(0) == 0) return;
  TORCH_CHECK(at::isIntegralType(categories.scalar_type(), /*includeBool=*/true), name, " must be integers, not ",
              categories.scalar_type());
  const at::Tensor lowest = categories.amin(0).to(at::kLong), highest = categories.amax(0).to(at::kLong);
  const int64_t *low = lowest.const_data_ptr<int64_t>(), *high = highest.const_data_ptr<int64_t>();
  for (size_t column = 0; column < vocabulary.size(); ++column) {
    TORCH_CHECK(low[column] >= 0 && high[column] < vocabulary[column], name, " must be from 0 to ",
                vocabulary[column] - 1, " in column ", column, ", as the model was built for, got ",
                low[column] < 0 ? low[column] : high[column]);
  }
}

// Throws NonFiniteError for features [n, columns], n rows of nodes or edges, one of which is NaN or infinite.
void check_finite_rows(const at::Tensor& features, const char* name) {
  const at::Tensor values = features.detach();
  // A sum with NaN or infinity is not finite. One of finite numbers may overflow.
  if (std::isfinite(values.sum().item<double>())) return;
  const at::Tensor broken = at::isfinite(values).all(1).logical_not();
  if (!broken.any().item<bool>()) return;
  throw NonFiniteError(c10::str(name, " must be finite, found NaN or infinity in ", broken.sum().item<int64_t>(),
                                " of ", values.size(0), " rows, the first of them row ",
                                broken.to(at::kByte).argmax().item<int64_t>()));
}

// Maps each category to its row in one table of all columns: [n, columns].
at::Tensor table_rows(const at::Tensor& categories, const std::vector<int64_t>& vocabulary) {
  std::vector<int64_t> begin(vocabulary.size());
  std::exclusive_scan(vocabulary.begin(), vocabulary.end(), begin.begin(), int64_t{0});
  std::vector<at::Tensor> columns;
  for (size_t i = 0; i < begin.size(); ++i) {
    columns.push_back(categories.select(1, static_cast<int64_t>(i)).to(at::kLong) + begin[i]);
  }
  return at::stack(columns, 1);
}

// The sum over the columns of the rows that their categories have in `table`. A sum over edges from the nodes to the
// table: its gradient is deterministic, and no tensor has a row for each node and column.
at::Tensor sum_of_embeddings(const at::Tensor& table, const at::Tensor& categories,
                             const std::vector<int64_t>& vocabulary) {
  const at::Tensor rows = table_rows(categories, vocabulary);
  const at::Tensor rowptr = at::arange(rows.size(0) + 1, rows.options()) * rows.size(1);
  return edge_sum(table, edge_index(rowptr, rows.flatten(), table.size(0)));
}

// How often each first category occurs among the nodes of each graph: float64 [B, categories].
at::Tensor category_counts(const FeaturedGraphs& graphs, int64_t categories) {
  const at::Tensor first = graphs.node_categories.select(1, 0).to(at::kLong);
  return sum_pool(at::one_hot(first, categories).to(at::kDouble), graphs.graphs.ptr);
}

}  // namespace

ColumnStatistics column_statistics(const at::Tensor& values, const at::Tensor& min_deviation) {
  std::vector<at::Tensor> means, deviations;
  for (const at::Tensor& columns : values.split(columns_at_a_time, 1)) {
    const at::Tensor exact = columns.to(at::kDouble);
    const at::Tensor mean = exact.nanmean(0).nan_to_num(0.0);
    const at::Tensor deviation = (exact - mean).square().nanmean(0).sqrt().nan_to_num(0.0);
    means.push_back(mean);
    deviations.push_back(deviation);
  }
  const at::Tensor mean = at::cat(means), deviation = at::cat(deviations);
  at::Tensor constant = deviation <= (mean.abs() * relative_rounding).clamp_min(smallest_float);
  if (min_deviation.defined()) constant = constant | (deviation <= min_deviation);
  return {mean.to(at::kFloat), at::where(constant, deviation.clamp_min(1.0), deviation).to(at::kFloat)};
}

GraphModelImpl::GraphModelImpl(const GraphModelOptions& model_options) : options(model_options) {
  TORCH_CHECK(options.outputs >= 1, "outputs must be at least 1, got ", options.outputs);
  TORCH_CHECK(options.documents == (options.head == GraphHead::pairs),
              "head must be pairs for items of two documents, and for them alone");
  if (options.position_channels == 0) options.position_channels = options.layer.attention.width;
  options.layer = with_graph_relations(options.layer, options);
  for (const std::vector<int64_t>* vocabulary : {&options.node_vocabulary, &options.edge_vocabulary}) {
    TORCH_CHECK(std::ranges::all_of(*vocabulary, [](int64_t size) { return size >= 1; }),
                vocabulary == &options.node_vocabulary ? "node_vocabulary" : "edge_vocabulary",
                " must have at least 1 category in each column, got ", at::IntArrayRef(*vocabulary));
  }
  TORCH_CHECK(options.node_values >= 0, "node_values must not be negative, got ", options.node_values);
  TORCH_CHECK(options.edge_values >= 0, "edge_values must not be negative, got ", options.edge_values);
  TORCH_CHECK(options.encoding_channels == 0 || options.encoding > 0,
              "encoding_channels must be 0 without an encoding, got ", options.encoding_channels);
  TORCH_CHECK(!options.sign_invariant || options.encoding_channels > 0,
              "encoding_channels must be at least 1 with sign_invariant");
  TORCH_CHECK(!options.angles ||
                  (options.distance_channels > 0 && options.relative && options.positions != NodePositions::relative),
              "angles must be false without distance_channels, and where attention sees no edges");
  TORCH_CHECK(options.edge_cutoff >= 0, "edge_cutoff must not be negative, got ", options.edge_cutoff);
  TORCH_CHECK(options.edge_cutoff == 0 || convolves(options), "edge_cutoff must be 0 without a local branch, got ",
              options.edge_cutoff);
  TORCH_CHECK(!options.atom_references || (pooling_of(options.head) && !options.node_vocabulary.empty()),
              "atom_references must be false for heads of nodes and pairs, and for nodes without categories");
  const int64_t width = options.layer.attention.width, values = options.node_values + standardized_encoding(),
                channels = width - options.encoding_channels;
  TORCH_CHECK(channels >= 1, "encoding_channels must be below the width, ", width, ", got ", options.encoding_channels);
  if (!options.node_vocabulary.empty()) {
    embedding = register_module("embedding", torch::nn::Embedding(total(options.node_vocabulary), channels));
  }
  numbers = register_module("numbers", torch::nn::Linear(std::max<int64_t>(values, 1), channels));
  if (options.max_degree > 0) {
    degrees = register_module("degrees", torch::nn::Embedding(options.max_degree + 1, channels));
  }
  if (options.sign_invariant) {
    sign_net =
        register_module("sign_net", SignNet(options.encoding, options.encoding_channels, options.encoding_layers));
  } else if (options.encoding_channels > 0) {
    encoding_norm = register_module("encoding_norm", PackedBatchNorm(options.encoding));
    encoding_network = register_module("encoding_network", Mlp(options.encoding, 2 * options.encoding_channels,
                                                               options.encoding_channels, options.encoding_layers));
  }
  if (options.layer.local.kind == LocalKind::gated_gcn) {
    edge_state = register_module("edge_state", torch::nn::Linear(options.layer.local.edge_channels, width));
  }
  options.layer.primal.class_token = options.head == GraphHead::class_token;
  encoder = register_module("encoder", Encoder(options.layer, options.layers, options.encoder));
  make_class_token();
  make_head();
  const auto buffers = [this](const char* mean, at::Tensor& of_mean, const char* deviation, at::Tensor& of_deviation,
                              int64_t columns) {
    of_mean = register_buffer(mean, at::zeros({columns}));
    of_deviation = register_buffer(deviation, at::ones({columns}));
  };
  buffers("node_mean", node_mean, "node_deviation", node_deviation, values);
  buffers("edge_mean", edge_mean, "edge_deviation", edge_deviation, options.edge_values);
  buffers("target_mean", target_mean, "target_deviation", target_deviation, options.outputs);
  if (options.atom_references) {
    target_reference =
        register_buffer("target_reference", at::zeros({options.node_vocabulary.front(), options.outputs}));
  }
  if (options.graph_features > 0) {
    buffers("graph_mean", graph_mean, "graph_deviation", graph_deviation, options.graph_features);
  }
}

// Makes the class token and learned positions, which begin as those of DeiT: normal with deviation 0.02.
void GraphModelImpl::make_class_token() {
  constexpr double deviation = 0.02;
  const bool has_token = options.head == GraphHead::class_token, learned = options.positions == NodePositions::learned;
  TORCH_CHECK(!has_token || (!options.relative && options.positions != NodePositions::relative && !convolves(options)),
              "head must not be class_token where attention or a local branch sees edges or relative positions");
  TORCH_CHECK(!learned || options.places >= 1, "places must be at least 1 for learned positions, got ", options.places);
  const int64_t width = options.layer.attention.width;
  const auto parameter = [&](const char* name, int64_t rows) {
    return register_parameter(name, at::randn({rows, width}) * deviation);
  };
  if (has_token) class_token = parameter("class_token", 1);
  if (learned) positions = parameter("positions", options.places + (has_token ? 1 : 0));
}

at::Tensor GraphModelImpl::token_ptr(const at::Tensor& ptr) const {
  if (options.head != GraphHead::class_token) return ptr;
  return ptr + at::arange(ptr.size(0), ptr.options());
}

// Puts the class token before the nodes of each item, and adds learned positions.
at::Tensor GraphModelImpl::with_class_token(const at::Tensor& x, const at::Tensor& ptr) const {
  if (!class_token.defined() && !positions.defined()) return x;
  const int64_t items = ptr.size(0) - 1;
  if (!positions.defined()) {
    // Row i of item b moves to i + b + 1; rows of the token remain.
    const at::Tensor item = item_of_row_on_device(ptr, x.size(0), x.device());
    const at::Tensor row = at::arange(x.size(0), item.options()) + item + 1;
    const at::Tensor first = ptr_on_device(token_ptr(ptr), x.device(), "ptr").slice(0, 0, items);
    return at::empty({x.size(0) + items, x.size(1)}, x.options().requires_grad(false))
        .index_copy(0, row, x)
        .index_copy(0, first, class_token.to(x.scalar_type()).expand({items, -1}));
  }
  TORCH_CHECK(x.size(0) == items * options.places, "ptr must have items of ", options.places,
              " nodes for learned positions, got ", x.size(0), " nodes in ", items, " items");
  at::Tensor rows = x.view({items, options.places, x.size(1)});
  if (class_token.defined()) rows = at::cat({class_token.to(x.scalar_type()).expand({items, 1, -1}), rows}, 1);
  return (rows + positions.to(x.scalar_type())).flatten(0, 1);
}

void GraphModelImpl::make_head() {
  TORCH_CHECK(options.graph_counts >= 0 && options.graph_counts <= options.graph_features,
              "graph_counts must be at most graph_features, ", options.graph_features, ", got ", options.graph_counts);
  const int64_t width = options.layer.attention.width;
  const bool deep = options.head_layers != 1 || options.graph_features > 0;
  const std::optional<Pooling> pooling = pooling_of(options.head);
  TORCH_CHECK(!deep || pooling || options.graph_features == 0, "graph_features must be 0 for heads of nodes and pairs");
  TORCH_CHECK(!deep || options.head != GraphHead::pairs, "head_layers must be 1 for the head pairs, got ",
              options.head_layers);
  if (pooling && (deep || options.head == GraphHead::mean || options.head == GraphHead::max)) {
    const PooledHeadOptions head{*pooling, options.head_layers, options.graph_features, options.head_dropout,
                                 options.head_sampler};
    pooled_head = register_module("pooled_head", PooledHead(width, options.outputs, head));
  } else if (options.head == GraphHead::softmax_pool) {
    pool_head = register_module("pool_head", SoftmaxPoolHead(width, options.outputs));
  } else if (options.head == GraphHead::sample_max) {
    sample_head = register_module("sample_head",
                                  SampleMaxHead(width, options.outputs, options.head_sampler, options.head_dropout));
  } else if (options.head == GraphHead::pairs) {
    pair_head = register_module("pair_head", PairHead(width, options.outputs));
  } else if (options.head == GraphHead::sum) {
    sum_head = register_module("sum_head", SumHead(width, options.outputs));
  } else if (deep) {
    node_head =
        register_module("node_head", Mlp(width, width, options.outputs, options.head_layers, options.head_dropout));
  } else {
    token_head = register_module("token_head", TokenHead(width, options.outputs));
  }
}

// Values and encoding, concatenated; a constant without either.
at::Tensor GraphModelImpl::node_numbers(const FeaturedGraphs& graphs) const {
  std::vector<at::Tensor> parts;
  if (options.node_values > 0) parts.push_back(graphs.node_values);
  if (standardized_encoding() > 0) parts.push_back(graphs.node_encoding);
  return parts.empty() ? at::Tensor() : at::cat(parts, 1);
}

at::Tensor GraphModelImpl::tokens(const FeaturedGraphs& graphs, const at::Tensor& ptr, SamplingContext& context) {
  const int64_t nodes = graphs.graphs.graph.nodes();
  FeaturedGraphs signed_graphs = graphs;
  if (options.signed_encoding && context.mode() == SampleMode::random) {
    const at::Tensor& encoding = graphs.node_encoding;
    const at::Tensor signs = context.random_rows(graphs.graphs.ptr.size(0) - 1, [&](int64_t items) {
      return random_signs(items, encoding.size(1), *context.generator(), encoding.scalar_type());
    });
    signed_graphs.node_encoding = with_signs(encoding, signs, graphs.graphs.ptr);
  }
  const at::Tensor values = node_numbers(signed_graphs);
  const at::TensorOptions of_weights = numbers->weight.options().requires_grad(false);
  const at::Tensor numbered = numbers->forward(values.defined() ? ((values.to(of_weights) - node_mean) / node_deviation)
                                                                : at::ones({nodes, 1}, of_weights));
  at::Tensor x = numbered.to(of_weights);  // with and without autocast
  if (options.positions == NodePositions::added) x = x + places(ptr, x.size(1));
  if (!embedding.is_empty()) {
    const auto columns = static_cast<int64_t>(options.node_vocabulary.size());
    const at::Tensor categories = graphs.node_categories.slice(1, 0, columns);
    x = x + sum_of_embeddings(embedding->weight, categories, options.node_vocabulary);
  }
  if (!degrees.is_empty()) {
    x = x + degrees->forward(at::diff(graphs.graphs.graph.rowptr).clamp_max(options.max_degree));
  }
  if (!sign_net.is_empty()) {
    return at::cat({x, sign_net->forward(signed_graphs.node_encoding.to(of_weights), context).to(of_weights)}, 1);
  }
  if (encoding_norm.is_empty()) return x;
  const at::Tensor encoding = encoding_norm->forward(signed_graphs.node_encoding.to(of_weights), context);
  return at::cat({x, encoding_network->forward(encoding, context).to(of_weights)}, 1);
}

// Sinusoids of the position of each node in its item.
at::Tensor GraphModelImpl::places(const at::Tensor& ptr, int64_t channels) const {
  const at::Device device = numbers->weight.device();
  const at::Tensor sizes = at::diff(ptr), begin = ptr_on_device(ptr, device, "ptr");
  const int64_t longest = sizes.numel() > 0 ? sizes.max().item<int64_t>() : 0, nodes = ptr[-1].item<int64_t>();
  const at::Tensor item = item_of_row_on_device(ptr, nodes, device);
  const at::Tensor place = at::arange(nodes, item.options()) - begin.index_select(0, item);
  return sinusoids(longest, channels, numbers->weight.options().requires_grad(false)).index_select(0, place);
}

// The channels of the edges: one for each category, each numeric feature, and a constant.
at::Tensor GraphModelImpl::edge_features(const FeaturedGraphs& graphs) const {
  const int64_t edges = graphs.graphs.graph.edges(), categories = total(options.edge_vocabulary);
  const at::TensorOptions of_weights = numbers->weight.options().requires_grad(false);
  std::vector<at::Tensor> channels;
  if (categories > 0) {
    channels.push_back(at::zeros({edges, categories}, of_weights)
                           .scatter_(1, table_rows(graphs.edge_categories, options.edge_vocabulary), 1.0));
  }
  if (options.edge_values > 0) channels.push_back((graphs.edge_values.to(of_weights) - edge_mean) / edge_deviation);
  channels.push_back(at::ones({edges, 1}, of_weights));
  return at::cat(channels, 1);
}

// Finds the nodes within the cutoff of each node, other than itself, on the CPU. Their distances are differentiable in
// the coordinates; on a GPU the sums of that gradient have no fixed order.
LocalGraph GraphModelImpl::radial(const FeaturedGraphs& graphs) const {
  const at::TensorOptions of_weights = numbers->weight.options().requires_grad(false);
  const at::Tensor points = graphs.coordinates.detach().to(at::kCPU, at::kFloat), ptr = graphs.graphs.ptr.cpu();
  const RadiusNeighbours found = radius_search(points, points, options.edge_cutoff, ptr, ptr);
  const at::Tensor row = at::repeat_interleave(at::diff(found.rowptr)), others = (row != found.col).nonzero().flatten();
  const at::Tensor degree = at::bincount(row.index_select(0, others), {}, points.size(0));
  const at::Tensor rowptr = at::cat({at::zeros({1}, degree.options()), degree.cumsum(0)});
  const at::Device device = of_weights.device();
  const at::Tensor from = row.index_select(0, others).to(device), to = found.col.index_select(0, others).to(device);
  LocalGraph graph = local_graph(rowptr.to(device), to, options.layer.local.kind, of_weights);
  const at::Tensor exact = graphs.coordinates.to(device, at::promote_types(numbers->weight.scalar_type(), at::kFloat));
  const std::vector<at::Tensor> squares = (exact.index_select(0, from) - exact.index_select(0, to)).square().unbind(-1);
  const at::Tensor squared = squares[0] + squares[1] + squares[2];
  graph.edge_attr = distance_features(squared, options.radial_channels, options.edge_cutoff).to(of_weights);
  // The slope of a root is infinite at 0.
  const at::Tensor distance = squared.clamp_min(smallest_squared_distance).sqrt();
  const at::Tensor envelope = (0.5 * (1 + at::cos(distance * (std::numbers::pi / options.edge_cutoff)))).to(of_weights);
  graph.edge_weight = graph.edge_weight.defined() ? graph.edge_weight * envelope : envelope;
  return graph;
}

LocalGraph GraphModelImpl::local(const FeaturedGraphs& graphs) {
  if (options.edge_cutoff > 0) {
    LocalGraph graph = radial(graphs);
    if (!edge_state.is_empty()) graph.edges = edge_state->forward(graph.edge_attr).to(graph.edge_attr.scalar_type());
    return graph;
  }
  const CsrGraph& edges = graphs.graphs.graph;
  const at::TensorOptions of_weights = numbers->weight.options().requires_grad(false);
  LocalGraph graph = local_graph(edges.rowptr, edges.col, options.layer.local.kind, of_weights);
  if (options.layer.local.edge_channels > 0) graph.edge_attr = edge_features(graphs);
  if (!edge_state.is_empty()) graph.edges = edge_state->forward(graph.edge_attr).to(of_weights);
  return graph;
}

RelativeEncoding GraphModelImpl::relative(const FeaturedGraphs& graphs, const at::Tensor& ptr) const {
  if (options.positions == NodePositions::relative) {
    return RelativeEncoding::sequence(places(ptr, options.position_channels));
  }
  if (!options.relative) return RelativeEncoding::none();
  RelativeEncoding edges_alone =
      RelativeEncoding::graph(graphs.graphs.graph.rowptr, graphs.graphs.graph.col, edge_features(graphs));
  if (options.distance_channels == 0) return edges_alone;
  const at::Tensor exact = graphs.coordinates.to(at::promote_types(numbers->weight.scalar_type(), at::kFloat));
  return RelativeEncoding::molecules(edges_alone, exact, options.distance_channels, options.distance_range,
                                     options.angles);
}

void GraphModelImpl::check(const FeaturedGraphs& graphs) const {
  check_columns(graphs.node_categories, "node_categories",
                static_cast<int64_t>(options.node_vocabulary.size()) + (options.documents ? 1 : 0));
  check_columns(graphs.node_values, "node_values", options.node_values);
  check_columns(graphs.node_encoding, "node_encoding", options.encoding);
  const bool attends_to_edges = options.relative && options.positions != NodePositions::relative;
  const bool sees_coordinates = options.edge_cutoff > 0 || (attends_to_edges && options.distance_channels > 0);
  if (sees_coordinates) check_columns(graphs.coordinates, "coordinates", 3);
  const bool sees_edges = attends_to_edges || (options.layer.local.edge_channels > 0 && options.edge_cutoff == 0);
  if (sees_edges) {
    check_columns(graphs.edge_categories, "edge_categories", static_cast<int64_t>(options.edge_vocabulary.size()));
    check_columns(graphs.edge_values, "edge_values", options.edge_values);
  }
  const CsrGraph& graph = graphs.graphs.graph;
  for (const auto& [features, name] :
       {std::pair(&graphs.node_categories, "node_categories"), std::pair(&graphs.node_values, "node_values"),
        std::pair(&graphs.node_encoding, "node_encoding"), std::pair(&graphs.coordinates, "coordinates")}) {
    check_rows(*features, name, graph.nodes(), "nodes");
  }
  check_rows(graphs.edge_categories, "edge_categories", graph.edges(), "edges");
  check_rows(graphs.edge_values, "edge_values", graph.edges(), "edges");
  // The rest reads the numbers: on a GPU it would synchronise.
  if (!graph.col.is_cpu() || !graphs.graphs.ptr.is_cpu()) return;
  check_batch(graphs.graphs);
  if (graphs.node_categories.defined() && graphs.node_categories.is_cpu()) {
    check_categories(graphs.node_categories, "node_categories", options.node_vocabulary);
  }
  if (sees_edges && graphs.edge_categories.defined() && graphs.edge_categories.is_cpu()) {
    check_categories(graphs.edge_categories, "edge_categories", options.edge_vocabulary);
  }
  // Attention and maxima do not always pass NaN on.
  const auto check_numbers = [](bool seen, const at::Tensor& features, const char* name) {
    if (seen && features.is_cpu()) check_finite_rows(features, name);
  };
  check_numbers(options.node_values > 0, graphs.node_values, "node_values");
  check_numbers(options.encoding > 0, graphs.node_encoding, "node_encoding");
  check_numbers(sees_edges && options.edge_values > 0, graphs.edge_values, "edge_values");
  check_numbers(sees_coordinates, graphs.coordinates, "coordinates");
}

// Synchronises with a GPU.
namespace {

// Returns the number of sums of statistics in a forward pass: one for each PackedBatchNorm, but for that of a virtual
// node, which normalises after every layer but the last.
int64_t count_sums(const GraphModelImpl& model) {
  const Encoder& encoder = model.encoder;
  const int64_t count = batch_norm_count(model);
  if (encoder->virtual_node.is_empty()) return count;
  return count + (static_cast<int64_t>(encoder->layers->size()) - 2) * batch_norm_count(*encoder->virtual_node);
}

}  // namespace

at::Tensor GraphModelImpl::document_ptr(const FeaturedGraphs& graphs) const {
  if (graphs.document_ptr.defined()) return graphs.document_ptr;
  const at::Tensor& ptr = graphs.graphs.ptr;
  return document_offsets(ptr, graphs.node_categories.select(1, -1).to(ptr.device()));
}

at::Tensor GraphModelImpl::predictions(const at::Tensor& x, const at::Tensor& ptr, SamplingContext& context,
                                       const at::Tensor& graph_features) {
  if (!pooled_head.is_empty()) return pooled_head->forward(x, ptr, context, graph_features);
  if (options.head == GraphHead::pairs) return pair_head->forward(x, ptr);
  if (options.head == GraphHead::softmax_pool) return pool_head->forward(x, ptr);
  if (options.head == GraphHead::sample_max) return sample_head->forward(x, ptr, context);
  if (options.head == GraphHead::sum) return sum_head->forward(x, ptr);
  const at::Tensor rows = options.head == GraphHead::class_token
                              ? x.index_select(0, ptr_on_device(ptr, x.device(), "ptr").slice(0, 0, ptr.size(0) - 1))
                              : x;
  return node_head.is_empty() ? token_head->forward(rows) : node_head->forward(rows, context);
}

std::shared_ptr<torch::nn::Module> GraphModelImpl::clone(const std::optional<torch::Device>& device) const {
  return copy_of_module(*this, device);
}

at::Tensor GraphModelImpl::forward(const FeaturedGraphs& graphs, SamplingContext& context,
                                   const at::Tensor& graph_features) {
  // Before all that can throw: the other processes wait for these sums, or hear that there will be none.
  if (context.statistics()) context.statistics()->expect(count_sums(*this));
  check(graphs);
  check_columns(graph_features, "graph_features", options.graph_features);
  const at::Tensor ptr = options.documents ? document_ptr(graphs) : graphs.graphs.ptr;
  const std::optional<LocalGraph> edges = convolves(options) ? std::optional(local(graphs)) : std::nullopt;
  const at::Tensor attending = token_ptr(ptr);
  const at::Tensor x = encoder->forward(with_class_token(tokens(graphs, ptr, context), ptr), relative(graphs, ptr),
                                        attending, context, edges ? &*edges : nullptr);
  const auto referenced = [&](const at::Tensor& predicted) {
    if (!options.atom_references) return predicted;
    return predicted +
           sum_pool(target_reference.index_select(0, graphs.node_categories.select(1, 0).to(at::kLong)), ptr);
  };
  if (options.graph_features == 0) return referenced(predictions(x, attending, context, {}));
  const at::TensorOptions of_weights = numbers->weight.options().requires_grad(false);
  const at::Tensor standardized = (graph_features.to(of_weights) - graph_mean) / graph_deviation;
  return referenced(predictions(x, ptr, context, standardized.nan_to_num(0.0).clamp(-max_deviations, max_deviations)));
}

at::Tensor GraphModelImpl::head_features(const FeaturedGraphs& graphs) const {
  if (options.graph_features == 0) return {};
  const at::Tensor& all = graphs.graph_features;
  const bool more = all.defined() && all.dim() == 2 && all.size(1) > options.graph_features;
  return more ? all.narrow(1, 0, options.graph_features) : all;
}

// The constants per category, float64 [categories, outputs], that fit the targets [B, outputs] best, NaN left out. A
// ridge far below any count decides between equally good fits, and gives absent categories 0.
at::Tensor GraphModelImpl::fit_references(const FeaturedGraphs& graphs, const at::Tensor& targets) {
  constexpr double ridge = 1e-6;
  const at::Tensor counts = category_counts(graphs, options.node_vocabulary.front());
  const at::Tensor identity = at::eye(counts.size(1), counts.options());
  std::vector<at::Tensor> columns;
  for (int64_t output = 0; output < options.outputs; ++output) {
    const at::Tensor target = targets.select(1, output).to(at::kDouble);
    const at::Tensor known = target.isfinite().nonzero().flatten(), of_known = counts.index_select(0, known);
    columns.push_back(std::get<0>(at::linalg_solve_ex(of_known.t().matmul(of_known) + ridge * identity,
                                                      of_known.t().matmul(target.index_select(0, known)))));
  }
  return at::stack(columns, 1);
}

void GraphModelImpl::standardize(const FeaturedGraphs& graphs, const at::Tensor& targets,
                                 const at::Tensor& graph_features) {
  at::NoGradGuard guard;
  const auto set = [](const at::Tensor& mean, const at::Tensor& deviation, const at::Tensor& values,
                      const at::Tensor& min_deviation = {}) {
    const ColumnStatistics found = column_statistics(values, min_deviation);
    mean.copy_(found.mean);
    deviation.copy_(found.deviation);
  };
  if (const at::Tensor values = node_numbers(graphs); values.defined()) {
    const at::Tensor of_encoding = at::zeros({values.size(1)}, at::TensorOptions(values.device()).dtype(at::kDouble));
    of_encoding.slice(0, options.node_values).fill_(known_rounding);
    set(node_mean, node_deviation, values, of_encoding);
  }
  // The mean of a column of arbitrary sign is taken to be 0.
  if (options.signed_encoding && standardized_encoding() > 0)
    node_mean.narrow(0, options.node_values, options.encoding).zero_();
  if (options.edge_values > 0) set(edge_mean, edge_deviation, graphs.edge_values);
  if (targets.defined() && options.atom_references) {
    const at::Tensor references = fit_references(graphs, targets);
    const at::Tensor counts = category_counts(graphs, options.node_vocabulary.front());
    // The ridge leaves a residual where the constants explain the targets.
    const at::Tensor magnitude = targets.to(at::kDouble).square().nanmean(0).sqrt();
    set(target_mean, target_deviation, targets.to(at::kDouble) - counts.matmul(references), magnitude * known_rounding);
    target_reference.copy_(references / target_deviation.to(at::kDouble));
  } else if (targets.defined()) {
    set(target_mean, target_deviation, targets);
  }
  if (const int64_t columns = options.graph_features - options.graph_counts; columns > 0 && graph_features.defined()) {
    set(graph_mean.narrow(0, 0, columns), graph_deviation.narrow(0, 0, columns), graph_features.narrow(1, 0, columns),
        at::scalar_tensor(known_rounding, at::kDouble));
  }
}

}  // namespace geosft
