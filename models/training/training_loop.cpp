// SPDX-License-Identifier: Apache-2.0
#include "models/training/training_loop.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "models/ops/non_finite_error.h"
#include "models/summary.h"
#include "models/training/autocast.h"
#include "models/training/distributed/synchronization.h"

namespace geosft {
namespace {

// The maximum number of successive non-finite steps: a run with so many has diverged.
constexpr int64_t max_non_finite_steps = 20;

std::map<std::string, at::Tensor> below(const std::map<std::string, at::Tensor>& state, const std::string& prefix) {
  std::map<std::string, at::Tensor> found;
  for (const auto& [name, tensor] : state) {
    if (name.rfind(prefix, 0) == 0) found.emplace(name.substr(prefix.size()), tensor);
  }
  return found;
}

const at::Tensor& entry(const std::map<std::string, at::Tensor>& state, const std::string& name) {
  const auto found = state.find(name);
  TORCH_CHECK(found != state.end(), "the saved training state has no entry ", name);
  return found->second;
}

// Steps on a GPU are fused; so is float16 anywhere, whose loss is scaled.
OptimizationOptions optimization_on(at::Device device, const TrainingOptions& options) {
  OptimizationOptions result = options.optimization;
  result.scale_loss = result.scale_loss || options.autocast == at::kHalf;
  result.fused = result.fused || device.is_cuda() || result.scale_loss;
  return result;
}

// Concatenates what is read back after a step, float64.
at::Tensor norm_and_sums(const at::Tensor& norm, const at::Tensor& sums) {
  return at::cat({norm.to(at::kDouble).view({1}), sums});
}

}  // namespace

TrainingLoop::TrainingLoop(TrainingTask& task, const TrainingOptions& options, const Communicator& processes)
    : task_(task),
      options_(options),
      processes_(processes),
      device_(device_of(task.module())),
      scaled_loss_(optimization_on(device_, options).scale_loss),
      optimization_(task.module(), optimization_on(device_, options)),
      generator_(at::make_generator<at::CPUGeneratorImpl>(options.seed)),
      best_score_(-std::numeric_limits<double>::infinity()) {
  TORCH_CHECK(options.epochs >= 1, "epochs must be at least 1, got ", options.epochs);
  TORCH_CHECK(options.validate_every >= 1, "validate_every must be at least 1, got ", options.validate_every);
  if (processes.size() > 1)
    reducer_ =
        std::make_unique<GradientReducer>(processes, task.module().parameters(), bucket_bytes_for(processes.size()));
  if (processes.size() == 1 && !options.step_graphs && device_.is_cpu() && dynamic_cast<ReplayableTask*>(&task))
    split_ = std::make_unique<SplitStep>(task.module().parameters(), options.autocast, options.threads);
  if (!options.step_graphs) return;
  TORCH_CHECK(dynamic_cast<ReplayableTask*>(&task) != nullptr,
              "task must be a ReplayableTask for steps to be replayed");
  TORCH_CHECK(processes.size() == 1, "processes must be one for steps to be replayed, there are ", processes.size());
  graph_runner_ = std::make_unique<CudaGraphRunner>(options.step_graphs, generator_, device_);
}

bool TrainingLoop::run(TrainingObserver& observer) try {
  while (epoch_ < options_.epochs) {
    check_same_state(processes_, task_.module(), epoch_,
                     {step_in_epoch_, optimization_.steps(), task_.steps_per_epoch()});
    task_.start_epoch(epoch_, step_in_epoch_);
    while (step_in_epoch_ < task_.steps_per_epoch()) {
      if (processes_.any(observer.stop_requested())) {
        finalize_all_steps(observer);
        return false;
      }
      train_step(observer);
    }
    finalize_all_steps(observer);
    finish_epoch(observer);
  }
  return true;
} catch (const RootStopped&) {
  return false;
}

// Runs the model. Returns false if it threw a NonFiniteError.
bool TrainingLoop::forward(TrainingTask::Step& step, std::string& error_message) {
  try {
    const Autocast autocast(device_.type(), options_.autocast);
    step = task_.step(generator_);
    return true;
  } catch (const NonFiniteError& error) {
    error_message = error.what_without_backtrace();
    return false;
  }
}

TrainingLoop::StepSummary TrainingLoop::summarize(const TrainingTask::Step& step, bool failed) const {
  const int64_t size = processes_.size();
  StepSummary all;
  if (!failed) all.terms = step.terms.value_or(static_cast<double>(step.metrics.items));
  at::Tensor numbers = at::zeros({2 + size}, at::kDouble);  // terms, items, then a flag for each process that failed
  double* const here = numbers.data_ptr<double>();
  here[0] = all.terms;
  here[1] = failed ? 0.0 : static_cast<double>(step.metrics.items);
  here[2 + processes_.rank()] = failed ? 1.0 : 0.0;
  if (reducer_) processes_.all_reduce(numbers)->wait();
  if (reducer_ && here[0] > 0) all.weight = all.terms / here[0];
  all.items = static_cast<int64_t>(here[1]);
  for (int64_t i = size; i-- > 0;) {
    if (here[2 + i] > 0) all.failed_rank = i;
  }
  return all;
}

// Returns sums over all processes, float64 [2 + size]: loss and score summed over the items, then a flag for each
// process whose loss is not finite.
at::Tensor TrainingLoop::sum_over_processes(const TrainingTask::Step& step, const StepSummary& all) const {
  at::Tensor local = step.sums.defined() ? step.sums : at::tensor({step.metrics.loss, step.metrics.score}, at::kDouble);
  if (!reducer_) return local;
  at::Tensor numbers = at::zeros({2 + processes_.size()}, local.options());
  if (all.terms > 0) {
    const at::Tensor loss = step.loss.detach().to(local.options());
    numbers[0].copy_(loss * (all.weight * static_cast<double>(all.items)));
    numbers[1].copy_(local[1]);
    numbers[2 + processes_.rank()].copy_(at::isfinite(loss).logical_not());
  }
  processes_.all_reduce(numbers)->wait();
  return numbers;
}

void TrainingLoop::read_sums(const at::Tensor& sums, Enqueued& step) const {
  step.metrics.loss = sums[0].item<double>();
  step.metrics.score = sums[1].item<double>();
  if (!reducer_) return;
  int64_t shown = 0;  // if all losses are finite, rank 0 shows its batch
  for (int64_t i = processes_.size(); i-- > 0;) {
    if (sums[2 + i].item<double>() > 0) shown = i;
  }
  step.shows_batch = shown == processes_.rank();
}

void TrainingLoop::backward(const TrainingTask::Step& step, double weight) {
  if (!reducer_) return optimization_.scaled(step.loss).backward();
  reducer_->begin();
  optimization_.scaled(step.loss * weight).backward();
  reducer_->finish();
}

// Returns a step whose gradient norm and loss are not known yet.
TrainingLoop::Enqueued TrainingLoop::new_step() const {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  return {{epoch_, step_in_epoch_ + 1, 0, {}, 0.0, nan}, {nan, 0.0, 0}, {}};
}

double TrainingLoop::epochs_so_far() const {
  return static_cast<double>(epoch_) +
         static_cast<double>(step_in_epoch_) / static_cast<double>(task_.steps_per_epoch());
}

TrainingLoop::Enqueued TrainingLoop::enqueue_replayable(ReplayableTask& task) {
  Enqueued enqueued = new_step();
  task.take_batch();
  enqueued.batch = task.last_batch();
  const StepInputs inputs = task.inputs();
  enqueued.metrics.items = inputs.items;
  optimization_.begin_step(epochs_so_far());
  const at::Tensor numbers = graph_runner_->run(inputs, [&](RngBuffer& seeds) {
    TrainingTask::Step step;
    {
      const Autocast autocast(device_.type(), options_.autocast);
      step = task.compute(seeds);
    }
    backward(step, 1.0);
    return norm_and_sums(optimization_.apply(), step.sums);
  });
  enqueued.numbers = std::make_shared<HostCopy>(numbers);
  return enqueued;
}

TrainingLoop::Enqueued TrainingLoop::split_step(ReplayableTask& task) {
  Enqueued enqueued = new_step();
  std::optional<IntraOpThreads> single(1);  // collating a batch takes many short loops
  task.take_batch();
  if (!SplitStep::is_small(task.batch_size())) single.reset();
  enqueued.batch = task.last_batch();
  const SplitStep::Result result =
      split_->run(task, generator_, [&](const at::Tensor& loss) { return optimization_.scaled(loss); });
  enqueued.error_message = result.error_message;
  if (!result.error_message.empty()) return enqueued;
  enqueued.metrics = result.metrics;
  enqueued.report.gradient_norm = optimization_.step(epochs_so_far());
  return enqueued;
}

// Enqueues forward, backward and optimiser step; the norm is NaN if the model threw a NonFiniteError.
TrainingLoop::Enqueued TrainingLoop::enqueue_step() {
  if (graph_runner_) return enqueue_replayable(dynamic_cast<ReplayableTask&>(task_));
  if (split_) return split_step(dynamic_cast<ReplayableTask&>(task_));
  Enqueued enqueued = new_step();
  const at::Tensor generator_state = reducer_ ? generator_.get_state() : at::Tensor();
  TrainingTask::Step step;
  const StepSummary all = summarize(step, !forward(step, enqueued.error_message));
  enqueued.batch = task_.last_batch();
  if (all.failed_rank != StepSummary::none) {
    enqueued.shows_batch = all.failed_rank == processes_.rank();
    // The generators have advanced by different amounts in the processes.
    if (reducer_) generator_.set_state(generator_state);
    return enqueued;
  }
  enqueued.metrics.items = all.items;
  const at::Tensor sums = sum_over_processes(step, all);
  backward(step, all.weight);
  if (step.sums.defined()) {
    enqueued.numbers = std::make_shared<HostCopy>(norm_and_sums(optimization_.enqueue(epochs_so_far()), sums));
  } else {
    enqueued.report.gradient_norm = optimization_.step(epochs_so_far());
    read_sums(sums, enqueued);
  }
  return enqueued;
}

bool TrainingLoop::try_step() {
  // With CUDA graphs the second step is captured, which allocates additional memory.
  for (int i = graph_runner_ ? 2 : 1; i > 0; --i) {
    task_.start_epoch(epoch_, 0);
    const Enqueued step = enqueue_step();
    if (step.numbers) step.numbers->values();
    if (!step.error_message.empty()) return false;
  }
  return true;
}

void TrainingLoop::finalize_step(Enqueued& step, TrainingObserver& observer) {
  if (step.numbers) {
    const at::Tensor& numbers = step.numbers->values();
    processes_.check();
    step.report.gradient_norm = numbers[0].item<double>();
    read_sums(numbers.slice(0, 1), step);
  }
  StepReport& report = step.report;
  const MetricSum& metrics = step.metrics;
  metrics_.add(metrics);
  non_finite_steps_ = std::isfinite(report.gradient_norm) ? 0 : non_finite_steps_ + 1;
  error_message_ = step.error_message;
  if (non_finite_steps_ > 0 && !(scaled_loss_ && std::isfinite(metrics.loss))) skip_step(step, report, observer);
  if (non_finite_steps_ >= max_non_finite_steps) fail();
  report.epoch_so_far = metrics_;
  observer.on_step(report);
}

void TrainingLoop::skip_step(const Enqueued& step, const StepReport& report, TrainingObserver& observer) {
  observer.on_non_finite({report, non_finite_steps_, error_message_, step.batch, step.shows_batch});
  processes_.barrier();  // the batch must be written before the run is stopped
  TORCH_CHECK(!options_.stop_at_non_finite, "the loss or its gradient is not finite in step ", report.step_in_epoch,
              " of epoch ", report.epoch + 1, error_message_.empty() ? "" : " (" + error_message_ + ")",
              "; the run was to stop there");
}

void TrainingLoop::finalize_last_step(TrainingObserver& observer) {
  if (!last_) return;
  Enqueued step = *std::exchange(last_, std::nullopt);
  finalize_step(step, observer);
}

// The barrier fails if an all-reduce was aborted, so that a state is only saved after complete sums.
void TrainingLoop::finalize_all_steps(TrainingObserver& observer) {
  finalize_last_step(observer);
  processes_.barrier();
}

void TrainingLoop::train_step(TrainingObserver& observer) {
  task_.module().train();
  Enqueued step = enqueue_step();
  if (const auto chosen = split_ ? split_->take_news() : std::nullopt) observer.on_threads_chosen(*chosen);
  ++step_in_epoch_;
  step.report.step = optimization_.steps();
  step.report.learning_rate = optimization_.learning_rate();
  finalize_last_step(observer);
  if (step.numbers) {
    last_ = std::move(step);
  } else {
    finalize_step(step, observer);
  }
}

std::optional<MetricSum> TrainingLoop::validated() {
  const Optimization::AveragedWeights averaged(optimization_);
  task_.module().eval();
  try {
    return processes_.size() == 1 ? task_.validate() : validate_on_root(task_, processes_);
  } catch (const NonFiniteError& error) {
    error_message_ = error.what_without_backtrace();
    fail();
  }
}

void TrainingLoop::finish_epoch(TrainingObserver& observer) {
  const bool last = epoch_ + 1 == options_.epochs;
  const bool whole_epoch = non_finite_steps_ >= task_.steps_per_epoch();
  EpochReport report{epoch_, optimization_.steps(), metrics_, std::nullopt, optimization_.learning_rate(), true,
                     false,  task_.seconds_waited()};
  report.diverging = last ? whole_epoch : non_finite_steps_ > 0;
  if (!report.diverging && (last || (epoch_ + 1) % options_.validate_every == 0)) report.validation = validated();
  if (report.validation.has_value()) {
    const double score = report.validation->mean_score();
    report.best = score >= best_score_ || !std::isfinite(best_score_);
    if (score > best_score_) best_score_ = score;
  } else {
    report.best = !std::isfinite(best_score_);
  }
  ++epoch_;
  step_in_epoch_ = 0;
  metrics_ = MetricSum();
  observer.on_epoch(report);
  if (last && report.diverging) fail();
}

void TrainingLoop::fail() const {
  const int64_t epoch = std::min(epoch_ + 1, options_.epochs);
  TORCH_CHECK(false, "training diverged in epoch ", epoch, ": ",
              non_finite_steps_ == 0
                  ? std::string("validation failed")
                  : "the gradient was not finite in " + std::to_string(non_finite_steps_) + " steps in a row",
              error_message_.empty() ? "" : " (" + error_message_ + ")", "; a smaller learning rate may help");
}

std::map<std::string, at::Tensor> TrainingLoop::state() const {
  std::map<std::string, at::Tensor> saved;
  for (const auto& [name, tensor] : module_state(task_.module())) saved.emplace("model." + name, tensor);
  for (const auto& [name, tensor] : optimization_.state()) saved.emplace("optimizer." + name, tensor);
  saved.emplace("generator", generator_.get_state());
  saved.emplace("position", at::tensor({epoch_, step_in_epoch_, metrics_.items, non_finite_steps_}, at::kLong));
  saved.emplace("tally", at::tensor({metrics_.loss, metrics_.score, best_score_}, at::kDouble));
  return saved;
}

void TrainingLoop::load_state(const std::map<std::string, at::Tensor>& state) {
  const at::Tensor& generator = entry(state, "generator");
  const at::Tensor& position = entry(state, "position");
  const at::Tensor& metrics = entry(state, "tally");
  TORCH_CHECK(position.numel() == 4 && metrics.numel() == 3, "the saved training state has a broken position");
  load_module_state(task_.module(), below(state, "model."));
  optimization_.load_state(below(state, "optimizer."));
  generator_.set_state(generator);
  epoch_ = position[0].item<int64_t>();
  step_in_epoch_ = position[1].item<int64_t>();
  metrics_ = {metrics[0].item<double>(), metrics[1].item<double>(), position[2].item<int64_t>()};
  non_finite_steps_ = position[3].item<int64_t>();
  best_score_ = metrics[2].item<double>();
}

}  // namespace geosft
