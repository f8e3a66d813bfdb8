// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/run_checkpoint.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>
#include <system_error>

#include "data/points/shape.h"
#include "data/read_file.h"
#include "models/training/module_state.h"
#include "tools/experiment/arguments.h"
#include "tools/experiment/key_names.h"
#include "tools/experiment/metrics_csv.h"
#include "tools/experiment/run_folder.h"
#include "tools/experiment/zoo.h"

namespace geosft {
namespace {

const std::string& text_of(const Checkpoint& checkpoint, const std::string& kind, const std::string& name,
                           const std::filesystem::path& file) {
  const auto found = checkpoint.texts.find(name);
  if (found == checkpoint.texts.end()) {
    throw DataError(file.string(), "a checkpoint of " + kind, "no text '" + name + "'");
  }
  return found->second;
}

// Converts an error of `step` into a DataError of the file.
void from_file(const std::filesystem::path& file, const char* expected, const std::function<void()>& step) {
  try {
    step();
  } catch (const UsageError& error) {
    throw DataError(file.string(), expected, error.what());
  } catch (const c10::Error& error) {
    throw DataError(file.string(), expected, error.what_without_backtrace());
  }
}

// Returns how many epochs a file of metrics tells of; 0 if it cannot be read.
int64_t epochs_of(const std::filesystem::path& metrics) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(metrics, error)) return 0;
  try {
    int64_t epochs = 0;
    for (const MetricsRow& row : read_metrics(metrics)) epochs = std::max(epochs, row.epoch);
    return epochs;
  } catch (const DataError&) {
    return 0;
  }
}

// Throws DataError if the folder holds a run for each fold or seed instead of a model; names the first of them.
void refuse_run_of_runs(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> runs;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    const bool of_experiment = name.starts_with("fold_") || name.starts_with("seed_");
    if (of_experiment && RunFolder::holds_run(entry.path())) runs.push_back(entry.path());
  }
  if (runs.empty()) return;
  const auto first = std::min_element(runs.begin(), runs.end());
  throw DataError(
      folder.string(), "a run with one model",
      std::to_string(runs.size()) + " runs, one for each fold or seed; pass one of them, such as " + first->string());
}

// Returns the first lines of a text from the one on in which it differs from `other`, with commas between them.
std::string different_lines(const std::string& text, const std::string& other) {
  constexpr int64_t few = 4;
  const auto differs = std::ranges::mismatch(text, other).in1;
  const auto begin = std::find(std::make_reverse_iterator(differs), text.rend(), '\n').base();
  std::istringstream lines(std::string(begin, text.end()));
  std::string shown;
  int64_t count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    if (count < few) shown += (count == 0 ? "" : ", ") + line;
  }
  if (count == 0) return "none beyond these";
  return count > few ? shown + " and " + std::to_string(count - few) + " more" : shown;
}

// Returns "geosft-graph train --resume --out RUN goes on with it".
std::string resume_advice(const std::filesystem::path& run, const std::string& tool) {
  return (tool.empty() ? "" : tool + " ") + "train --resume --out " + shell_word(run.string()) + " goes on with it";
}

// Throws DataError if the training of the folder has not come to a best checkpoint yet.
void refuse_begun_run(const std::filesystem::path& folder, const std::string& tool) {
  const RunFolder run = RunFolder::open(folder);
  if (!std::filesystem::exists(run.last_checkpoint())) return;
  if (std::filesystem::exists(run.result())) {
    throw DataError(folder.string(), "a run with a best.ckpt",
                    "none, although its training has ended; give RUN/last.ckpt, that of the last epoch, instead");
  }
  throw DataError(folder.string(), "a run with a best.ckpt",
                  "last.ckpt alone: its training has not come so far; " + resume_advice(folder, tool));
}

}  // namespace

std::map<std::string, std::string> run_texts(const std::string& kind, const std::string& config,
                                             const std::vector<std::string>& names) {
  std::string lines;
  for (const std::string& name : names) lines += name + "\n";
  return {{"kind", kind}, {"config", config}, {"classes", lines}, {"version", version_text()}};
}

void check_kind(const Checkpoint& checkpoint, const std::string& kind, const std::filesystem::path& file,
                const std::string& tool) {
  const std::string& found = text_of(checkpoint, tool, "kind", file);
  if (found == kind) return;
  const auto schema = checkpoint.texts.find("schema");
  const bool sequences =
      schema != checkpoint.texts.end() && schema->second.find(R"("items":"sequences")") != std::string::npos;
  throw DataError(file.string(), "a checkpoint of " + tool, "one of " + (sequences ? "geosft-sequence" : found));
}

std::string run_text(const Checkpoint& checkpoint, const std::string& kind, const std::string& name,
                     const std::filesystem::path& file) {
  check_kind(checkpoint, kind, file, kind);
  return text_of(checkpoint, kind, name, file);
}

std::vector<std::string> run_names(const Checkpoint& checkpoint, const std::string& kind,
                                   const std::filesystem::path& file) {
  std::istringstream in(run_text(checkpoint, kind, "classes", file));
  std::vector<std::string> names;
  for (std::string line; std::getline(in, line);) names.push_back(line);
  return names;
}

void check_same_outputs(const Checkpoint& checkpoint, const std::map<std::string, std::string>& texts,
                        const std::filesystem::path& file, const std::string& data) {
  for (const auto& [name, text] : texts) {
    if (name == "kind" || name == "config" || name == "version") continue;
    if (name != "classes" && !checkpoint.texts.contains(name)) continue;  // missing in checkpoints of earlier versions
    const std::string before = run_text(checkpoint, texts.at("kind"), name, file);
    if (before != text) {
      if (name != "classes") throw DataError(data, "the " + name + " that the run was begun with", "others");
      throw DataError(data, "the classes or targets that the run was begun with, " + different_lines(before, text),
                      different_lines(text, before));
    }
  }
}

Checkpoint load_run_checkpoint(const std::filesystem::path& run, std::filesystem::path& file, const std::string& tool) {
  if (run.empty()) {
    throw DataError("the path of the model", "a RUN folder, a checkpoint or a pretrained model", "an empty path");
  }
  const std::filesystem::path found = resolve_run(run);
  if (found != run && !tool.empty() && zoo_card(run.string()).at("tool") != tool) {
    throw DataError(
        run.string(), "a run or a pretrained model of " + tool,
        "one of " + zoo_card(run.string()).at("tool").get<std::string>() + " (" + tool + " list shows its own)");
  }
  if (!std::filesystem::exists(found)) {
    const std::vector<std::string> known = zoo_models(tool);
    const std::string none = known.empty() && !tool.empty() ? "; " + no_zoo_models_text(tool) : "";
    throw DataError(run.string(), "a RUN folder, a checkpoint or a pretrained model",
                    "nothing of this name" + none + nearest_hint(run.string(), known));
  }
  file = found;
  if (std::filesystem::is_directory(found)) {
    file = RunFolder::open(found).best_checkpoint();
    if (!std::filesystem::exists(file)) {
      refuse_run_of_runs(found);
      refuse_begun_run(found, tool);
      const bool selects = std::filesystem::is_directory(found / "selection");  // the epochs of a refit
      throw DataError(found.string(), "a run with a best.ckpt",
                      "neither that nor a last.ckpt" + (selects ? "; " + resume_advice(found, tool) : ""));
    }
  }
  return load_checkpoint(file);
}

ChosenCheckpoint chosen_checkpoint(const std::filesystem::path& file) {
  const Checkpoint checkpoint = load_checkpoint(file);
  const auto epoch = checkpoint.texts.find("epoch"), by = checkpoint.texts.find("chosen_by");
  ChosenCheckpoint chosen;
  const auto position = checkpoint.tensors.find("position");  // of a last.ckpt
  if (position != checkpoint.tensors.end() && position->second.numel() > 0) {
    chosen.epoch = position->second.reshape(-1)[0].item<int64_t>();
    chosen.by = "resume";
    chosen.epochs_done = epochs_of(file.parent_path() / "metrics.csv");
    return chosen;
  }
  if (epoch == checkpoint.texts.end() || by == checkpoint.texts.end()) return chosen;
  std::from_chars(epoch->second.data(), epoch->second.data() + epoch->second.size(), chosen.epoch);
  chosen.by = by->second;
  if (const auto score = checkpoint.texts.find("chosen_score"); score != checkpoint.texts.end()) {
    chosen.score = score->second;
  }
  chosen.epochs_done = epochs_of(file.parent_path() / "metrics.csv");
  return chosen;
}

std::string ChosenCheckpoint::choice(int64_t epochs) const {
  if (epoch == 0) return "";
  std::string text = "epoch " + std::to_string(epoch) + " of " + std::to_string(epochs);
  if (by == "resume") {
    text += ", from which the run is resumed";
  } else if (by != "validation") {
    text += epoch == epochs ? ", the last one (no validation split)" : ", the last one saved (no validation split)";
  } else {
    text += ", the best on the validation split" + (score.empty() ? "" : " (" + score + ")");
  }
  if (epochs_done == 0 || epochs_done >= epochs) return text;
  return text + "; the run stopped after epoch " + std::to_string(epochs_done);
}

std::string ChosenCheckpoint::text(int64_t epochs) const {
  return epoch == 0 ? "" : "test figures are of best.ckpt: " + choice(epochs) + "\n";
}

std::filesystem::path ensemble_of(const std::filesystem::path& model) {
  std::error_code error;
  if (!std::filesystem::is_directory(model, error)) return {};
  const std::filesystem::path path = std::filesystem::canonical(model);
  const bool inner = path.filename().string().starts_with("model_") && RunFolder::holds_run(path.parent_path());
  return inner ? std::filesystem::proximate(path.parent_path()) : std::filesystem::path();
}

void require_member(const std::filesystem::path& run, int64_t number, int64_t count, const std::string& tool) {
  const std::filesystem::path member = ensemble_folder(run, number) / "best.ckpt";
  if (std::filesystem::exists(member)) return;
  const std::string whole = "an ensemble of " + std::to_string(count) + " models";
  if (std::filesystem::exists(RunFolder::open(run).result())) {
    throw DataError(run.string(), whole, "no " + member.string() + ", although its training has ended");
  }
  throw DataError(run.string(), whole,
                  std::to_string(number) + ": its training has not ended; " + resume_advice(run, tool));
}

bool evaluated_with_kernel(const std::filesystem::path& run) {
  const std::filesystem::path file = RunFolder::open(run).result();
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error)) return false;
  const nlohmann::json result = nlohmann::json::parse(read_file(file), nullptr, /*allow_exceptions=*/false);
  if (!result.is_object()) return false;
  const nlohmann::json checkpoint = result.value("checkpoint", nlohmann::json::object());
  if (!checkpoint.is_object() || !checkpoint.contains("averaged_with")) return false;
  const nlohmann::json& named = checkpoint.at("averaged_with");
  const std::string others = named.is_string() ? named.get<std::string>() : "";
  return others.find("regression") != std::string::npos || others.find("forest") != std::string::npos;
}

std::string unfinished_warning(const std::filesystem::path& run, const std::string& tool) {
  std::error_code error;
  std::filesystem::path path = run;
  if (std::filesystem::is_regular_file(run, error)) path = run.has_parent_path() ? run.parent_path() : ".";
  if (!RunFolder::holds_run(path)) return "";
  const std::filesystem::path whole = std::filesystem::canonical(path);
  const bool selection = whole.filename() == "selection" && RunFolder::holds_run(whole.parent_path());
  const bool inner = selection || !ensemble_of(path).empty();
  const RunFolder folder = RunFolder::open(path);
  if (inner || !std::filesystem::exists(folder.last_checkpoint()) || std::filesystem::exists(folder.result()))
    return "";
  return run.string() + ": its training has not ended, and what it has so far is used; " + resume_advice(path, tool);
}

bool is_run_of(const std::string& program, const std::filesystem::path& run) {
  std::filesystem::path file;
  const Checkpoint checkpoint = load_run_checkpoint(run, file);
  const auto kind = checkpoint.texts.find("kind");
  return kind != checkpoint.texts.end() && kind->second == program;
}

void read_run_config(const std::filesystem::path& file, const std::function<void()>& read) {
  from_file(file, "a configuration that this version knows", read);
}

void load_run_weights(torch::nn::Module& model, const Checkpoint& checkpoint, const std::filesystem::path& file) {
  std::map<std::string, at::Tensor> weights;
  for (const auto& [name, tensor] : checkpoint.tensors) {
    if (name.rfind("model.", 0) == 0) weights.emplace(name.substr(6), tensor);
  }
  from_file(file, "the weights of its configuration", [&] { load_module_state(model, weights); });
}

}  // namespace geosft
