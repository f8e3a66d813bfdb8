// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/fine_tuning.h"

#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

#include "data/data_error.h"
#include "data/seeds.h"
#include "models/training/module_state.h"
#include "tools/experiment/graph_learning.h"
#include "tools/experiment/run_checkpoint.h"

namespace geosft {
namespace {

using ModelState = std::map<std::string, at::Tensor>;

// Returns whether a tensor is of the units of regression targets. Its last dimension is that of the outputs.
bool is_of_units(const std::string& name) {
  return name == "target_mean" || name == "target_deviation" || name == "target_reference";
}

// Returns whether a tensor of `state` is of the last linear map, with a row per output.
bool is_of_last_map(const std::string& name, const ModelState& state) {
  if (!is_of_head(name)) return false;
  constexpr std::string_view several = ".linears.";  // of a head of several layers, numbered
  const size_t at = name.find(several);
  if (at == std::string::npos) return name.find(".linear.") != std::string::npos;
  const size_t number = at + several.size(), end = name.find('.', number);
  const std::string next = name.substr(0, number) + std::to_string(std::stoll(name.substr(number, end - number)) + 1);
  return !state.contains(next + name.substr(end));
}

// Returns whether a checkpoint has the outputs of `texts`: names, and all that is fixed for a resumed run.
bool same_outputs(const Checkpoint& checkpoint, const std::map<std::string, std::string>& texts) {
  for (const auto& [name, text] : texts) {
    if (name == "config" || name == "version") continue;
    const auto found = checkpoint.texts.find(name);
    if (found == checkpoint.texts.end() || found->second != text) return false;
  }
  return true;
}

// The outputs of a run, in the order of the rows of its last linear map.
struct RunOutputs {
  std::string items = "classes";   // or parts, labels or targets
  std::vector<std::string> names;  // of a part after that of its class

  // Takes the outputs from the texts of a checkpoint. Throws DataError naming `file`.
  RunOutputs(const std::map<std::string, std::string>& texts, const std::string& file) {
    if (const auto schema = texts.find("schema"); schema != texts.end()) {
      const GraphTask task = schema_of(schema->second, file).task;
      if (!has_classes(task)) items = has_labels(task) ? "labels" : "targets";
    }
    const bool of_parts = texts.contains("parts");
    if (of_parts) items = "parts";
    std::istringstream lines(texts.at(of_parts ? "parts" : "classes"));
    for (std::string line; std::getline(lines, line);) {
      names.push_back(of_parts ? line.substr(line.find(' ') + 1) : line);  // without the id of the part
    }
  }
};

// Returns whether output `own` of the model and output `known` of the checkpoint are in the same units.
bool same_units(const ModelState& state, const Checkpoint& checkpoint, int64_t own, int64_t known) {
  for (const auto& [name, tensor] : state) {
    if (!is_of_units(name)) continue;
    const auto found = checkpoint.tensors.find("model." + name);
    if (found == checkpoint.tensors.end() || found->second.dim() != tensor.dim()) return false;
    if (found->second.size(-1) <= known) return false;
    const at::Tensor units = tensor.select(-1, own).cpu();
    if (!at::equal(found->second.select(-1, known).to(units.scalar_type()), units)) return false;
  }
  return true;
}

// Rows of the last linear map of the model, each with that of the same output in the checkpoint.
using KnownRows = std::vector<std::pair<int64_t, int64_t>>;

// Returns the rows of the outputs that the checkpoint has by name and in the same units; none if the maps do not fit.
KnownRows known_rows(const ModelState& state, const Checkpoint& checkpoint, const RunOutputs& before,
                     const RunOutputs& now) {
  if (before.items != now.items) return {};
  const auto count_before = static_cast<int64_t>(before.names.size()), count = static_cast<int64_t>(now.names.size());
  for (const auto& [name, tensor] : state) {
    if (!is_of_last_map(name, state)) continue;
    const auto found = checkpoint.tensors.find("model." + name);
    std::vector<int64_t> expected = tensor.sizes().vec();
    if (found == checkpoint.tensors.end() || expected.front() != count) return {};
    expected.front() = count_before;
    if (found->second.sizes() != at::IntArrayRef(expected)) return {};
  }
  KnownRows rows;
  for (int64_t own = 0; own < count; ++own) {
    const auto known = std::ranges::find(before.names, now.names[static_cast<size_t>(own)]) - before.names.begin();
    if (known < count_before && same_units(state, checkpoint, own, known)) rows.emplace_back(own, known);
  }
  return rows;
}

std::string shape_words(const at::Tensor& tensor) {
  std::ostringstream text;
  text << tensor.sizes();
  return text.str();
}

// Returns the line `key = value` of a configuration; empty if it has none.
std::string line_of(const std::string& toml, const std::string& key) {
  std::istringstream lines(toml);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(key + " = ")) return line;
  }
  return "";
}

// The classes that are one-hot inputs of a model, its last input columns (PointSegmenter).
struct CategoryInputs {
  std::vector<std::string> before, now;  // of the checkpoint and of the model; both empty for other models
  size_t added = 0;                      // classes of the model that the checkpoint lacks

  CategoryInputs(const std::vector<std::string>& classes_before, const std::string& config_before,
                 const std::vector<std::string>& classes_now, const std::string& config_now) {
    const auto has_inputs = [](const std::string& config) { return line_of(config, "category") == "category = true"; };
    if (has_inputs(config_before)) before = classes_before;
    if (has_inputs(config_now)) now = classes_now;
    for (const std::string& one : now) added += std::ranges::find(before, one) == before.end() ? 1 : 0;
  }
  bool are_same() const { return before == now; }
  // Copies the columns of all other inputs, and those of the classes that both have. Returns false, and copies nothing,
  // if the weights [width, inputs] do not fit.
  bool copy(const at::Tensor& from, at::Tensor& to) const {
    if (from.dim() != 2 || to.dim() != 2 || from.size(0) != to.size(0)) return false;
    const int64_t shared = to.size(1) - static_cast<int64_t>(now.size());
    if (shared < 1 || shared != from.size(1) - static_cast<int64_t>(before.size())) return false;
    to.narrow(1, 0, shared).copy_(from.narrow(1, 0, shared));
    for (size_t place = 0; place < now.size(); ++place) {
      const auto known = std::ranges::find(before, now[place]) - before.begin();
      if (known == static_cast<int64_t>(before.size())) continue;
      to.select(1, shared + static_cast<int64_t>(place)).copy_(from.select(1, shared + known));
    }
    return true;
  }
};

// Copies all tensors; of the last linear map only `rows`, and no units, unless `with_outputs`.
void copy_weights(const ModelState& state, const Checkpoint& checkpoint, const std::filesystem::path& file,
                  bool with_outputs, const KnownRows& rows, const CategoryInputs& categories) {
  at::NoGradGuard guard;
  for (const auto& [name, tensor] : state) {
    if (!with_outputs && is_of_units(name)) continue;
    const auto found = checkpoint.tensors.find("model." + name);
    if (!with_outputs && is_of_last_map(name, state)) {
      for (const auto& [own, known] : rows) tensor.select(0, own).copy_(found->second.select(0, known));
      continue;
    }
    at::Tensor inputs = tensor;
    if (name == "embed.weight" && !categories.are_same() && found != checkpoint.tensors.end() &&
        categories.copy(found->second, inputs)) {
      continue;
    }
    if (found == checkpoint.tensors.end() || found->second.sizes() != tensor.sizes()) {
      throw DataError(file.string(), "for --init-from a tensor " + name + " of shape " + shape_words(tensor),
                      found == checkpoint.tensors.end() ? "none: it is of another architecture"
                                                        : "shape " + shape_words(found->second));
    }
    at::Tensor target = tensor;
    target.copy_(found->second);
  }
}

}  // namespace

void check_architecture(const std::set<std::string>& named, const std::string& run, const std::string& of_run,
                        const std::string& asked) {
  // Other keys of [model], such as the numbers of samples, do not change what the weights are.
  for (const char* key : {"normals", "tokens", "relative", "chirality", "dim", "num_heads", "depth", "mlp_ratio",
                          "attention", "norm", "score", "pool", "convolution_size", "patch_size"}) {
    if (!named.contains(key) || line_of(asked, key) == line_of(of_run, key)) continue;
    std::string option = key;
    std::replace(option.begin(), option.end(), '_', '-');
    throw UsageError("with --init-from the architecture is that of the run: leave --" + option + " out, " + run +
                     " has " + line_of(of_run, key));
  }
}

void take_model_keys(Config& config, const std::string& run) {
  std::filesystem::path file;
  const Checkpoint checkpoint = load_run_checkpoint(run, file);
  const auto text = checkpoint.texts.find("config");
  if (text == checkpoint.texts.end()) throw DataError(file.string(), "a checkpoint of a run", "no text 'config'");
  read_run_config(file, [&] {
    config.set_known(text->second, "its configuration", [](const std::string& section, const std::string& key) {
      const std::set<std::string> features = {"chiral_tags", "fingerprint",   "fingerprint_bits", "descriptors",
                                              "statistics",  "head_features", "head_fingerprints"};
      return section == "model" || (section.empty() && key == "patch_size") ||
             (section == "clouds" && (key == "points" || key == "normals")) ||
             (section == "molecules" && features.contains(key));
    });
  });
}

uint64_t initial_seed(uint64_t seed, const TrainSettings& train, const RunDescription& run, bool resumes) {
  if (train.init_from.empty() || resumes) return seed;
  std::filesystem::path file;
  const Checkpoint checkpoint = load_run_checkpoint(train.init_from, file);
  return combine_seeds({seed, text_hash(run_text(checkpoint, run.kind, "config", file))});
}

std::string start_from_run(torch::nn::Module& model, const TrainSettings& train, const RunDescription& run,
                           bool resumes) {
  if (train.init_from.empty()) {
    if (train.freeze_encoder) throw UsageError("freeze_encoder needs init_from: the run whose encoder is kept");
    return {};
  }
  if (train.freeze_encoder) {
    for (const auto& item : model.named_parameters()) {
      if (!is_of_head(item.key())) item.value().set_requires_grad(false);
    }
  }
  std::string text = ", from " + train.init_from;
  if (!resumes) {
    std::filesystem::path file;
    const Checkpoint checkpoint = load_run_checkpoint(train.init_from, file);
    const std::string config = run_text(checkpoint, run.kind, "config", file);  // checks the tool
    const bool with_outputs = same_outputs(checkpoint, run.texts());
    const CategoryInputs categories(run_names(checkpoint, run.kind, file), config, run.names, run.config);
    const ModelState state = module_state(model);
    KnownRows rows;
    if (!with_outputs) {
      const RunOutputs before(checkpoint.texts, file.string()), now(run.texts(), file.string());
      rows = known_rows(state, checkpoint, before, now);
      text += rows.empty() ? " with a new output layer"
                           : " with the outputs of " + std::to_string(rows.size()) + " of its " +
                                 std::to_string(now.names.size()) + " " + now.items;
    }
    copy_weights(state, checkpoint, file, with_outputs, rows, categories);
    if (categories.added > 0) {
      text += (with_outputs ? " with new" : " and new") + std::string(" inputs for ") +
              std::to_string(categories.added) + " of its " + std::to_string(categories.now.size()) + " classes";
    }
  }
  return text + (train.freeze_encoder ? ", encoder frozen" : "");
}

}  // namespace geosft
