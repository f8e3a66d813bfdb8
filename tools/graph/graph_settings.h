// SPDX-License-Identifier: Apache-2.0
// Everything an experiment on graphs is configured by: one TOML file, one command-line option a key.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/packed_items.h"
#include "graph/node_encoding.h"
#include "models/graph_model.h"
#include "tools/experiment/experiment_settings.h"

namespace geosft {

// Section [splits]. A published split is taken as it is; other sets are divided into folds, one of which is the test
// set.
struct SplitSettings {
  int64_t folds = 10, fold = 0;
  uint64_t split_seed = 0;
  double validation_fraction = 0.0;
  bool monitor_test = false;
  std::string split_name;  // of several published splits
};

// Defaults are those of the paper for Peptides-func.
struct GraphModelSettings : EncoderSettings {
  GraphModelSettings();

  std::string encoding = "none", head = "softmax_pool";
  int64_t encoding_columns = 20, encoding_walks = 0, head_bins = 64, distance_channels = 0;
  uint64_t encoding_seed = 0;  // not that of the run: what is evaluated is encoded as what was trained on
  double distance_range = 5.0;
  std::string positions = "none";
  int64_t position_channels = 16;
  bool relative = true;
  double head_dropout = 0.0;

  NodeEncodingOptions node_encoding() const;
  // Also of the encoder's.
  std::vector<KeyUse> key_uses() const;
};

struct GraphTrainSettings : TrainSettings {
  GraphTrainSettings();

  double drop_tokens = 0.0;
  std::string metric = "auto";  // that validation goes by
};

struct GraphSettings {
  std::string data;
  uint64_t seed = 0;
  int64_t repeats = 1;      // runs with the seeds seed, seed + 1, …
  bool every_fold = false;  // a run for every fold
  int64_t longest = 0;      // tokens of a sequence that are used, from its beginning; 0: all
  bool directed = false;    // leave the edges of OGB sets as they are listed
  int64_t patch = 1;        // side of the squares of pixels, or steps of a series, that are its tokens
  SplitSettings splits;
  GraphModelSettings model;
  GraphTrainSettings train;
  EvaluationSettings evaluation;

  // The configuration whose keys are these members; it refers to this object.
  Config config();
  // What no key alone can tell. Throws UsageError naming the keys and their values.
  void check() const;
  // Which keys the values of others make use of.
  std::vector<KeyUse> key_uses() const;
  // Makes `data` a name that holds in any working folder. Throws UsageError when there is none.
  void locate_data();
  // What the steps of a run do not depend on: where the data lies, how often it is looked at, and the number of epochs,
  // along whose new curve a cosine schedule goes on.
  void take_resumable(const GraphSettings& other);
  static constexpr const char* kResumable =
      "--data, --epochs, --validate-every, --checkpoint-every, --on-non-finite, --replay-steps and the keys of "
      "[evaluation]";

  GraphModelOptions graph_model(const ItemSchema& schema) const;
};

}  // namespace geosft
