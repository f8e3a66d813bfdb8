// SPDX-License-Identifier: Apache-2.0
// usage: module_outputs FOLDER [--given]
// Computes what the C++ modules compute, to compare the modules in Python with. Without --given it writes
// FOLDER/CASE.pt for every case: the module's parameters and buffers (state.NAME), the inputs (input.NAME), the output
// in evaluation mode, and the gradients of the sum of its squares (grad.NAME). With --given it takes the state and the
// inputs from FOLDER/CASE.given.pt, and writes FOLDER/CASE.answer.pt.
#include <torch/serialize.h>
#include <torch/utils.h>

#include <exception>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "models/graph_model.h"
#include "models/point_classifier.h"
#include "models/point_segmenter.h"

namespace geosft::test {
namespace {

using Tensors = std::map<std::string, at::Tensor>;

struct Case {
  std::string name;
  std::shared_ptr<torch::nn::Module> module;
  std::function<at::Tensor(const Tensors&, SamplingContext&)> forward;
};

constexpr int64_t width = 16, heads = 2, edge_channels = 3, position_channels = 4, categories = 3;
const std::vector<int64_t> node_vocabulary = {4, 3}, edge_vocabulary = {5};
constexpr int64_t node_values = 2, edge_values = 1, encoding_columns = 3;

Tensors inputs() {
  const at::Tensor ptr = at::tensor({0, 11, 12, 30}, at::kLong);
  const at::Tensor points = at::rand({30, 3}), normals = at::randn({30, 3});
  // Makes rings of nodes in both directions, within the items of ptr, of halves and of pairs of documents; the item of
  // one node has a loop.
  const std::vector<int64_t> rings = {0, 11, 12, 15, 22, 30};
  std::vector<int64_t> col;
  for (size_t ring = 0; ring + 1 < rings.size(); ++ring) {
    const int64_t begin = rings[ring], count = rings[ring + 1] - begin;
    for (int64_t place = 0; place < count; ++place) {
      col.push_back(begin + (place + 1) % count);
      col.push_back(begin + (place + count - 1) % count);
    }
  }
  return {{"x", at::randn({30, width})},
          {"ptr", ptr},
          {"halves", at::tensor({0, 15, 30}, at::kLong)},
          {"points", points},
          {"normals", normals / normals.norm(2, -1, true)},
          {"rowptr", at::arange(31, at::kLong) * 2},
          {"col", at::tensor(col, at::kLong)},
          {"edge_attr", at::randn({60, edge_channels})},
          {"positions", sinusoids(30, position_channels)},
          {"category", at::tensor({2, 0, 1}, at::kLong)},
          {"graph_features", at::randn({3, 3}) * 4},
          {"node_categories", at::stack({at::randint(4, {30}, at::kLong), at::randint(3, {30}, at::kLong)}, 1)},
          {"document", (at::arange(30, at::kLong) % 11 >= 5).to(at::kLong).unsqueeze(1)},
          {"node_values", at::randn({30, node_values})},
          {"node_encoding", at::rand({30, encoding_columns})},
          {"edge_categories", at::randint(5, {60, 1}, at::kLong)},
          {"edge_values", at::randn({60, edge_values})}};
}

FeaturedGraphs graphs_of(const Tensors& in, bool documents, bool graph_features) {
  FeaturedGraphs graphs;
  graphs.graphs = {{in.at("rowptr"), in.at("col"), {}, {}}, in.at("ptr")};
  graphs.node_categories = in.at("node_categories");
  // The rows of an item are those of its first document, then those of its second.
  if (documents) {
    graphs.graphs.ptr = at::tensor({0, 11, 22, 30}, at::kLong);
    graphs.node_categories = at::cat({graphs.node_categories, in.at("document")}, 1);
  }
  graphs.node_values = in.at("node_values");
  graphs.node_encoding = in.at("node_encoding");
  graphs.edge_categories = in.at("edge_categories");
  graphs.edge_values = in.at("edge_values");
  graphs.coordinates = in.at("points");
  if (graph_features) graphs.graph_features = in.at("graph_features");
  return graphs;
}

RelativeEncoding encoding(RelativeEncodingKind kind, const Tensors& in) {
  switch (kind) {
    case RelativeEncodingKind::points:
      return RelativeEncoding::points(in.at("points"), in.at("normals"));
    case RelativeEncodingKind::graph:
      return RelativeEncoding::graph(in.at("rowptr"), in.at("col"), in.at("edge_attr"));
    case RelativeEncodingKind::sequence:
      return RelativeEncoding::sequence(in.at("positions"));
    case RelativeEncodingKind::none:
      break;
  }
  return RelativeEncoding::none();
}

LayerOptions layer_options(RelativeEncodingKind kind) {
  LayerOptions options;
  options.attention.width = width;
  options.attention.heads = heads;
  options.attention.relative = kind;
  options.attention.relative_channels = kind == RelativeEncodingKind::points     ? 2
                                        : kind == RelativeEncodingKind::graph    ? edge_channels
                                        : kind == RelativeEncodingKind::sequence ? position_channels
                                                                                 : 0;
  options.attention.sampler.num_samples = 5;
  return options;
}

Case attention_of(const std::string& name, const AttentionOptions& options) {
  SamplingAttention module(options);
  return {name, module.ptr(), [=](const Tensors& in, SamplingContext& context) mutable {
            return module->forward(in.at("x"), encoding(options.relative, in), in.at("ptr"), context);
          }};
}

Case attention(const std::string& name, RelativeEncodingKind kind, const SamplerOptions& sampler) {
  AttentionOptions options = layer_options(kind).attention;
  options.sampler = sampler;
  return attention_of(name, options);
}

Case encoder(const std::string& name, NormPlacement norm) {
  LayerOptions options = layer_options(RelativeEncodingKind::points);
  options.norm = norm;
  Encoder module(options, 2);
  return {name, module.ptr(), [=](const Tensors& in, SamplingContext& context) mutable {
            return module->forward(in.at("x"), encoding(RelativeEncodingKind::points, in), in.at("ptr"), context);
          }};
}

Case polynomial(const std::string& name, const PolynomialOptions& options) {
  PolynomialSelfAttention module(width, heads, options);
  return {name, module.ptr(),
          [=](const Tensors& in, SamplingContext&) mutable { return module->forward(in.at("x"), in.at("ptr")); }};
}

Case primal(const std::string& name, const PrimalOptions& options,
            RelativeEncodingKind kind = RelativeEncodingKind::none, const char* ptr = "ptr") {
  PrimalSelfAttention module(width, heads, options);
  return {name, module.ptr(), [=](const Tensors& in, SamplingContext&) mutable {
            return module->forward(in.at("x"), in.at(ptr), encoding(kind, in));
          }};
}

std::vector<Case> primal_cases() {
  using Kind = RelativeEncodingKind;
  PrimalOptions window, strided, block, nearest, neighbours, line, grid, variance, averaged, maximum, convolved, means;
  window.mask = MaskKind::window;
  strided.mask = MaskKind::strided;
  block.mask = MaskKind::block;
  nearest.mask = MaskKind::nearest;
  neighbours.mask = MaskKind::neighbours;
  for (PrimalOptions* masked : {&window, &strided, &block, &nearest}) masked->mask_size = 3;
  window.pool = {1, 2};
  line.convolution = ConvolutionKind::sequence;
  line.linear = true;
  grid.convolution = ConvolutionKind::grid;
  grid.convolution_size = 2;
  grid.grid_height = 3;
  grid.grid_width = 5;
  variance.variance = true;
  for (PrimalOptions* pooled : {&averaged, &maximum, &convolved, &means}) pooled->pool = {2, 1};
  averaged.variance = true;
  maximum.pooling = PoolingKind::max;
  convolved.pooling = PoolingKind::convolution;
  means.pooling = PoolingKind::k_means;
  return {primal("primal_window", window),
          primal("primal_strided", strided),
          primal("primal_block", block),
          primal("primal_nearest", nearest, Kind::points),
          primal("primal_neighbours", neighbours, Kind::graph),
          primal("primal_line", line),
          primal("primal_grid", grid, Kind::none, "halves"),
          primal("primal_variance", variance),
          primal("primal_average", averaged),
          primal("primal_max", maximum),
          primal("primal_convolved", convolved),
          primal("primal_k_means", means)};
}

Case softmax_pool_head() {
  SoftmaxPoolHead module(width, 3);
  return {"softmax_pool_head", module.ptr(),
          [=](const Tensors& in, SamplingContext&) mutable { return module->forward(in.at("x"), in.at("ptr")); }};
}

Case classifier(const std::string& name, PointTokens tokens, NormPlacement norm,
                PointRelative relative = PointRelative::paper, bool chirality = false) {
  PointClassifierOptions options;
  options.classes = 4;
  options.tokens = tokens;
  options.relative = relative;
  options.chirality = chirality;
  options.layer = layer_options(RelativeEncodingKind::points);
  options.layer.norm = norm;
  options.layers = 2;
  options.head_sampler.num_samples = 7;
  PointClassifier module(options);
  return {name, module.ptr(), [=](const Tensors& in, SamplingContext& context) mutable {
            return module->forward(in.at("points"), in.at("normals"), in.at("ptr"), context);
          }};
}

Case segmenter() {
  PointSegmenterOptions options;
  options.parts = 5;
  options.categories = categories;
  options.tokens = PointTokens::local;
  options.layer = layer_options(RelativeEncodingKind::points);
  options.layers = 2;
  PointSegmenter module(options);
  return {"segmenter", module.ptr(), [=](const Tensors& in, SamplingContext& context) mutable {
            return module->forward(in.at("points"), in.at("normals"), in.at("ptr"), in.at("category"), context);
          }};
}

Case graph_model(const std::string& name, GraphModelOptions options, const std::string& ptr = "ptr") {
  options.node_vocabulary = node_vocabulary;
  options.node_values = node_values;
  options.edge_vocabulary = edge_vocabulary;
  options.edge_values = edge_values;
  options.encoding = encoding_columns;
  options.outputs = 4;
  options.position_channels = position_channels;
  options.layer.attention = layer_options(RelativeEncodingKind::none).attention;
  options.layers = 2;
  options.head_sampler.num_samples = 7;
  GraphModel module(options);
  const torch::NoGradGuard guard;
  for (const at::Tensor& mean : {module->node_mean, module->edge_mean}) mean.normal_();
  for (const at::Tensor& deviation : {module->node_deviation, module->edge_deviation}) deviation.uniform_(0.5, 2.0);
  if (options.atom_references) module->target_reference.normal_();
  for (const auto& buffer : module->named_buffers()) {  // as after a training with batch normalisation
    if (buffer.key().find("running_mean") != std::string::npos) buffer.value().normal_();
    if (buffer.key().find("running_var") != std::string::npos) buffer.value().uniform_(0.5, 2.0);
  }
  return {name, module.ptr(), [=](const Tensors& in, SamplingContext& context) mutable {
            FeaturedGraphs graphs = graphs_of(in, options.documents, options.graph_features > 0);
            if (ptr != "ptr") graphs.graphs.ptr = in.at(ptr);
            return module->forward(graphs, context, graphs.graph_features);
          }};
}

std::vector<Case> radial_cases() {
  GraphModelOptions radial, radial_gcn, radial_gates, sign_net;
  radial.layer.local.kind = LocalKind::gine;
  radial.edge_cutoff = 0.6;
  radial.radial_channels = 5;
  radial.atom_references = true;
  radial.head = GraphHead::sum;
  radial_gcn = radial;
  radial_gcn.layer.local.kind = LocalKind::gcn;
  radial_gates = radial;
  radial_gates.layer.local.kind = LocalKind::gated_gcn;
  sign_net.encoding_channels = 5;
  sign_net.encoding_layers = 2;
  sign_net.sign_invariant = true;
  return {graph_model("graph_radial", radial), graph_model("graph_radial_gcn", radial_gcn),
          graph_model("graph_radial_gates", radial_gates), graph_model("graph_sign_net", sign_net)};
}

// Models with a class token, and with learned positions.
std::vector<Case> token_cases() {
  GraphModelOptions token, learned, placed;
  token.relative = false;
  token.head = GraphHead::class_token;
  learned.positions = NodePositions::learned;
  learned.places = 15;
  learned.relative = false;  // the edges are those of other items
  placed = learned;
  placed.head = GraphHead::class_token;
  placed.head_layers = 2;
  placed.layer.kind = AttentionKind::primal;
  placed.layer.primal.convolution = ConvolutionKind::grid;
  placed.layer.primal.convolution_size = 2;
  placed.layer.primal.grid_height = 3;
  placed.layer.primal.grid_width = 5;
  return {graph_model("graph_class_token", token), graph_model("graph_learned", learned, "halves"),
          graph_model("graph_places", placed, "halves")};
}

std::vector<Case> graph_cases() {
  GraphModelOptions pooled, sampled, summed, nodes, pairs, added, relative, molecules, angles, alone;
  sampled.head = GraphHead::sample_max;
  summed.head = GraphHead::sum;
  nodes.head = GraphHead::nodes;
  pairs.head = GraphHead::pairs;
  pairs.documents = true;
  pairs.relative = false;
  added.positions = NodePositions::added;
  relative.positions = NodePositions::relative;
  molecules.distance_channels = 4;
  molecules.distance_range = 1.5;
  angles = molecules;
  angles.angles = true;
  alone.relative = false;
  GraphModelOptions gcn, gine, gated, convolved;
  gcn.layer.local.kind = LocalKind::gcn;
  gcn.layer.normalization = NormKind::batch;
  gcn.encoder.virtual_node = true;
  gcn.max_degree = 1;
  gcn.head = GraphHead::mean;
  gine.layer.local.kind = LocalKind::gine;
  gine.layer.kind = AttentionKind::none;
  gine.relative = false;
  gine.layer.norm = NormPlacement::pre;
  gine.layer.expansion = 0;
  gine.encoder.jumping = JumpingKnowledge::concatenate;
  gine.head = GraphHead::max;
  gine.head_layers = 3;
  gated.layer.local.kind = LocalKind::gated_gcn;
  gated.layer.normalization = NormKind::batch;
  gated.encoding_channels = 5;
  gated.encoding_layers = 2;
  gated.encoder.jumping = JumpingKnowledge::max;
  gated.graph_features = 3;
  gated.graph_counts = 1;
  convolved.layer.local.kind = LocalKind::gated_gcn;
  convolved.layer.norm = NormPlacement::pre;
  convolved.layer.normalization = NormKind::none;
  convolved.layer.residual = false;
  convolved.encoder = {JumpingKnowledge::sum, true};
  convolved.head = GraphHead::nodes;
  convolved.head_layers = 2;
  return {graph_model("graph_gcn", gcn),
          graph_model("graph_gine", gine),
          graph_model("graph_gated", gated),
          graph_model("graph_convolved", convolved),
          graph_model("graph_softmax_pool", pooled),
          graph_model("graph_sample_max", sampled),
          graph_model("graph_sum", summed),
          graph_model("graph_nodes", nodes),
          graph_model("graph_pairs", pairs),
          graph_model("graph_added", added),
          graph_model("graph_relative", relative),
          graph_model("graph_molecules", molecules),
          graph_model("graph_angles", angles),
          graph_model("graph_alone", alone)};
}

Case composed(const std::string& name, RelativeEncodingKind kind, ScoreKind score, ProbabilityKind probability,
              int64_t channels = 0) {
  AttentionOptions options = layer_options(kind).attention;
  if (channels > 0) options.relative_channels = channels;
  options.score = score;
  options.probability = probability;
  return attention_of(name, options);
}

std::vector<Case> cases() {
  using Kind = RelativeEncodingKind;
  SamplerOptions plain, hard, gumbel, replaced;
  plain.num_samples = hard.num_samples = gumbel.num_samples = replaced.num_samples = 5;
  hard.hard = true;
  gumbel.weighting = PairWeighting::gumbel_softmax;
  gumbel.tau = 0.5;
  replaced.with_replacement = true;
  PrimalOptions recentred, linear;
  recentred.beta = 0.5;
  recentred.learn_beta = true;
  linear.linear = true;
  std::vector<Case> all = graph_cases();
  const std::vector<Case> others = {
      attention("attention", Kind::none, plain),
      attention("attention_points", Kind::points, plain),
      attention("attention_graph", Kind::graph, plain),
      attention("attention_sequence", Kind::sequence, plain),
      attention("attention_hard", Kind::points, hard),
      attention("attention_gumbel_softmax", Kind::points, gumbel),
      attention("attention_with_replacement", Kind::points, replaced),
      polynomial("polynomial", {}),
      polynomial("polynomial_causal", {.causal = true}),
      polynomial("polynomial_scale", {.score_scale = ScoreScale::inverse}),
      polynomial("polynomial_tolerance", {.tolerance = 0.5, .max_monomials = 20000, .or_exact = true}),
      polynomial("polynomial_exact", {.tolerance = 1e-9, .max_monomials = 1, .or_exact = true}),
      polynomial("polynomial_exact_causal", {.tolerance = 1e-9, .max_monomials = 1, .or_exact = true, .causal = true}),
      primal("primal_bn", recentred),
      primal("primal_linear", linear),
      softmax_pool_head(),
      encoder("encoder_post", NormPlacement::post),
      encoder("encoder_pre", NormPlacement::pre),
      classifier("classifier", PointTokens::local, NormPlacement::post),
      classifier("classifier_shape_context", PointTokens::shape_context, NormPlacement::pre),
      classifier("classifier_ppf", PointTokens::ppf, NormPlacement::pre),
      classifier("classifier_absolute", PointTokens::absolute_local, NormPlacement::pre),
      classifier("classifier_angles", PointTokens::local, NormPlacement::pre, PointRelative::angles),
      classifier("classifier_chirality", PointTokens::radial, NormPlacement::post, PointRelative::angles, true),
      composed("composed_points", Kind::points, ScoreKind::dot, ProbabilityKind::leaky_relu),
      composed("composed_chirality", Kind::points, ScoreKind::maxout, ProbabilityKind::softmax, 5),
      composed("composed_graph", Kind::graph, ScoreKind::maxout, ProbabilityKind::softmax),
      composed("composed_sequence", Kind::sequence, ScoreKind::dot, ProbabilityKind::softmax),
      segmenter()};
  const std::vector<Case> of_family = primal_cases();
  all.insert(all.end(), of_family.begin(), of_family.end());
  all.insert(all.end(), others.begin(), others.end());
  const std::vector<Case> of_coordinates = radial_cases();
  all.insert(all.end(), of_coordinates.begin(), of_coordinates.end());
  const std::vector<Case> of_tokens = token_cases();
  all.insert(all.end(), of_tokens.begin(), of_tokens.end());
  return all;
}

Tensors state_of(const torch::nn::Module& module) {
  Tensors state;
  for (const auto& one : module.named_parameters()) state[one.key()] = one.value();
  for (const auto& one : module.named_buffers()) state[one.key()] = one.value();
  return state;
}

void write(const std::string& path, const Tensors& tensors) {
  c10::Dict<std::string, at::Tensor> dict;
  for (const auto& [name, tensor] : tensors) dict.insert(name, tensor.detach().contiguous());
  const std::vector<char> bytes = torch::pickle_save(dict);
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

Tensors read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  TORCH_CHECK(file.is_open(), path, " cannot be read");
  const std::vector<char> bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  Tensors tensors;
  for (const auto& entry : torch::pickle_load(bytes).toGenericDict()) {
    tensors[entry.key().toStringRef()] = entry.value().toTensor();
  }
  return tensors;
}

void load(const torch::nn::Module& module, const Tensors& given) {
  torch::NoGradGuard guard;
  for (auto& [name, tensor] : state_of(module)) tensor.copy_(given.at("state." + name));
}

void run(const Case& one, const std::string& folder, bool given) {
  Tensors in = inputs();
  if (given) {
    const Tensors file = read(folder + "/" + one.name + ".given.pt");
    load(*one.module, file);
    for (auto& [name, tensor] : in) tensor = file.at("input." + name);
  }
  one.module->eval();
  SamplingContext context = SamplingContext::seeded();
  const at::Tensor out = one.forward(in, context);
  out.square().sum().backward();
  Tensors result{{"output", out}};
  for (const auto& [name, tensor] : in) result["input." + name] = tensor;
  for (const auto& [name, tensor] : state_of(*one.module)) {
    result["state." + name] = tensor;
    if (!tensor.requires_grad()) continue;
    // A parameter that the model has no use for, such as an attention bias where no pair has an edge, has no gradient.
    result["grad." + name] = tensor.grad().defined() ? tensor.grad() : at::zeros_like(tensor);
  }
  write(folder + "/" + one.name + (given ? ".answer.pt" : ".pt"), result);
}

}  // namespace
}  // namespace geosft::test

int main(int count, char** arguments) {
  if (count < 2 || count > 3) return 2;
  try {
    at::set_num_threads(1);
    torch::manual_seed(1);
    for (const auto& one : geosft::test::cases()) geosft::test::run(one, arguments[1], count == 3);
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
  return 0;
}
