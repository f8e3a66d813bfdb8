// SPDX-License-Identifier: Apache-2.0
// The folder that holds all outputs of a run, and everything needed to use its model again.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace geosft {

class RunFolder {
 public:
  // Creates a folder for a new run, with missing parents. Throws UsageError if it already holds a run or other files,
  // or if another process trains there; another exception if it cannot be created or written to. Leftovers of a run
  // that was killed before it had a configuration are replaced.
  static RunFolder create(const std::filesystem::path& folder);
  // Returns whether open() finds a run there.
  static bool holds_run(const std::filesystem::path& folder);
  // Opens an existing run for evaluation or prediction. Throws UsageError if the folder holds none.
  static RunFolder open(const std::filesystem::path& folder);
  // Opens an existing run to resume it. Throws UsageError also if another process trains there. Removes files that were
  // being written when the run was killed.
  static RunFolder resume(const std::filesystem::path& folder);

  // Returns the folders that create() made, the innermost first: empty for one that was there before.
  const std::vector<std::filesystem::path>& made() const { return made_; }
  // Removes those of made() that are empty: for a run that ends before its first file.
  void discard() const;

  // Opens a folder that another process of the same training has created.
  static RunFolder made_by_another(const std::filesystem::path& folder) { return RunFolder(folder); }
  // Returns the path of split() for a folder that need not hold a run, such as that of a single checkpoint.
  static std::filesystem::path split_in(const std::filesystem::path& folder) { return RunFolder(folder).split(); }

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path config() const { return path_ / "config.toml"; }         // the effective configuration
  std::filesystem::path classes() const { return path_ / "classes.txt"; }        // one per line, in label order
  std::filesystem::path split() const { return path_ / "split.csv"; }            // tools/experiment/split_table.h
  std::filesystem::path metrics() const { return path_ / "metrics.csv"; }        // tools/experiment/metrics_csv.h
  std::filesystem::path best_checkpoint() const { return path_ / "best.ckpt"; }  // best on the validation split
  std::filesystem::path last_checkpoint() const { return path_ / "last.ckpt"; }  // to resume from
  std::filesystem::path log() const { return path_ / "train.log"; }              // what training printed, by line
  std::filesystem::path tensorboard() const { return path_ / "tensorboard"; }    // event files (event_file.h)
  std::filesystem::path result() const { return path_ / "result.json"; }         // evaluation of the finished run
  // Returns the path of the checkpoint of the first batch of a series with non-finite losses: "batch.NAME", and the
  // weights.
  std::filesystem::path non_finite_batch() const { return path_ / "non_finite_batch.ckpt"; }
  std::filesystem::path version() const { return path_ / "version"; }  // of the software that wrote the run
  // Return paths of pictures without extensions; plots.h adds .png and .svg.
  std::filesystem::path learning_curves() const { return path_ / "learning_curves"; }
  std::filesystem::path confusion(const std::string& rotation) const { return path_ / ("confusion_" + rotation); }

  // Returns whether the commands need the file of this name, or keep their records in it.
  bool keeps(const std::filesystem::path& name) const;

  // Each replaces the file atomically or keeps the old one. Throws DataError on failure.
  void write_config(const std::string& toml) const;
  // Throws std::invalid_argument for a name that is empty, contains a line break, or begins or ends with a blank.
  void write_classes(const std::vector<std::string>& names) const;
  void write_split(const std::string& csv) const;
  void write_version() const;
  void write_result(const std::string& json) const;
  // Appends lines to train.log, each with the time. Errors are ignored: a log never ends a run.
  void append_log(const std::string& lines) const;
  std::vector<std::string> read_classes() const;

 private:
  explicit RunFolder(std::filesystem::path path) : path_(std::move(path)) {}
  void claim();

  std::filesystem::path path_;
  std::vector<std::filesystem::path> made_;
  std::shared_ptr<void> claim_;  // lock held by writers: no other process writes to the folder meanwhile
};

// Returns lines such as "geosft 0.1.0", "LibTorch 2.11.0", "compiler gcc 12.2.0": for files and for --version.
std::string version_text();

}  // namespace geosft
