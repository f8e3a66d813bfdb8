// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/graph_presets.h"

#include <algorithm>

#include "data/graphs/molecule_table.h"
#include "data/graphs/tu_dataset.h"

namespace geosft {
namespace {

constexpr const char* attention_keys[] = {"attention", "num_heads", "num_samples", "score",     "probability",
                                          "weighting", "tau",       "degree",      "tolerance", "distance_channels",
                                          "angles",    "encoding",  "mask",        "mlp_ratio", "score_dropout",
                                          "positions", "init_from"};

}  // namespace

bool names_molecules(const std::string& data, const GraphReadOptions& options) {
  namespace fs = std::filesystem;
  std::error_code error;
  for (const char* name : {"mol.csv.gz", "mol.csv"}) {
    if (fs::exists(fs::path(data) / "mapping" / name, error)) return true;
  }
  return is_molecule_table(data, options);
}

std::string small_graph_preset() {
  return "[splits]\nvalidation_fraction = 'auto'\n"
         "[model]\nencoding = 'rwpe'\nencoding_columns = 16\ndim = 'auto'\nnum_heads = 'auto'\ndepth = 'auto'\n"
         "num_samples = 'auto'\nnorm = 'pre'\nscore_dropout = 0.0\n"
         "[train]\nepochs = 'auto'\nbatch_size = 'auto'\nlr = 2e-3\nweight_decay = 0.1\nbeta2 = 0.98\n"
         "clip_grad_norm = 1.0\nschedule = 'cosine'\nema_decay = 'auto'\nvalidate_every = 5\n"
         "[evaluation]\nvotes = 10\n";
}

std::string graph_kernel_preset() {
  return "[molecules]\nfingerprint = 'wl0,wl1,wl2,wl3'\nstatistics = true\nhead_features = false\nkernel_ridge = "
         "true\n";
}

std::string small_molecule_preset(bool regression) {
  return std::string("[molecules]\ndescriptors = true\n") +
         (regression ? "fingerprint = 'ecfp4,atom_pair,torsion'\nfingerprint_bits = 1024\nhead_fingerprints = false\n"
                     : "") +
         "[model]\nattention = 'none'\nlocal = 'gine'\nnormalization = 'batch'\ndim = 128\ndepth = 4\nmlp_ratio = 0\n"
         "token_dropout = 0.1\nhead = 'mean'\nhead_layers = 3\nhead_dropout = 0.3\n"
         "[train]\nepochs = 60\nmax_steps = 20000\nbatch_size = 32\nlr = 1e-3\nweight_decay = 0.1\nbeta2 = 0.98\n"
         "clip_grad_norm = 1.0\nschedule = 'cosine'\nema_decay = 0.99\nregression_loss = 'mse'\n"
         "metric = 'roc_auc,rmse'\nvalidate_every = 1\n"
         "[evaluation]\nevaluation_batch = 256\n";
}

std::string small_preset(const std::string& data, const GraphReadOptions& reading, const std::set<std::string>& keys) {
  const bool attends = std::any_of(std::begin(attention_keys), std::end(attention_keys),
                                   [&](const char* key) { return keys.contains(key); });
  if (!attends && !data.empty() && names_molecules(data, reading)) {
    return small_molecule_preset(keys.contains("kernel_ridge"));
  }
  return small_graph_preset() + (is_tu_dataset(data) ? graph_kernel_preset() : "");
}

}  // namespace geosft
