// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/fine_tuning.h"

#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <string_view>

#include "data/data_error.h"
#include "models/training/module_state.h"
#include "tools/experiment/run_checkpoint.h"

namespace geosft {
namespace {

// Returns whether a tensor of `state` depends on the outputs: the last linear map, and the units of regression targets.
bool is_of_outputs(const std::string& name, const std::map<std::string, at::Tensor>& state) {
  if (name == "target_mean" || name == "target_deviation" || name == "target_reference") return true;
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

void copy_weights(torch::nn::Module& model, const Checkpoint& checkpoint, const std::filesystem::path& file,
                  bool with_outputs, const CategoryInputs& categories) {
  at::NoGradGuard guard;
  const std::map<std::string, at::Tensor> state = module_state(model);
  for (const auto& [name, tensor] : state) {
    if (!with_outputs && is_of_outputs(name, state)) continue;
    const auto found = checkpoint.tensors.find("model." + name);
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
    copy_weights(model, checkpoint, file, with_outputs, categories);
    if (!with_outputs) text += " with a new output layer";
    if (categories.added > 0) {
      text += (with_outputs ? " with new" : " and new") + std::string(" inputs for ") +
              std::to_string(categories.added) + " of its " + std::to_string(categories.now.size()) + " classes";
    }
  }
  return text + (train.freeze_encoder ? ", encoder frozen" : "");
}

}  // namespace geosft
