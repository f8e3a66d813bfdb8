// SPDX-License-Identifier: Apache-2.0
// Defines what a sweep compares, and the learning curves of its configurations. It is read from a file whose keys are
// optional:
//   configs = ["mutag.toml"]           # configurations; paths are relative to the file
//   set = ["epochs=40", "num_seeds=3"] # for all of them
//   vary = ["score=maxout,dot"]        # runs every combination
//   [[variations]]                     # named changes, run in order; the others are compared with the first
//   name = "no bonds"
//   set = ["relative=false"]           # optional: without it the configuration is unchanged
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "tools/experiment/graph_settings.h"
#include "tools/experiment/metrics_csv.h"
#include "tools/experiment/plot_curves.h"

namespace geosft {

struct NamedChange {
  std::string name;
  std::vector<std::string> set = {};  // entries "key=value"
};

struct SweepList {
  std::vector<std::filesystem::path> configs = {};  // empty: one configuration, with the defaults and `preset`
  std::string preset = {};                          // TOML
  std::vector<std::string> set = {};                // entries "key=value"
  std::vector<NamedChange> variations = {};         // empty: unchanged configurations
  std::vector<std::string> vary = {};               // entries "key=value,value"
};

// Throws UsageError naming file and line for an unknown key (with the nearest known one), a value of the wrong form, a
// variation without a name, invalid TOML, and a file that cannot be read.
SweepList read_sweep_list(const std::filesystem::path& file);

// Returns the keys that a list sets or varies.
std::set<std::string> keys_of(const SweepList& list);

struct Variation {
  std::string name;  // "mutag score=dot relative=false"
  GraphSettings settings;
};

// Combines every configuration of the list, with its `set` applied, with each named change and with all combinations of
// the values of `vary`. A value may set further keys ("attention=sampling+positions=relative,softmax"); lists are in
// brackets ("pool=[1,2],[2,4]"). Throws UsageError naming file or entry for an unknown key, a value that is not
// permitted, and an entry of the wrong form.
std::vector<Variation> variations(const SweepList& list);

// Returns a configuration as TOML, without the keys that nothing in it uses: equal texts are the same training.
std::string used_settings(const GraphSettings& settings);

// Converts a name to a folder name: characters other than letters, digits, '-', '_', '.' and '=' become '_'.
std::string folder_name(const std::string& name);

// Returns the score of a configuration by epoch, the mean over the metrics files of its runs. The split is the held-out
// one if every file has rows of it, otherwise the monitored test set, otherwise the training set. An epoch counts if
// every run has a score for it; a curve without such an epoch has no points.
Curve mean_learning_curve(const std::string& name, const std::vector<std::filesystem::path>& metrics);

// Writes stem.csv (curve, epoch and score) and draws stem.png and stem.svg: the scores by epoch on the left, the best
// so far on the right. Curves without points are left out.
PlotResult leave_learning_curves(const std::vector<Curve>& curves, const ScoreStyle& style,
                                 const std::filesystem::path& stem);

}  // namespace geosft
