// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/key_names.h"

#include <algorithm>

namespace geosft {
namespace {

struct NamePair {
  std::string_view from, to;
};

// Renamed keys, in snake_case: the former name and the present one.
constexpr NamePair renamed[] = {
    {"learning_rate", "lr"},
    {"average_decay", "ema_decay"},
    {"max_gradient_norm", "clip_grad_norm"},
    {"bins", "num_samples"},
    {"head_bins", "head_num_samples"},
    {"width", "dim"},
    {"layers", "depth"},
    {"heads", "num_heads"},
    {"drop_tokens", "drop_token_rate"},
    {"longest", "max_length"},
    {"patch", "patch_size"},
    {"every_fold", "cross_validation"},
    {"repeats", "num_seeds"},
    {"most_monomials", "max_monomials"},
    {"least_tokens", "min_tokens"},
    {"most_tokens", "max_tokens"},
};

// Keys that earlier versions did not have, and what these did.
constexpr NamePair former_values[] = {{"split_order", "name"},
                                      {"normal_orientation", "consistent"},
                                      {"head_as_trained", "false"},
                                      {"chiral_tags", "written"}};

// Shorter names of options; those of a key of clouds are the names that `eval` has.
constexpr NamePair aliases[] = {{"validation_fraction", "--validation"}, {"rotate_training", "--rotate"}};

// Maps what other libraries call an option or a subcommand to what it is called here.
constexpr NamePair synonyms[] = {
    {"ema", "ema_decay"},
    {"swa", "ema_decay"},
    {"dropout", "token_dropout"},
    {"dropout", "feed_forward_dropout"},
    {"dropout", "head_dropout"},
    {"pretrained", "init_from"},
    {"pretrained", "resume"},
    {"checkpoint", "init_from"},
    {"finetune", "init_from"},
    {"freeze", "freeze_encoder"},
    {"clip", "clip_grad_norm"},
    {"clip_grad", "clip_grad_norm"},
    {"grad_clip", "clip_grad_norm"},
    {"gradient_clip_val", "clip_grad_norm"},
    {"hidden", "dim"},
    {"hidden_dim", "dim"},
    {"hidden_size", "dim"},
    {"hidden_channels", "dim"},
    {"embed_dim", "dim"},
    {"d_model", "dim"},
    {"num_layers", "depth"},
    {"n_layers", "depth"},
    {"nhead", "num_heads"},
    {"n_heads", "num_heads"},
    {"num_epochs", "epochs"},
    {"max_epochs", "epochs"},
    {"max_epoch", "epochs"},
    {"base_lr", "lr"},
    {"learning_rate", "lr"},
    {"cfg", "config"},
    {"cfg_file", "config"},
    {"dim_hidden", "dim"},
    {"dim_inner", "dim"},
    {"layers_mp", "depth"},
    {"batch_norm", "normalization"},
    {"graph_pooling", "head"},
    {"global_pool", "head"},
    {"attn_dropout", "score_dropout"},
    {"num_warmup_epochs", "warmup_epochs"},
    {"wd", "weight_decay"},
    {"bs", "batch_size"},
    {"num_epoch", "epochs"},
    {"n_epochs", "epochs"},
    {"dataset", "data"},
    {"data_dir", "data"},
    {"data_path", "data"},
    {"output_dir", "out"},
    {"work_dir", "out"},
    {"gpus", "device"},
    {"rotation", "rotate"},
    {"npoints", "points"},
    {"num_point", "points"},
    {"test", "eval"},
    {"evaluate", "eval"},
    {"validate", "eval"},
    {"fit", "train"},
    {"infer", "predict"},
    {"inference", "predict"},
    {"download", "fetch"},
    {"num_workers", "workers"},
    {"scheduler", "schedule"},
    {"lr_scheduler", "schedule"},
    {"num_points", "points"},
    {"amp", "precision"},
};

// Without leading dashes, in snake_case.
std::string plain(std::string_view name) {
  name.remove_prefix(std::min(name.find_first_not_of('-'), name.size()));
  std::string key(name.substr(0, 64));  // a longer one is no misspelling, and would take its length times that of all
  std::replace(key.begin(), key.end(), '-', '_');
  return key;
}

// A misspelling, or the beginning of one is the other.
bool near(const std::string& name, const std::string& known) {
  return (name.size() > 2 && known.starts_with(name + "_")) || (known.size() > 2 && name.starts_with(known)) ||
         edit_distance(name, known) * 3 <= std::max(name.size(), known.size());
}

}  // namespace

std::string current_key(std::string_view name) {
  const auto* const found =
      std::find_if(std::begin(renamed), std::end(renamed), [&](const NamePair& pair) { return pair.from == name; });
  return std::string(found == std::end(renamed) ? name : found->to);
}

std::string former_key(std::string_view key) {
  const auto* const found =
      std::find_if(std::begin(renamed), std::end(renamed), [&](const NamePair& pair) { return pair.to == key; });
  return found == std::end(renamed) ? std::string() : std::string(found->from);
}

std::string former_value(std::string_view key) {
  const auto* const found = std::find_if(std::begin(former_values), std::end(former_values),
                                         [&](const NamePair& pair) { return pair.from == key; });
  return found == std::end(former_values) ? std::string() : std::string(found->to);
}

std::string option_alias(std::string_view key) {
  const auto* const found =
      std::find_if(std::begin(aliases), std::end(aliases), [&](const NamePair& pair) { return pair.from == key; });
  return found == std::end(aliases) ? std::string() : std::string(found->to);
}

std::string renaming_notice(const std::string& former_option, const std::string& option) {
  return former_option + " is now called " + option + "; the next release takes the new name alone\n";
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> cost(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) cost[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) cost[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substitution = cost[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, substitution});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
      }
    }
  }
  return cost[a.size()][b.size()];
}

std::string nearest_name(std::string_view name, const std::vector<std::string>& known) {
  const std::string given = plain(name), current = current_key(given);
  const auto named = [&](std::string_view key) {
    return std::find_if(known.begin(), known.end(), [&](const std::string& one) { return plain(one) == key; });
  };
  if (const auto found = named(current); found != known.end()) return *found;
  for (const NamePair& pair : synonyms) {
    if (pair.from != given) continue;
    if (const auto found = named(pair.to); found != known.end()) return *found;
  }
  // A misspelling of a former name means the present one, which is what a hint names.
  std::string nearest;
  std::size_t minimum = std::string::npos;
  for (const std::string& one : known) {
    const std::string key = plain(one), present = current_key(key);
    const auto shown = present == key ? known.end() : named(present);
    for (const std::string& spelling : {key, former_key(key)}) {
      const std::size_t distance = edit_distance(given, spelling);
      if (spelling.empty() || distance >= minimum || !near(given, spelling)) continue;
      minimum = distance;
      nearest = shown == known.end() ? one : *shown;
    }
  }
  return nearest;
}

std::string nearest_hint(std::string_view name, const std::vector<std::string>& known) {
  const std::string nearest = nearest_name(name, known);
  return nearest.empty() ? nearest : "; the nearest known is '" + nearest + "'";
}

}  // namespace geosft
