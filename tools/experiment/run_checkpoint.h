// SPDX-License-Identifier: Apache-2.0
// The checkpoints of runs: weights, and the texts that make them usable on their own.
#pragma once

#include <torch/nn/module.h>

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "data/checkpoint.h"

namespace geosft {

// Kind (the tool that wrote it), configuration as TOML, names of classes or targets, versions.
std::map<std::string, std::string> run_texts(const std::string& kind, const std::string& config,
                                             const std::vector<std::string>& names);

// The text of this name, and the names in "classes". Throws DataError, naming `file`, when the checkpoint is not of
// this kind or has no such text.
std::string run_text(const Checkpoint& checkpoint, const std::string& kind, const std::string& name,
                     const std::filesystem::path& file);
std::vector<std::string> run_names(const Checkpoint& checkpoint, const std::string& kind,
                                   const std::filesystem::path& file);

// Throws DataError, naming `data`, when a checkpoint to resume from has other classes, or other texts than the run
// beside configuration and version (where it has such a text: earlier versions keep fewer); naming `file` when it is of
// another kind.
void check_same_outputs(const Checkpoint& checkpoint, const std::map<std::string, std::string>& texts,
                        const std::filesystem::path& file, const std::string& data);

// Loads the best checkpoint of a RUN folder, or a checkpoint file; `file` becomes its name.
Checkpoint load_run_checkpoint(const std::filesystem::path& run, std::filesystem::path& file);

// Sets the configuration and the weights from a checkpoint; what they refuse becomes a DataError of the file.
void read_run_config(const std::filesystem::path& file, const std::function<void()>& read);
void load_run_weights(torch::nn::Module& model, const Checkpoint& checkpoint, const std::filesystem::path& file);

}  // namespace geosft
