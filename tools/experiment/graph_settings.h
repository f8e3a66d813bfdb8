// SPDX-License-Identifier: Apache-2.0
// The configuration of a graph experiment: one TOML file, one command-line option per key.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "data/graphs/graph_cache.h"
#include "data/graphs/graph_vectors.h"
#include "data/packed_items.h"
#include "data/sequences/picture_transforms.h"
#include "graph/node_encoding.h"
#include "models/graph_model.h"
#include "tools/experiment/experiment_settings.h"
#include "tools/experiment/graph_metrics.h"

namespace geosft {

template <>
inline constexpr auto enum_table<LocalKind> = std::to_array<EnumName<LocalKind>>({{"none", LocalKind::none},
                                                                                  {"gcn", LocalKind::gcn},
                                                                                  {"gine", LocalKind::gine},
                                                                                  {"gatedgcn", LocalKind::gated_gcn}});
GEOSFT_ENUM_NAMES(NormKind, layer, batch, none);
GEOSFT_ENUM_NAMES(JumpingKnowledge, none, concatenate, max, sum);

template <>
inline constexpr auto enum_table<NodeEncoding> = std::to_array<EnumName<NodeEncoding>>(
    {{"none", NodeEncoding::none}, {"rwpe", NodeEncoding::random_walk}, {"lappe", NodeEncoding::laplacian}});
GEOSFT_ENUM_NAMES(NodePositions, none, added, relative, learned);
// The poolings of the nodes of a graph.
GEOSFT_ENUM_NAMES(GraphHead, softmax_pool, sample_max, sum, mean, max, class_token);
GEOSFT_ENUM_NAMES(Interpolation, bilinear, bicubic);

// The signs of Laplacian eigenvectors: sampled anew in each step, or left to a network that does not depend on them.
enum class EncodingSigns { random, invariant };
GEOSFT_ENUM_NAMES(EncodingSigns, random, invariant);
GEOSFT_ENUM_NAMES(ChiralTags, canonical, written);

// How a dataset is split: as published, molecules by scaffold, at random, or into folds, one of which is the test set.
enum class SplitKind { automatic, file, scaffold, random, folds };
template <>
inline constexpr auto enum_table<SplitKind> = std::to_array<EnumName<SplitKind>>({{"auto", SplitKind::automatic},
                                                                                  {"file", SplitKind::file},
                                                                                  {"scaffold", SplitKind::scaffold},
                                                                                  {"random", SplitKind::random},
                                                                                  {"folds", SplitKind::folds}});

// Section [splits]. The automatic split is the published one, else by scaffold for molecules with SMILES, else folds.
struct SplitSettings {
  SplitKind split = SplitKind::automatic;
  std::string split_folder;  // with the lists of a split of a CSV table or an XYZ file
  int64_t folds = 10, fold = 0;
  uint64_t split_seed = 0;
  double validation_fraction = 0.0;
  bool refit = false;  // the validation split chooses the number of epochs of a training on both splits
  bool monitor_test = false;
  std::string split_name;  // if several splits are published
};

// The defaults are those of the paper for Peptides-func.
struct GraphModelSettings : EncoderSettings {
  GraphModelSettings();

  NodeEncoding encoding = NodeEncoding::none;
  GraphHead head = GraphHead::softmax_pool;
  int64_t encoding_columns = 20, encoding_walks = 0, head_num_samples = 64, distance_channels = 0;
  int64_t encoding_channels = 0, encoding_layers = 1, max_degree = 0, head_layers = 1, radial_channels = 32;
  EncodingSigns encoding_signs = EncodingSigns::random;
  LocalKind local = LocalKind::none;
  NormKind normalization = NormKind::layer;
  JumpingKnowledge jumping_knowledge = JumpingKnowledge::none;
  bool residual = true, virtual_node = false;
  uint64_t encoding_seed = 0;  // separate from the run's seed: evaluation uses the same encoding as training
  double distance_range = 5.0, edge_cutoff = 0.0;
  NodePositions positions = NodePositions::none;
  int64_t position_channels = 0;  // 0: dim
  NamedLists beta_by_set = {};    // by the name of a set of series: beta of bn attentions, and of bn_sh ones
  bool relative = true, angles = false, atom_references = false;
  double head_dropout = 0.0, drop_path = 0.0;

  NodeEncodingOptions node_encoding() const;
  // Returns the layer of the encoder, with its local branch.
  LayerOptions layer() const;
  // Includes those of the encoder.
  std::vector<KeyUse> key_uses() const;
  // Returns edge_cutoff where there are convolutions, which are what it is for, or 0.
  double cutoff() const;
  // Returns whether the layers or the head sample tokens.
  bool samples() const;
};

// Section [molecules]: a CSV table of SMILES, labels of an XYZ file and of QM9, and the features of whole graphs, most
// of which are of molecules.
struct MoleculeSettings {
  std::string smiles_column, label_columns;  // the latter in the form of a line of CSV
  ChiralTags chiral_tags = ChiralTags::canonical;
  std::string fingerprint = "none";  // names separated by commas
  int64_t fingerprint_bits = 2048;
  bool descriptors = false;
  bool statistics = false;
  bool head_features = true;      // the head of the network sees them
  bool head_fingerprints = true;  // and the fingerprints among them, which come last
  bool kernel_ridge = false;      // average with a kernel regression on them
  bool random_forest = false;     // of labels: and with a random forest

  // Returns whether it names features of whole graphs.
  bool names_features() const { return fingerprint != "none" || descriptors || statistics; }
  // Returns the features of whole graphs, without those that neither the head nor the regression sees. Throws
  // UsageError for unknown fingerprints.
  GraphVectorOptions vector() const;
  // Returns how many columns of vector(), the last ones, only the regression sees where the head sees the others.
  int64_t hidden_columns() const { return head_fingerprints ? 0 : vector().count_columns(); }
  // Throws UsageError for unclosed quotes.
  std::vector<std::string> labels() const;
};

struct GraphTrainSettings : TrainSettings {
  GraphTrainSettings();

  double drop_token_rate = 0.0;
  int64_t batch_nodes = 0;      // maximum number of nodes of a batch, instead of batch_size; 0: batch_size
  int64_t max_steps = 0;        // of a run, which limits its epochs; 0: no limit
  std::string metric = "auto";  // selects the checkpoint: names separated by commas, the first that the task has
  RegressionLoss regression_loss = RegressionLoss::l1;

  BatchLimit batch_limit() const {
    return batch_nodes > 0 ? BatchLimit{batch_nodes, "--batch-nodes", /*of_each_process=*/false}
                           : TrainSettings::batch_limit();
  }
  void limit_batches(int64_t size) { (batch_nodes > 0 ? batch_nodes : batch_size) = size; }

  LossOptions loss() const { return {label_smoothing, regression_loss}; }
  LossOptions evaluation_loss() const { return {0.0, regression_loss}; }  // without smoothing
};

struct GraphSettings {
  std::string data;
  uint64_t seed = 0;
  int64_t num_seeds = 1;          // runs with the seeds seed, seed + 1, …
  bool cross_validation = false;  // one run per fold
  int64_t ensemble = 1;           // models of a run, trained one after the other, whose outputs are averaged
  int64_t max_length = 0;         // maximum number of tokens of a sequence, from its beginning; 0: all
  bool directed = false;          // keep the edge directions of OGB datasets
  bool coalesce = true;           // leave out self-loops and repeated edges of TU datasets
  int64_t patch_size = 1;         // side of square image patches, or steps per patch of a series
  SplitSettings splits;
  MoleculeSettings molecules;
  ViewOptions pictures;  // section [pictures]
  GraphModelSettings model;
  GraphTrainSettings train;
  EvaluationSettings evaluation;

  // Returns a configuration whose targets are these members; it refers to this object.
  Config config();
  // Checks combinations of keys. Throws UsageError naming the keys and their values.
  void check() const;
  // Lists the keys that are used only with some values of other keys.
  std::vector<KeyUse> key_uses() const;
  // Makes `data` valid in any working directory. For data that are there and no table of molecules, sets chiral_tags to
  // the written ones, which such data have. Throws UsageError if it is not set.
  void locate_data();
  // Copies the settings that do not affect the steps of a run: the location of the data, how often it is evaluated and
  // saved, and the number of epochs, to which a cosine schedule is adapted.
  void take_resumable(const GraphSettings& other);
  static constexpr const char* kResumable =
      "--data, --epochs, --validate-every, --checkpoint-every, --on-non-finite, --replay-steps, --tensorboard and the "
      "keys of "
      "[evaluation]";

  // Returns how the dataset is read.
  GraphReadOptions reading() const;
  GraphModelOptions graph_model(const ItemSchema& schema) const;
};

}  // namespace geosft
