// SPDX-License-Identifier: Apache-2.0
// Writes metrics, checkpoints and progress of a run while the training loop runs.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/training/training_loop.h"
#include "tools/experiment/event_file.h"
#include "tools/experiment/metrics_csv.h"
#include "tools/experiment/progress.h"
#include "tools/experiment/run_checkpoint.h"
#include "tools/experiment/run_folder.h"
#include "tools/experiment/split_table.h"

namespace geosft {

// Describes a run apart from its loop and its model.
struct RunDescription {
  std::string kind;                                    // the tool
  std::string config;                                  // TOML
  std::vector<std::string> names;                      // of classes or targets
  std::map<std::string, std::string> more_texts = {};  // of its checkpoints, by name; fixed when resuming
  std::string data;                                    // names the data source in messages
  int64_t epochs = 1, checkpoint_every = 1;
  bool tensorboard = false;
  bool held_out = false;  // a held-out split selects the best checkpoint; otherwise validation runs on the test set
  ScoreStyle score = {};
  std::function<std::vector<SplitRow>()> split_rows = {};  // of split.csv; none, or empty: no such file

  // Returns the texts of its checkpoints.
  std::map<std::string, std::string> texts() const;
};

// Writes the progress bar (a line per epoch where stderr is not a terminal), log, metrics file, TensorBoard events and
// checkpoints of a training run on rank 0. Other ranks only check for
// signals, and save the batch with a non-finite loss if it is theirs.
class RunObserver : public TrainingObserver {
 public:
  // The arguments must outlive the observer.
  RunObserver(TrainingLoop& loop, const torch::nn::Module& model, const RunFolder& folder, RunDescription run);

  // Continues from the last checkpoint of the folder, or from the beginning if there is none yet. Throws DataError if
  // it is invalid, has other classes or targets, or was lost.
  void resume();
  void on_step(const StepReport& report) override;
  void on_epoch(const EpochReport& report) override;
  bool stop_requested() override;
  // Saves the first batch of a series to the folder, and prints a note.
  void on_non_finite(const NonFiniteStep& step) override;
  void on_threads_chosen(const std::string& text) override;
  // Ends the progress bar, and saves an interrupted run.
  void finish(bool done);

 private:
  using Clock = std::chrono::steady_clock;

  ProgressBar& bar(const StepReport& report);
  void refuse_to_begin_anew() const;
  void save_last();
  void save_best(int64_t epoch);
  // Prints a line, which also goes to the log.
  void say(const std::string& line);
  // Describes the training in an epoch so far, without a score where a single step has none.
  std::string training_text(int64_t epoch, const MetricSum& training) const;
  // The same with the last validation and the speed, for the bar.
  std::string bar_text(int64_t epoch, const MetricSum& training, double items_per_second) const;
  // Describes a finished epoch: loss, scores, learning rate, speed, and the time left.
  std::string epoch_text(const EpochReport& report, double items_per_second) const;
  void write_events(const EpochReport& report);
  // Says that the training loss has risen since the first epoch here, or that guessing would have a smaller one; empty
  // otherwise.
  std::string bad_loss_text() const;
  double seconds() const;
  void append(const EpochReport& report, const char* split, const MetricSum& metric_sum, double items_per_second,
              double waiting);

  TrainingLoop& loop_;
  const torch::nn::Module& model_;
  const RunFolder& folder_;
  RunDescription run_;
  std::unique_ptr<MetricsWriter> metrics_;
  std::unique_ptr<EventFile> events_;
  std::unique_ptr<ProgressBar> bar_;
  const bool terminal_;                                // stderr
  double epochs_seen_ = 0;                             // since the run was started or resumed
  Clock::time_point start_, epoch_start_, last_step_;  // last_step_: when the last step ended
  double training_seconds() const;                     // of this epoch so far
  double seconds_before_ = 0.0;                        // of the run before it was resumed
  int64_t items_before_ = 0;                           // of this epoch before the run was resumed
  std::string validation_text_;
  std::string score_text_;            // of the last validation: "accuracy 81.2 %"
  std::optional<double> first_loss_;  // of the training, in the first epoch since the run was started or resumed
  double last_loss_ = 0.0;
};

}  // namespace geosft
