// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/run_observer.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iostream>

#include "data/data_error.h"
#include "tools/experiment/arguments.h"
#include "tools/experiment/main_guard.h"
#include "tools/experiment/toml_document.h"

namespace geosft {
namespace {

constexpr const char* seconds_name = "seconds";

std::string fixed(double value, int digits) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

// Returns `checkpoint_every` of the configuration in the RUN folder, which a resumed run may change; 0 without one.
int64_t stored_interval(const std::filesystem::path& config) {
  if (!std::filesystem::exists(config)) return 0;
  return parse_toml(read_toml_text(config), config.string())["train"]["checkpoint_every"].value_or(int64_t{0});
}

void add_under(std::map<std::string, at::Tensor>& tensors, const std::string& prefix,
               const std::map<std::string, at::Tensor>& more) {
  for (const auto& [name, tensor] : more) tensors.emplace(prefix + name, tensor);
}

}  // namespace

std::map<std::string, std::string> RunDescription::texts() const {
  std::map<std::string, std::string> all = run_texts(kind, config, names);
  all.insert(more_texts.begin(), more_texts.end());
  return all;
}

RunObserver::RunObserver(TrainingLoop& loop, const torch::nn::Module& model, const RunFolder& folder,
                         RunDescription run)
    : loop_(loop),
      model_(model),
      folder_(folder),
      run_(std::move(run)),
      terminal_(standard_error().terminal),
      start_(Clock::now()),
      epoch_start_(start_),
      last_step_(start_) {}

void RunObserver::resume() {
  if (!std::filesystem::exists(folder_.last_checkpoint())) return refuse_to_begin_anew();
  const Checkpoint checkpoint = load_checkpoint(folder_.last_checkpoint());
  check_same_outputs(checkpoint, run_.texts(), folder_.last_checkpoint(), run_.data);
  try {
    loop_.load_state(checkpoint.tensors);
  } catch (const c10::OutOfMemoryError&) {
    throw;
  } catch (const c10::Error& error) {
    throw DataError(
        folder_.last_checkpoint().string(),
        "the state of the training that " + folder_.config().string() + " describes",
        "another: " + std::string(error.what_without_backtrace()) + "; what [model] sets cannot change in a run");
  }
  if (loop_.epochs() > run_.epochs) {
    throw UsageError("--epochs " + std::to_string(run_.epochs) + ": the run has reached epoch " +
                     std::to_string(loop_.epochs()) + " already; give as many or more, or leave --epochs out");
  }
  const auto elapsed = checkpoint.tensors.find(seconds_name);
  if (elapsed != checkpoint.tensors.end()) seconds_before_ = elapsed->second.item<double>();
  items_before_ = loop_.metrics().items;
  if (!loop_.processes().is_root()) return;
  metrics_ =
      std::make_unique<MetricsWriter>(folder_.metrics(), loop_.optimization().steps(), loop_.epochs(), run_.score);
}

// Throws DataError if the last checkpoint is lost: the results of the training would be overwritten. One that was
// stopped before its first checkpoint begins again; a best one may be there before, as of an epoch whose validation was
// the best.
void RunObserver::refuse_to_begin_anew() const {
  const std::vector<MetricsRow> rows =
      std::filesystem::exists(folder_.metrics()) ? read_metrics(folder_.metrics()) : std::vector<MetricsRow>();
  const int64_t epochs = rows.empty() ? 0 : rows.back().epoch;
  const bool ended = std::filesystem::exists(folder_.result());
  const bool begun = std::filesystem::exists(folder_.best_checkpoint()) &&
                     epochs > std::max(run_.checkpoint_every, stored_interval(folder_.config()));
  if (!ended && !begun) return;
  throw DataError(folder_.last_checkpoint().string(), "the state to go on from",
                  "none, although the training has " + (ended ? "ended" : "come to epoch " + std::to_string(epochs)) +
                      "; train with another --out, or remove the folder to begin again");
}

double RunObserver::seconds() const {
  return seconds_before_ + std::chrono::duration<double>(Clock::now() - start_).count();
}

// Created at the first step since the run was started or resumed.
ProgressBar& RunObserver::bar(const StepReport& report) {
  const int64_t steps = loop_.steps_per_epoch();
  if (!bar_) {
    bar_ = std::make_unique<ProgressBar>("training", steps * run_.epochs);
    bar_->start_at(report.epoch * steps + report.step_in_epoch - 1);
  }
  return *bar_;
}

void RunObserver::on_non_finite(const NonFiniteStep& step) {
  last_step_ = Clock::now();
  if (step.in_a_row > 1 || !step.here) return;
  const std::string place =
      "step " + std::to_string(step.step.step_in_epoch) + " of epoch " + std::to_string(step.step.epoch + 1);
  std::map<std::string, at::Tensor> tensors;
  add_under(tensors, "model.", module_state(model_));
  add_under(tensors, "batch.", step.batch);
  std::map<std::string, std::string> texts = run_.texts();
  texts.emplace("step", place);
  texts.emplace("refusal", step.error_message);
  save_checkpoint(folder_.non_finite_batch(), {std::move(tensors), std::move(texts)});
  bar(step.step);
  say(place + ": the loss or its gradient is not finite, so it changes nothing; its batch is in " +
      folder_.non_finite_batch().string());
}

// Printed before the bar is created in the same step, or above it.
void RunObserver::on_threads_chosen(const std::string& text) {
  say("fastest with " + text);
}

void RunObserver::say(const std::string& line) {
  folder_.append_log(line);
  if (bar_) {
    bar_->note(line);
  } else {
    std::cerr << line << '\n';
  }
}

double RunObserver::training_seconds() const {
  return std::chrono::duration<double>(last_step_ - epoch_start_).count();
}

void RunObserver::on_step(const StepReport& report) {
  last_step_ = Clock::now();
  if (!loop_.processes().is_root()) return;
  const double rate = static_cast<double>(report.epoch_so_far.items - items_before_) / training_seconds();
  bar(report).update(report.epoch * loop_.steps_per_epoch() + report.step_in_epoch,
                     bar_text(report.epoch, report.epoch_so_far, rate));
}

std::string RunObserver::bar_text(int64_t epoch, const MetricSum& training, double items_per_second) const {
  return training_text(epoch, training) + validation_text_ + "  " + fixed(items_per_second, 0) + " " +
         run_.score.items + "/s";
}

std::string RunObserver::training_text(int64_t epoch, const MetricSum& training) const {
  const std::string text = "epoch " + std::to_string(epoch + 1) + "/" + std::to_string(run_.epochs) + "  loss " +
                           fixed(training.mean_loss(), 3);
  const double score = training.mean_score();
  return std::isnan(score) ? text : text + "  " + run_.score.text(run_.score.value(score));
}

void RunObserver::append(const EpochReport& report, const char* split, const MetricSum& metric_sum,
                         double items_per_second, double waiting) {
  if (!metrics_) metrics_ = std::make_unique<MetricsWriter>(folder_.metrics(), run_.score);
  metrics_->append({report.step, report.epoch + 1, split, metric_sum.mean_loss(),
                    run_.score.value(metric_sum.mean_score()), report.learning_rate, seconds(), items_per_second,
                    waiting});
}

void RunObserver::on_epoch(const EpochReport& report) {
  if (!loop_.processes().is_root()) return;
  if (report.training.items > 0) {
    last_loss_ = report.training.mean_loss();
    if (!first_loss_) first_loss_ = last_loss_;
  }
  const double elapsed = training_seconds();
  const double rate = static_cast<double>(report.training.items - items_before_) / elapsed;
  append(report, "train", report.training, rate, report.seconds_waited / elapsed);
  // An epoch in which the run was resumed counts with what was trained since.
  epochs_seen_ += report.training.items > 0 ? static_cast<double>(report.training.items - items_before_) /
                                                  static_cast<double>(report.training.items)
                                            : 1.0;
  items_before_ = 0;
  if (report.validation.has_value()) {
    const char* split = run_.held_out ? "validation" : "test";
    append(report, split, *report.validation, 0.0, 0.0);
    const double score = run_.score.value(report.validation->mean_score());
    score_text_ = run_.score.text(score);
    const std::string number = run_.score.share ? fixed(100 * score, 1) + " %" : fixed(score, 4);
    // The training's own score, if there is one, has the name of the metric.
    const bool named = !std::isnan(report.training.mean_score());
    validation_text_ = std::string("  ") + split + " " + (named ? number : score_text_);
  }
  if (run_.tensorboard) write_events(report);
  const std::string line = epoch_text(report, rate);
  if (terminal_ || !bar_) {
    folder_.append_log(line);
  } else {
    say(line);
  }
  // At the last step the bar showed the validation of an earlier epoch.
  if (bar_) bar_->update((report.epoch + 1) * loop_.steps_per_epoch(), bar_text(report.epoch, report.training, rate));
  const bool last = report.epoch + 1 == run_.epochs;
  const bool due = !report.diverging && (last || (report.epoch + 1) % run_.checkpoint_every == 0);
  if (run_.held_out ? report.best && !report.diverging : due) save_best(report.epoch + 1);
  if (due) save_last();
  epoch_start_ = last_step_ = Clock::now();
}

std::string RunObserver::epoch_text(const EpochReport& report, double items_per_second) const {
  std::string text = training_text(report.epoch, report.training);
  if (report.validation) text += validation_text_;
  char rates[96];
  std::snprintf(rates, sizeof rates, "  lr %.3g  %.0f %s/s", report.learning_rate, items_per_second,
                run_.score.items.c_str());
  text += rates;
  const double done = std::chrono::duration<double>(Clock::now() - start_).count();
  const auto left = static_cast<double>(run_.epochs - report.epoch - 1);
  return text + "  " + duration_text(done / epochs_seen_ * left) + " left";
}

// One scalar per metric and split, by the number of epochs.
void RunObserver::write_events(const EpochReport& report) {
  if (!events_) events_ = std::make_unique<EventFile>(folder_.tensorboard());
  const int64_t epoch = report.epoch + 1;
  const auto add = [&](const std::string& split, const MetricSum& sum) {
    events_->add_scalar("loss/" + split, sum.mean_loss(), epoch);
    const double score = run_.score.value(sum.mean_score());
    if (std::isfinite(score)) events_->add_scalar(run_.score.name + "/" + split, score, epoch);
  };
  add("train", report.training);
  if (report.validation) add(run_.held_out ? "validation" : "test", *report.validation);
  events_->add_scalar("learning_rate", report.learning_rate, epoch);
}

bool RunObserver::stop_requested() {
  return interrupted();
}

void RunObserver::finish(bool done) {
  if (!loop_.processes().is_root()) return;
  if (bar_) bar_->finish();
  if (!done) return save_last();
  if (const std::string text = bad_loss_text(); !text.empty()) {
    folder_.append_log(text);
    std::cerr << text << '\n';
  }
}

std::string RunObserver::bad_loss_text() const {
  constexpr double max_ratio = 1.5, max_increase = 0.5, margin = 1.1;
  if (!first_loss_ || run_.epochs < 2) return "";
  if (last_loss_ > max_ratio * *first_loss_ && last_loss_ > *first_loss_ + max_increase) {
    return "the training loss rose from " + fixed(*first_loss_, 3) + " to " + fixed(last_loss_, 3) +
           ": the learning rate may be too high (--lr)";
  }
  const double of_equal = std::log(static_cast<double>(run_.names.size()));
  if (run_.score.name != "accuracy" || last_loss_ <= margin * of_equal) return "";
  return "the training loss, " + fixed(last_loss_, 3) + ", is above that of equal probabilities, " +
         fixed(of_equal, 3) + ": the learning rate may be too high (--lr), or the epochs too few";
}

void RunObserver::save_last() {
  std::map<std::string, at::Tensor> tensors = loop_.state();
  tensors.emplace(seconds_name, at::tensor(seconds(), at::kDouble));
  save_checkpoint(folder_.last_checkpoint(), {std::move(tensors), run_.texts()});
}

void RunObserver::save_best(int64_t epoch) {
  const Optimization::AveragedWeights averaged(loop_.optimization());
  std::map<std::string, at::Tensor> tensors;
  add_under(tensors, "model.", module_state(model_));
  std::map<std::string, std::string> texts = run_.texts();
  texts.emplace("epoch", std::to_string(epoch));
  texts.emplace("chosen_by", run_.held_out ? "validation" : "last epoch");
  if (run_.held_out) texts.emplace("chosen_score", score_text_);
  save_checkpoint(folder_.best_checkpoint(), {std::move(tensors), std::move(texts)});
}

}  // namespace geosft
