// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "models/training/training_loop.h"
#include "tools/experiment/metrics_csv.h"
#include "tools/experiment/progress.h"
#include "tools/experiment/run_checkpoint.h"
#include "tools/experiment/run_folder.h"

namespace geosft {

// What a run is, beyond its loop and its model.
struct RunDescription {
  std::string kind;                                    // the tool
  std::string config;                                  // TOML
  std::vector<std::string> names;                      // of classes or targets
  std::map<std::string, std::string> more_texts = {};  // of its checkpoints, by name: what resuming may not change
  std::string data;                                    // where its data come from, for messages
  int64_t epochs = 1, checkpoint_every = 1;
  bool held_out = false;  // validation runs on a held-out part, which chooses the best checkpoint, else on the test set
  ScoreStyle score = {};

  // Of its checkpoints.
  std::map<std::string, std::string> texts() const;
};

// Progress bar, metrics file and checkpoints of a training run. Of several processes the leading one leaves them; the
// others only note signals, and the batch whose loss is not finite where it is theirs.
class RunObserver : public TrainingObserver {
 public:
  // What is referred to must outlive the observer.
  RunObserver(TrainingLoop& loop, const torch::nn::Module& model, const RunFolder& folder, RunDescription run);

  // Continues from the last checkpoint of the folder, from the beginning when there is none yet. Throws DataError when
  // it is broken or of other classes or targets.
  void resume();
  void on_step(const StepReport& report) override;
  void on_epoch(const EpochReport& report) override;
  bool stop_requested() override;
  // Writes the first batch of a row into the folder, and says so.
  void on_non_finite(const NonFiniteStep& step) override;
  void on_threads_chosen(const std::string& text) override;
  // Ends the progress bar; saves what an interrupted run has not saved yet.
  void finish(bool done);

 private:
  using Clock = std::chrono::steady_clock;

  ProgressBar& bar(const StepReport& report);
  void save_last();
  void save_best();
  double seconds() const;
  std::string training_text(const MetricSum& tally) const;
  void append(const EpochReport& report, const char* split, const MetricSum& tally, double items_per_second,
              double waiting);

  TrainingLoop& loop_;
  const torch::nn::Module& model_;
  const RunFolder& folder_;
  RunDescription run_;
  std::unique_ptr<MetricsWriter> metrics_;
  std::unique_ptr<ProgressBar> bar_;
  Clock::time_point start_, epoch_start_, last_step_;  // when it was done
  double training_seconds() const;                     // of this epoch, so far
  double seconds_before_ = 0.0;                        // of the parts of the run before it was resumed
  int64_t items_before_ = 0;                           // of this epoch, before it was resumed
  std::string validation_text_;
};

}  // namespace geosft
