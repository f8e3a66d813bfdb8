// SPDX-License-Identifier: Apache-2.0
// Loads and checks the checkpoints of runs: weights, and the texts needed to use them.
#pragma once

#include <torch/nn/module.h>

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "data/checkpoint.h"

namespace geosft {

// Returns kind (the tool that wrote it), configuration as TOML, names of classes or targets, and versions.
std::map<std::string, std::string> run_texts(const std::string& kind, const std::string& config,
                                             const std::vector<std::string>& names);

// Returns the text `name`; run_names returns the names in "classes". Throws DataError naming `file` if the checkpoint
// is of another kind or lacks the text.
std::string run_text(const Checkpoint& checkpoint, const std::string& kind, const std::string& name,
                     const std::filesystem::path& file);
std::vector<std::string> run_names(const Checkpoint& checkpoint, const std::string& kind,
                                   const std::filesystem::path& file);

// Throws DataError naming `file` if a program other than `kind` wrote the checkpoint; `tool` is the one that is named
// as expected: geosft-sequence uses the runs of geosft-graph.
void check_kind(const Checkpoint& checkpoint, const std::string& kind, const std::filesystem::path& file,
                const std::string& tool);

// Throws DataError naming `data` if a checkpoint to resume from has other classes than the run, or other texts apart
// from configuration and version (texts missing in earlier versions are skipped); naming `file` if it is of another
// kind.
void check_same_outputs(const Checkpoint& checkpoint, const std::map<std::string, std::string>& texts,
                        const std::filesystem::path& file, const std::string& data);

// Loads the best checkpoint of a RUN folder or a pretrained model (zoo.h), or a checkpoint file; sets `file` to its
// path. The hint of the DataError for a name that does not exist is about the pretrained models of `tool`; empty: of
// all tools.
Checkpoint load_run_checkpoint(const std::filesystem::path& run, std::filesystem::path& file,
                               const std::string& tool = {});

// Which epoch a best.ckpt is of, and what chose it: "validation", or "last epoch" without a validation split; of a
// last.ckpt "resume". Epoch 0: an earlier version wrote the file, without that information.
struct ChosenCheckpoint {
  int64_t epoch = 0;
  std::string by;
  std::string score = {};   // on the validation split, as text; empty if there is none, or an earlier version wrote it
  int64_t epochs_done = 0;  // of the run in whose folder the file is; 0: not known

  // Returns "epoch 7 of 10, the best on the validation split (accuracy 81.2 %)", and that the run stopped before its
  // end, if it did; empty for epoch 0.
  std::string choice(int64_t epochs) const;
  // Returns "test figures are of best.ckpt: ", that, and a line break; empty for epoch 0.
  std::string text(int64_t epochs) const;
};
ChosenCheckpoint chosen_checkpoint(const std::filesystem::path& file);

// Returns the folder of model `number`, from 1, of an ensemble whose first model is in `run`: a run of its own.
inline std::filesystem::path ensemble_folder(const std::filesystem::path& run, int64_t number) {
  return run / ("model_" + std::to_string(number));
}

// Returns the RUN folder of the ensemble that the folder `model` is one model of; empty for other folders and for
// files.
std::filesystem::path ensemble_of(const std::filesystem::path& model);

// Throws DataError unless the folder of model `number` of an ensemble of `count` models has a best.ckpt.
void require_member(const std::filesystem::path& run, int64_t number, int64_t count, const std::string& tool);

// Returns whether the evaluation in result.json of a RUN folder is of networks averaged with a kernel regression or a
// forest; false without such a file.
bool evaluated_with_kernel(const std::filesystem::path& run);

// Returns a warning if `run` is a RUN folder, or a checkpoint in one, whose training, by `tool`, has not ended; empty
// for others, and for a model of an ensemble alone.
std::string unfinished_warning(const std::filesystem::path& run, const std::string& tool);

// Returns whether `program` wrote a RUN folder or a checkpoint. Throws the errors of loading it.
bool is_run_of(const std::string& program, const std::filesystem::path& run);

// Set the configuration and the weights from a checkpoint; errors become a DataError naming the file.
void read_run_config(const std::filesystem::path& file, const std::function<void()>& read);
void load_run_weights(torch::nn::Module& model, const Checkpoint& checkpoint, const std::filesystem::path& file);

}  // namespace geosft
