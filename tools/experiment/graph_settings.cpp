// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/graph_settings.h"

#include "data/data_error.h"
#include "data/formats/csv_rows.h"
#include "data/graphs/graph_dataset.h"
#include "data/graphs/graph_formats.h"
#include "data/graphs/molecule_table.h"
#include "data/sequences/picture_folders.h"
#include "data/sequences/sequence_dataset.h"
#include "tools/experiment/arguments.h"

namespace geosft {
namespace {

void add_splits(Config& config, SplitSettings& splits) {
  config
      .add_enum("splits", "split", &splits.split,
                "file: the published one; scaffold: of molecules, 80/10/10 by their ring systems; random: 80/10/10; "
                "auto: the published one, else scaffold for molecules, else folds")
      .add("splits", "split_folder", &splits.split_folder,
           "of a table of molecules or XYZ files: folder with train.csv, valid.csv and test.csv, lists of its rows, "
           "or "
           "molecules, from 0")
      .add("splits", "folds", &splits.folds, "number of folds of a set without a published split", {.low = 2})
      .add("splits", "fold", &splits.fold, "the fold that is the test set, from 0", not_negative)
      .add("splits", "split_seed", &splits.split_seed, "of folds and random splits")
      .add("splits", "validation_fraction", &splits.validation_fraction,
           "share of the training set held out to choose the best checkpoint, where none is published; 0: the last one "
           "is the best",
           probability_range)
      .add("splits", "refit", &splits.refit,
           "let the validation split choose the number of epochs alone, and train anew on the whole training set")
      .add("splits", "monitor_test", &splits.monitor_test,
           "without a validation split: show the test set in the learning curves (it never chooses a checkpoint)")
      .add("splits", "split_name", &splits.split_name, "which of several published splits of an OGB set");
}

void add_molecules(Config& config, MoleculeSettings& molecules) {
  config
      .add("molecules", "smiles_column", &molecules.smiles_column,
           "of a CSV table; by default \"smiles\", else the first column of SMILES")
      .add("molecules", "label_columns", &molecules.label_columns,
           "of a CSV table, or keys of the comments of XYZ files, separated by commas; by default every other one of "
           "numbers; of QM9, targets; by default all")
      .add_enum("molecules", "chiral_tags", &molecules.chiral_tags,
                "order of the neighbours by which a chiral atom of a CSV table is clockwise or not; canonical: RDKit's "
                "ranks; written: the SMILES, as OGB")
      .add("molecules", "fingerprint", &molecules.fingerprint,
           "count fingerprints, separated by commas: none, " + listed(fingerprint_names()) +
               "; wl0 to wl3 are of any graphs, the others of molecules")
      .add("molecules", "fingerprint_bits", &molecules.fingerprint_bits, "columns of each fingerprint",
           {.low = 1, .high = 1 << 20})
      .add("molecules", "descriptors", &molecules.descriptors, "RDKit's 2-D descriptors of whole molecules")
      .add("molecules", "statistics", &molecules.statistics,
           "of any graphs: numbers of nodes and stored edges, and means and deviations of the features of nodes and of "
           "their "
           "neighbours")
      .add("molecules", "head_features", &molecules.head_features,
           "let the head see fingerprints, descriptors and statistics; false: only the kernel ridge regression does")
      .add("molecules", "head_fingerprints", &molecules.head_fingerprints,
           "let the head see fingerprints; false: only the kernel ridge regression and the random forest do")
      .add("molecules", "kernel_ridge", &molecules.kernel_ridge,
           "average the predictions with those of a kernel ridge regression on fingerprints, descriptors and "
           "statistics")
      .add("molecules", "random_forest", &molecules.random_forest,
           "average the regression of labels with a random forest on the fingerprints; other targets have none");
}

void add_pictures(Config& config, ViewOptions& view) {
  config
      .add("pictures", "image_size", &view.side, "side in pixels that pictures of a folder per class are cropped to",
           {.low = 1, .high = 4096})
      .add_enum("pictures", "interpolation", &view.interpolation, "how they are resized, antialiased")
      .add("pictures", "crop_fraction", &view.crop_fraction,
           "evaluation: image_size over the shorter side of a picture before its centre is cropped",
           {.low = 0.01, .high = 1})
      .add("pictures", "min_crop_area", &view.min_crop_area,
           "training: smallest share of a picture's area that a random crop has", {.low = 0.0001, .high = 1})
      .add("pictures", "flip", &view.flip, "training: mirror every other picture");
}

void add_graph_model(Config& config, GraphModelSettings& model) {
  config.add_enum("model", "encoding", &model.encoding, "encoding of nodes: none, random walks, Laplacian eigenvectors")
      .add("model", "encoding_columns", &model.encoding_columns, "steps of the walks, or eigenvectors", positive)
      .add("model", "encoding_walks", &model.encoding_walks,
           "random walks: estimate from so many a node, where exact ones take too long; 0: exact", not_negative)
      .add("model", "encoding_seed", &model.encoding_seed, "of the estimate")
      .add("model", "encoding_channels", &model.encoding_channels,
           "channels of the tokens that a network with batch normalisation makes of the encoding; 0: the encoding is "
           "added to the tokens by a linear map",
           not_negative)
      .add("model", "encoding_layers", &model.encoding_layers, "of this network", positive)
      .add_enum("model", "encoding_signs", &model.encoding_signs,
                "signs of Laplacian eigenvectors: sampled anew in each step of training, or such that the network of "
                "encoding_channels does not depend on them (SignNet)")
      .add("model", "max_degree", &model.max_degree,
           "add an embedding of the degree of a node, at most this one, to its token; 0: none", not_negative)
      .add_enum("model", "positions", &model.positions,
                "places of nodes in their order: added to the tokens, seen by sampling attention, or, of images, a "
                "learned vector per place")
      .add("model", "position_channels", &model.position_channels,
           "of the sinusoids that it sees; 0: as many as the tokens have, as in the paper", not_negative)
      .add("model", "relative", &model.relative, "let attention see the edges")
      .add("model", "distance_channels", &model.distance_channels,
           "let it see the distance of nodes with coordinates, in so many channels; 0: it does not", not_negative)
      .add("model", "distance_range", &model.distance_range, "that these cover, in the unit of the data", above_zero)
      .add("model", "angles", &model.angles,
           "let it also see the angles of the edges of two such nodes to the line between them and to each other");
  config
      .add("model", "edge_cutoff", &model.edge_cutoff,
           "let local pass messages between all nodes at most this far apart, in the unit of the data; 0: along edges",
           not_negative)
      .add("model", "radial_channels", &model.radial_channels, "of the distance of such nodes", positive)
      .add("model", "atom_references", &model.atom_references,
           "of regression: subtract the linear fit of the targets on the counts of the first category of nodes");
  model.add_keys(config, /*or_none=*/true);
  config
      .add("model", "beta_by_set", &model.beta_by_set,
           "with beta auto: what it is for a set of series of this name, for the bn and the bn_sh attentions")
      .add_enum("model", "local", &model.local,
                "graph convolution along the edges, beside attention or, with attention none, instead of it")
      .add_enum("model", "normalization", &model.normalization,
                "of the layers: each node by itself, each channel over all nodes of the batch, or none")
      .add("model", "residual", &model.residual,
           "add attention and convolution to the tokens instead of replacing them")
      .add_enum("model", "jumping_knowledge", &model.jumping_knowledge,
                "how the tokens of all layers are combined; none: those of the last layer")
      .add("model", "virtual_node", &model.virtual_node, "one more node per graph, connected with all others")
      .add_enum(
          "model", "head", &model.head,
          "pooling of the nodes of a graph: weighted mean, maximum over a sample, sum, mean or maximum; or a learned "
          "token before them, for sequences and images")
      .add("model", "head_layers", &model.head_layers,
           "linear maps of the network after pooling, of nodes instead of it", positive)
      .add("model", "head_num_samples", &model.head_num_samples, "nodes that sample_max samples", positive)
      .add("model", "head_dropout", &model.head_dropout, "dropout of pooled nodes, before each linear map",
           probability_range)
      .add(
          "model", "drop_path", &model.drop_path,
          "probability that training leaves out a residual branch of an item: of the last layer; those of earlier ones "
          "rise linearly from 0",
          probability_range);
}

void check_walks(const GraphModelSettings& model) {
  if (model.encoding_walks == 0) return;
  if (model.encoding != NodeEncoding::random_walk) {
    throw UsageError(std::string("encoding_walks estimates random walks: encoding must be rwpe, found ") +
                     name_of(model.encoding));
  }
  if (model.encoding_walks == 1) throw UsageError("encoding_walks must be 0 or at least 2, found 1");
}

// Other attentions would ignore the positions, and so the order.
void check_positions(const GraphModelSettings& model) {
  if (model.positions == NodePositions::relative && model.kind() != AttentionKind::sampling) {
    throw UsageError("positions relative are seen by attention sampling alone, found attention " + model.attention +
                     ": take positions added");
  }
}

// Throws UsageError for layers without attention and convolution, and for an encoding that is as wide as the tokens, or
// whose network is missing.
void check_layers(const GraphModelSettings& model) {
  if (model.kind() == AttentionKind::none && model.local == LocalKind::none) {
    throw UsageError("attention none needs a graph convolution: local must be gcn, gine or gatedgcn, found none");
  }
  if (model.encoding_signs == EncodingSigns::invariant && model.encoding_channels == 0) {
    throw UsageError("encoding_signs invariant needs a network: encoding_channels must be at least 1, found 0");
  }
  const bool known = !is_automatic(model.dim);  // otherwise checked once it is
  if (known && model.encoding != NodeEncoding::none && model.encoding_channels >= model.dim) {
    throw UsageError("encoding_channels must be below dim: " + std::to_string(model.encoding_channels) + " and " +
                     std::to_string(model.dim));
  }
}

// Masks are derived from the inputs of relative encodings.
void check_mask(const GraphModelSettings& model) {
  if (model.kind() == AttentionKind::sampling || !model.sees_relative()) return;
  if (!model.relative) throw UsageError(std::string("mask ") + name_of(model.primal.mask) + " needs relative = true");
  if (model.primal.mask == MaskKind::nearest && model.distance_channels == 0) {
    throw UsageError("mask nearest needs nodes with coordinates: distance_channels must be at least 1");
  }
}

// Rejects options that need per-batch lookups or random numbers from the CPU.
void check_replayable(const GraphModelSettings& model) {
  if (model.encoding == NodeEncoding::laplacian) throw UsageError("replay_steps needs another encoding than lappe");
  if (model.cutoff() > 0) throw UsageError("replay_steps needs edge_cutoff 0");
  if (model.head == GraphHead::class_token) throw UsageError("replay_steps needs another head than class_token");
  const bool sees_edges =
      model.kind() == AttentionKind::sampling && model.relative && model.positions != NodePositions::relative;
  if (!sees_edges) return;
  if (model.distance_channels > 0) throw UsageError("replay_steps needs distance_channels 0");
  if (model.score != ScoreKind::maxout || model.probability != ProbabilityKind::leaky_relu) {
    throw UsageError("replay_steps needs relative = false, or score maxout and probability leaky_relu");
  }
}

}  // namespace

GraphModelSettings::GraphModelSettings() {
  dim = 144;
  depth = 4;
  sampling.num_samples = 75;
  token_dropout = 0.0;
}

NodeEncodingOptions GraphModelSettings::node_encoding() const {
  return {encoding, encoding_columns, encoding_walks, encoding_seed};
}

LayerOptions GraphModelSettings::layer() const {
  LayerOptions options = EncoderSettings::layer();
  options.local.kind = local;
  options.normalization = normalization;
  options.residual = residual;
  options.drop_path = drop_path;
  return options;
}

double GraphModelSettings::cutoff() const {
  return local == LocalKind::none ? 0.0 : edge_cutoff;
}

bool GraphModelSettings::samples() const {
  return kind() == AttentionKind::sampling || head == GraphHead::sample_max;
}

std::vector<KeyUse> GraphModelSettings::key_uses() const {
  const bool samples = kind() == AttentionKind::sampling, head_samples = head == GraphHead::sample_max;
  const bool near = sparse() && primal.mask == MaskKind::nearest;
  const bool ordered = positions == NodePositions::relative;
  const std::string found = "attention " + attention, found_head = std::string("head ") + name_of(head);
  const bool deep = head_layers > 1 || head == GraphHead::mean || head == GraphHead::max;
  const std::vector<KeyUse> own = {
      {{"head_num_samples"}, head_samples, "head sample_max", found_head},
      {{"head_dropout"}, head_samples || deep, "head sample_max, mean, max or head_layers above 1", found_head},
      {{"encoding_channels"}, encoding != NodeEncoding::none, "an encoding", "encoding none"},
      {{"encoding_layers"}, encoding_channels > 0, "encoding_channels above 0", "encoding_channels 0"},
      {{"encoding_signs"},
       encoding == NodeEncoding::laplacian,
       "encoding lappe",
       std::string("encoding ") + name_of(encoding)},
      {{"edge_cutoff"}, local != LocalKind::none, "a graph convolution", "local none"},
      {{"radial_channels"}, cutoff() > 0, "an edge_cutoff", "edge_cutoff 0"},
      {{"position_channels"}, ordered, "positions relative", std::string("positions ") + name_of(positions)},
      {{"distance_channels"}, samples || near, "attention sampling and mask nearest", found},
      {{"distance_channels"}, !ordered, "attention that sees edges", "positions relative"},
      {{"distance_channels"}, relative, "attention that sees edges", "relative = false"},
      {{"distance_range"}, samples, "attention sampling", found},
      {{"distance_range"}, distance_channels > 0, "distances", "distance_channels 0"},
      {{"angles"}, samples, "attention sampling", found},
      {{"angles"}, distance_channels > 0, "distances", "distance_channels 0"},
  };
  std::vector<KeyUse> uses = EncoderSettings::key_uses(head_samples);
  uses.insert(uses.end(), own.begin(), own.end());
  return uses;
}

GraphVectorOptions MoleculeSettings::vector() const {
  try {
    GraphVectorOptions options{descriptors, statistics, fingerprints_of(fingerprint), fingerprint_bits};
    if (kernel_ridge) return options;
    if (!head_fingerprints) options.fingerprints.clear();
    return head_features ? options : GraphVectorOptions();
  } catch (const std::invalid_argument& error) {
    throw UsageError(error.what());
  }
}

std::vector<std::string> MoleculeSettings::labels() const {
  std::vector<std::string> names;
  CsvRows row(label_columns, "label_columns");
  try {
    if (!row.next()) return names;
  } catch (const DataError& error) {
    throw UsageError(error.what());
  }
  for (size_t i = 0; i < row.size(); ++i) names.emplace_back(row[i]);
  return names;
}

GraphTrainSettings::GraphTrainSettings() {
  optimization.learning_rate = 8e-4;
  optimization.weight_decay = 0.17;
  optimization.max_gradient_norm = 16.0;
}

Config GraphSettings::config() {
  Config keys;
  keys.add("", "data", &data, "dataset: a folder, a CSV table of molecules, or an XYZ file of them")
      .add("", "seed", &seed, "of everything random")
      .add("", "num_seeds", &num_seeds, "runs, each with the next seed", positive)
      .add("", "cross_validation", &cross_validation, "a run for every fold")
      .add("", "ensemble", &ensemble, "models of a run, with seeds of their own, whose outputs are averaged", positive)
      .add("", "directed", &directed, "leave the edges of OGB and TU sets as they are listed")
      .add("", "coalesce", &coalesce, "leave out self-loops and repeated edges of TU sets, as PyG does")
      .add("", "max_length", &max_length, "sequences: tokens that are used, from the beginning; 0: all", not_negative)
      .add("", "patch_size", &patch_size,
           "images: side of the squares of pixels that become a token each; series: their steps that do", positive);
  add_splits(keys, splits);
  add_molecules(keys, molecules);
  add_pictures(keys, pictures);
  add_graph_model(keys, model);
  train.add_keys(keys, "graphs");
  keys.add("train", "drop_token_rate", &train.drop_token_rate, "share of the nodes that training leaves out",
           probability_range)
      .add("train", "batch_nodes", &train.batch_nodes,
           "nodes of a step at most, instead of batch_size graphs: batches of equal work; 0: batch_size", not_negative)
      .add("train", "max_steps", &train.max_steps, "steps of a run, which limit its epochs; 0: no limit", not_negative)
      .add_enum("train", "regression_loss", &train.regression_loss,
                "of standardised targets: absolute or squared error, or squared up to 1 and absolute from there")
      .add("train", "metric", &train.metric,
           "what validation goes by: the first of these, separated by commas, that the task has, of " +
               listed(all_metric_names(), " and ") + "; auto: the task's first");
  evaluation.add_keys(keys, "graphs");
  keys.allow_automatic({"patch_size", "validation_fraction", "beta", "token_dropout", "feed_forward_dropout", "epochs",
                        "batch_size", "dim", "num_heads", "depth", "num_samples", "ema_decay"});
  return keys;
}

void GraphSettings::check() const {
  model.check();
  check_layers(model);
  check_positions(model);
  check_mask(model);
  check_walks(model);
  molecules.vector();
  molecules.labels();
  check_metric(train.metric);
  if (train.replay_steps) check_replayable(model);
  if (model.positions == NodePositions::learned && train.drop_token_rate > 0) {
    throw UsageError("drop_token_rate must be 0 with positions learned, which need every place");
  }
  if (model.head == GraphHead::class_token && model.relative && model.sees_relative()) {
    throw UsageError("head class_token needs attention that sees no edges: relative = false");
  }
  if (model.drop_path > 0 && (model.local != LocalKind::none || !model.residual)) {
    throw UsageError("drop_path needs layers with residual connections and without a graph convolution");
  }
  if (model.head == GraphHead::class_token && model.local != LocalKind::none) {
    throw UsageError("head class_token needs layers without a graph convolution: local none");
  }
  if (model.on_grid() && train.drop_token_rate > 0) {
    throw UsageError("drop_token_rate must be 0 with attention " + model.attention +
                     ", which needs every place of a grid");
  }
  if (splits.fold >= splits.folds) {
    throw UsageError("fold must be below folds: " + std::to_string(splits.fold) + " and " +
                     std::to_string(splits.folds));
  }
}

std::vector<KeyUse> GraphSettings::key_uses() const {
  std::vector<KeyUse> uses = train.with_key_uses(model.key_uses());
  // Missing data are reported when they are opened.
  const bool of_sequences = std::filesystem::exists(data) && is_sequence_dataset(data);
  const bool of_graphs = max_length > 0 && std::filesystem::exists(data) && !of_sequences;
  // Allows --no-kernel-ridge where there is nothing that it leaves out.
  const auto needs_features = [&](const char* key, bool met) {
    uses.push_back({{key},
                    met || molecules.names_features(),
                    "fingerprints, descriptors or statistics",
                    "a run without them (--fingerprint wl0,wl1,wl2,wl3 adds some, and ecfp4 of molecules)"});
  };
  needs_features("kernel_ridge", !molecules.kernel_ridge);
  needs_features("head_features", false);
  uses.push_back({{"head_fingerprints"},
                  molecules.head_fingerprints || (molecules.head_features && molecules.fingerprint != "none"),
                  "head_features = true and fingerprints",
                  molecules.head_features ? "fingerprint none" : "head_features = false"});
  uses.push_back({{"random_forest"},
                  !molecules.random_forest || (molecules.kernel_ridge && molecules.fingerprint != "none"),
                  "kernel_ridge = true and fingerprints",
                  "a run without them"});
  uses.push_back({{"fingerprint", "fingerprint_bits", "descriptors", "statistics"},
                  molecules.head_features || molecules.kernel_ridge,
                  "head_features = true or kernel_ridge = true",
                  "a run where both are false"});
  uses.push_back({{"fingerprint", "fingerprint_bits"},
                  molecules.head_fingerprints || molecules.kernel_ridge || molecules.fingerprint == "none",
                  "head_fingerprints = true or kernel_ridge = true",
                  "a run where both are false"});
  uses.push_back({{"fingerprint_bits"}, molecules.fingerprint != "none", "fingerprints", "fingerprint none"});
  const bool no_pictures = std::filesystem::exists(data) && !is_picture_folders(data);
  uses.push_back({{"image_size", "interpolation", "crop_fraction", "min_crop_area", "flip"},
                  !no_pictures,
                  "folders of pictures",
                  "other data in " + data});
  uses.push_back({{"fold"},
                  !cross_validation,
                  "a run of one fold",
                  "cross_validation = true, which runs every fold (--no-cross-validation runs one)"});
  const bool absent = !std::filesystem::exists(data), of_table = absent || is_molecule_table(data, reading());
  uses.push_back({{"smiles_column", "chiral_tags"}, of_table, "a table of molecules", data});
  uses.push_back({{"split_folder"},
                  of_table || is_xyz_file(data) || is_xyz_folder(data),
                  "a table of molecules or XYZ files",
                  data});
  uses.push_back({{"label_columns"},
                  absent || has_label_columns(data, reading()),
                  "a table of molecules, XYZ files or QM9",
                  data});
  const bool of_ogb = absent || is_ogb_dataset(data);
  uses.push_back({{"split_name"}, of_ogb, "a set of the Open Graph Benchmark", data});
  const bool own_split = splits.split == SplitKind::automatic || splits.split == SplitKind::file;  // of sequences
  const std::string split = std::string("split ") + name_of(splits.split);
  uses.push_back({{"split_folder"}, own_split, "split file", split});
  const std::string of_split = own_split ? "the published split of " + data : split;
  uses.push_back({{"folds"}, !of_sequences || splits.split == SplitKind::folds, "split folds", of_split});
  uses.push_back({{"split_seed"},
                  !of_sequences || !own_split || splits.validation_fraction != 0,
                  "folds, random splits and validation_fraction",
                  of_split});
  uses.push_back({{"max_length"}, !of_graphs, "sequences", "the graphs in " + data});
  uses.push_back({{"directed", "coalesce"}, !of_sequences, "graphs", "the sequences in " + data});
  return uses;
}

void GraphSettings::locate_data() {
  if (data.empty()) throw UsageError("--data DIR is required: the dataset");
  data = std::filesystem::absolute(data).lexically_normal().string();
  // Other sets of molecules are published with OGB's categories.
  if (std::filesystem::exists(data) && !is_molecule_table(data, reading())) molecules.chiral_tags = ChiralTags::written;
  if (splits.split_folder.empty()) return;
  splits.split_folder = std::filesystem::absolute(splits.split_folder).lexically_normal().string();
}

void GraphSettings::take_resumable(const GraphSettings& other) {
  data = other.data;
  evaluation = other.evaluation;
  train.take_resumable(other.train);
}

GraphReadOptions GraphSettings::reading() const {
  GraphReadOptions options;
  options.split = splits.split_name;
  options.directed = directed;
  options.coalesce = coalesce;
  options.smiles_column = molecules.smiles_column;
  options.chiral_tags = molecules.chiral_tags;
  options.label_columns = molecules.labels();
  options.split_folder = splits.split_folder;
  return options;
}

GraphModelOptions GraphSettings::graph_model(const ItemSchema& schema) const {
  GraphModelOptions options;
  options.node_vocabulary = schema.node_vocabulary;
  options.node_values = schema.node_values;
  options.edge_vocabulary = schema.edge_vocabulary;
  options.edge_values = schema.edge_values;
  options.graph_features = molecules.head_features ? schema.graph_features : 0;
  if (options.graph_features > 0) {
    options.graph_counts = molecules.vector().count_columns() - molecules.hidden_columns();
  }
  options.encoding = model.encoding == NodeEncoding::none ? 0 : model.encoding_columns;
  options.sign_invariant =
      model.encoding == NodeEncoding::laplacian && model.encoding_signs == EncodingSigns::invariant;
  options.signed_encoding = model.encoding == NodeEncoding::laplacian && !options.sign_invariant;
  options.encoding_channels = options.encoding > 0 ? model.encoding_channels : 0;
  options.encoding_layers = model.encoding_layers;
  options.max_degree = model.max_degree;
  if (model.cutoff() > 0 && !schema.coordinates) {
    throw UsageError("edge_cutoff needs nodes with coordinates, which these data have not");
  }
  if (model.atom_references && (schema.task != GraphTask::regression || schema.node_vocabulary.empty())) {
    throw UsageError("atom_references needs regression of graphs, and nodes with categories");
  }
  options.edge_cutoff = model.cutoff();
  options.radial_channels = model.radial_channels;
  options.atom_references = model.atom_references;
  options.positions = model.positions;
  if (model.positions == NodePositions::learned && schema.grid_height == 0) {
    throw UsageError("positions learned needs items of the same number of tokens, which only images are");
  }
  options.places = schema.grid_height * schema.grid_width;
  options.position_channels = model.position_channels;
  options.relative = model.relative && model.sees_relative();
  options.distance_channels = options.relative ? model.distance_channels : 0;
  options.distance_range = model.distance_range;
  options.angles = model.angles && options.distance_channels > 0 && model.kind() == AttentionKind::sampling &&
                   model.positions != NodePositions::relative;
  options.outputs = schema.outputs();
  options.layer = model.layer();
  options.layers = model.depth;
  options.encoder = {model.jumping_knowledge, model.virtual_node};
  options.head_sampler = model.sampler(model.head_num_samples);
  options.head_dropout = model.head_dropout;
  options.head_layers = model.head_layers;
  options.head = model.head;
  if (is_of_nodes(schema.task)) options.head = GraphHead::nodes;
  if (schema.documents) {
    if (train.replay_steps) throw UsageError("replay_steps needs items that are no pairs of documents");
    if (model.head_layers > 1) throw UsageError("head_layers must be 1 for pairs of documents");
    options.documents = true;
    options.head = GraphHead::pairs;
    options.node_vocabulary.pop_back();
  }
  if (model.on_grid() && schema.grid_height == 0) {
    throw UsageError("attention " + model.attention + " needs tokens on a grid, which only images have");
  }
  options.layer.primal.grid_height = schema.grid_height;
  options.layer.primal.grid_width = schema.grid_width;
  return options;
}

}  // namespace geosft
