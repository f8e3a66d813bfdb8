// SPDX-License-Identifier: Apache-2.0
// The folder that holds everything a run leaves, and everything needed to use its model again.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace geosft {

class RunFolder {
 public:
  // A folder for a new run; missing parents are made. Throws UsageError when there is a run in it already, or anything
  // else that is not ours to mix with, or another process trains there; another exception when it cannot be made or
  // written to. What is left of a run that was killed before it had a configuration is replaced.
  static RunFolder create(const std::filesystem::path& folder);
  // Whether open() finds a run there.
  static bool holds_run(const std::filesystem::path& folder);
  // An existing run, to evaluate or predict. Throws UsageError when the folder holds none.
  static RunFolder open(const std::filesystem::path& folder);
  // An existing run, to resume: as open(), but for one that another process trains, which is a UsageError; and files
  // that were being written when it was killed are removed.
  static RunFolder resume(const std::filesystem::path& folder);

  // One that another of the processes that train together has made.
  static RunFolder made_by_another(const std::filesystem::path& folder) { return RunFolder(folder); }

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path config() const { return path_ / "config.toml"; }         // the effective configuration
  std::filesystem::path classes() const { return path_ / "classes.txt"; }        // a class name a line, in label order
  std::filesystem::path metrics() const { return path_ / "metrics.csv"; }        // tools/experiment/metrics_csv.h
  std::filesystem::path best_checkpoint() const { return path_ / "best.ckpt"; }  // best on the validation part
  std::filesystem::path last_checkpoint() const { return path_ / "last.ckpt"; }  // to resume from
  std::filesystem::path result() const { return path_ / "result.json"; }         // evaluation of the finished run
  // The first batch of a row whose losses are not finite, as a checkpoint: "batch.NAME", and the weights.
  std::filesystem::path non_finite_batch() const { return path_ / "non_finite_batch.ckpt"; }
  std::filesystem::path version() const { return path_ / "version"; }  // what wrote the run
  // Pictures without their endings; plots.h adds .png and .svg.
  std::filesystem::path learning_curves() const { return path_ / "learning_curves"; }
  std::filesystem::path confusion(const std::string& rotation) const { return path_ / ("confusion_" + rotation); }

  // Each replaces the file as a whole or leaves the old one. Throws DataError when that fails.
  void write_config(const std::string& toml) const;
  // Throws std::invalid_argument for a name that is empty, has a line break, or begins or ends with a blank.
  void write_classes(const std::vector<std::string>& names) const;
  void write_version() const;
  void write_result(const std::string& json) const;
  std::vector<std::string> read_classes() const;

 private:
  explicit RunFolder(std::filesystem::path path) : path_(std::move(path)) {}
  void claim();

  std::filesystem::path path_;
  std::shared_ptr<void> claim_;  // of those who write to the folder: while it lives, nobody else does
};

// "geosft 0.1.0\nLibTorch 2.11.0\ncompiler gcc 12.2.0\n": for the version file, for checkpoints and for --version.
std::string version_text();

}  // namespace geosft
