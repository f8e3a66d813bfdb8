// SPDX-License-Identifier: Apache-2.0
#include "models/training/split_step.h"

#include <ATen/Parallel.h>
#include <ATen/autocast_mode.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <mutex>
#include <utility>

#include "models/ops/non_finite_error.h"
#include "models/training/autocast.h"

namespace geosft {
namespace {

// Measured on two cores with tools/configs/furniture.toml: 8 parts of its batches cost a quarter more than 2.
constexpr int64_t min_elements = 131072, max_parts = 16;
// More threads are used only if they reduce the time by this factor.
constexpr double required_gain = 0.97;

// Adds the gradients of the parts in order, for reproducible rounding. Keeps only those that arrive before their turn.
class OrderedSum {
 public:
  void add(int64_t part, std::vector<at::Tensor> gradients) {
    const std::lock_guard lock(mutex_);
    waiting_.emplace(part, std::move(gradients));
    for (auto found = waiting_.find(next_); found != waiting_.end(); found = waiting_.find(next_)) {
      accumulate(std::move(found->second));
      waiting_.erase(found);
      ++next_;
    }
  }
  // Returns one gradient per parameter, undefined if no part had one; empty if no part had any.
  const std::vector<at::Tensor>& sum() const { return sum_; }

 private:
  void accumulate(std::vector<at::Tensor> gradients) {
    if (gradients.empty()) return;
    if (sum_.empty()) {
      sum_ = std::move(gradients);
      return;
    }
    const at::NoGradGuard no_grad;
    for (size_t i = 0; i < sum_.size(); ++i) {
      if (!gradients[i].defined()) continue;
      sum_[i] = sum_[i].defined() ? sum_[i].add(gradients[i]) : std::move(gradients[i]);
    }
  }

  std::mutex mutex_;
  std::map<int64_t, std::vector<at::Tensor>> waiting_;
  std::vector<at::Tensor> sum_;
  int64_t next_ = 0;
};

// Disables the cache of autocast in the calling thread during its lifetime: all threads share that cache.
class NoAutocastCache {
 public:
  NoAutocastCache() : before_(at::autocast::is_autocast_cache_enabled()) {
    at::autocast::set_autocast_cache_enabled(false);
  }
  ~NoAutocastCache() { at::autocast::set_autocast_cache_enabled(before_); }
  NoAutocastCache(const NoAutocastCache&) = delete;
  NoAutocastCache& operator=(const NoAutocastCache&) = delete;

 private:
  bool before_;
};

struct PartResult {
  double loss = 0.0;  // summed over the terms
  double terms = 0.0;
  MetricSum metrics;
  std::string error_message;
  at::Generator generator;
};

double terms_of(const TrainingTask::Step& step) {
  return step.terms.value_or(static_cast<double>(step.metrics.items));
}

}  // namespace

int64_t split_parts(const BatchSize& size) {
  const int64_t limit = std::min({size.items, size.elements / min_elements, max_parts});
  int64_t parts = 1;
  while (2 * parts <= limit) parts *= 2;
  return parts;
}

ThreadTrial::ThreadTrial(int64_t max_threads) {
  for (int64_t threads = 1; threads < max_threads; threads *= 2) candidates_.push_back({threads});
  candidates_.push_back({std::max<int64_t>(1, max_threads)});
}

int64_t ThreadTrial::threads() const {
  if (candidates_.size() == 1 || steps_ < warm_up) return candidates_.back().threads;
  return candidates_[finished() ? fastest() : turn()].threads;
}

void ThreadTrial::record(double seconds, double elements) {
  if (steps_ >= warm_up && !finished()) {
    candidates_[turn()].seconds += seconds;
    candidates_[turn()].elements += elements;
  }
  ++steps_;
}

size_t ThreadTrial::fastest() const {
  const auto seconds_each = [&](size_t i) { return candidates_[i].seconds / candidates_[i].elements; };
  size_t best = 0;
  for (size_t i = 1; i < candidates_.size(); ++i) {
    if (seconds_each(i) < required_gain * seconds_each(best)) best = i;
  }
  return best;
}

std::string ThreadTrial::text() const {
  double elements = 0.0;
  for (const Candidate& candidate : candidates_) elements += candidate.elements;
  const double mean_step = elements / static_cast<double>(rounds * static_cast<int64_t>(candidates_.size()));
  const int64_t chosen = candidates_[fastest()].threads;
  std::string text = std::to_string(chosen) + (chosen == 1 ? " thread (" : " threads (");
  for (const Candidate& candidate : candidates_) {
    char time[64];
    std::snprintf(time, sizeof time, "%s%lld: %.3g ms", &candidate == candidates_.data() ? "" : ", ",
                  static_cast<long long>(candidate.threads), 1e3 * candidate.seconds / candidate.elements * mean_step);
    text += time;
  }
  return text + " a step)";
}

SplitStep::SplitStep(std::vector<at::Tensor> parameters, std::optional<at::ScalarType> autocast, int64_t threads)
    : parameters_(std::move(parameters)),
      autocast_(autocast),
      team_(threads > 0 ? threads : static_cast<int64_t>(at::get_num_threads())) {
  std::erase_if(parameters_, [](const at::Tensor& parameter) { return !parameter.requires_grad(); });
  if (threads == 0) trial_.emplace(team_.size());
}

SplitStep::Result SplitStep::run(ReplayableTask& task, at::Generator& generator,
                                 const std::function<at::Tensor(const at::Tensor&)>& scaled) {
  const BatchSize size = task.batch_size();
  const int64_t parts = split_parts(size);
  if (parts == 1) return run_whole(task, generator, is_small(size), scaled);
  const int64_t threads = trial_ ? trial_->threads() : team_.size();
  const auto start = std::chrono::steady_clock::now();
  Result result = run_parts(task, parts, generator, threads, scaled);
  if (trial_) {
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    trial_->record(seconds, static_cast<double>(size.elements));
  }
  return result;
}

bool SplitStep::is_small(const BatchSize& size) {
  return size.elements > 0 && size.elements < 2 * min_elements;
}

std::optional<std::string> SplitStep::take_news() {
  if (told_ || !trial_ || team_.size() == 1 || !trial_->finished()) return std::nullopt;
  told_ = true;
  return trial_->text();
}

// A small batch uses a single thread, because its loops are too short for more; a large item uses all threads.
SplitStep::Result SplitStep::run_whole(ReplayableTask& task, at::Generator& generator, bool single_threaded,
                                       const std::function<at::Tensor(const at::Tensor&)>& scaled) {
  std::optional<IntraOpThreads> single;
  if (single_threaded) single.emplace(1);
  TrainingTask::Step step;
  try {
    const Autocast autocast(at::kCPU, autocast_);
    RngBuffer seeds(generator, at::kCPU);
    step = task.compute(seeds);
  } catch (const NonFiniteError& error) {
    return {{}, error.what_without_backtrace()};
  }
  scaled(step.loss).backward();
  return {step.metrics, {}};
}

SplitStep::Result SplitStep::run_parts(ReplayableTask& task, int64_t parts, at::Generator& generator, int64_t threads,
                                       const std::function<at::Tensor(const at::Tensor&)>& scaled) {
  std::vector<PartResult> results(static_cast<size_t>(parts));
  OrderedSum gradients;
  const auto compute = [&](int64_t part) {
    PartResult& result = results[static_cast<size_t>(part)];
    result.generator = generator.clone();
    TrainingTask::Step step;
    const NoAutocastCache no_cache;
    try {
      const Autocast autocast(at::kCPU, autocast_);
      RngBuffer seeds(result.generator, at::kCPU);
      step = task.compute_part(part, parts, seeds);
    } catch (const NonFiniteError& error) {
      result.error_message = error.what_without_backtrace();
      return gradients.add(part, {});
    }
    result.terms = terms_of(step);
    result.metrics = step.metrics;
    if (result.terms == 0) return gradients.add(part, {});
    result.loss = step.loss.item<double>() * result.terms;
    gradients.add(part, torch::autograd::grad({scaled(step.loss * result.terms)}, parameters_, {}, std::nullopt, false,
                                              /*allow_unused=*/true));
  };
  team_.run(parts, compute, threads);

  Result all;
  double loss = 0.0, terms = 0.0;
  for (const PartResult& result : results) {
    if (!result.error_message.empty()) return {{}, result.error_message};
    loss += result.loss;
    terms += result.terms;
    all.metrics.add(result.metrics);
  }
  generator.set_state(results[0].generator.get_state());
  const at::NoGradGuard no_grad;
  if (terms == 0) {  // nothing to learn from
    for (at::Tensor& parameter : parameters_) parameter.mutable_grad() = at::zeros_like(parameter);
    return all;
  }
  all.metrics.loss = loss / terms * static_cast<double>(all.metrics.items);
  for (size_t i = 0; i < parameters_.size(); ++i) {
    const at::Tensor& sum = gradients.sum()[i];
    if (sum.defined()) parameters_[i].mutable_grad() = sum / terms;
  }
  return all;
}

}  // namespace geosft
