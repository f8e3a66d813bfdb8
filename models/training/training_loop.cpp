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
#include "models/training/training_together.h"

namespace geosft {
namespace {

// A run whose gradients are not finite so many times in a row has diverged.
constexpr int64_t tolerated_non_finite_steps = 20;

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

// What is read of a step later, float64.
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
    exchange_ =
        std::make_unique<GradientExchange>(processes, task.module().parameters(), bucket_bytes_for(processes.size()));
  if (processes.size() == 1 && !options.step_graphs && device_.is_cpu() && dynamic_cast<ReplayableTask*>(&task))
    split_ = std::make_unique<SplitStep>(task.module().parameters(), options.autocast, options.threads);
  if (!options.step_graphs) return;
  TORCH_CHECK(dynamic_cast<ReplayableTask*>(&task) != nullptr,
              "task must be a ReplayableTask for steps to be replayed");
  TORCH_CHECK(processes.size() == 1, "processes must be one for steps to be replayed, there are ", processes.size());
  replay_ = std::make_unique<StepReplay>(options.step_graphs, generator_, device_);
}

bool TrainingLoop::run(TrainingObserver& observer) try {
  while (epoch_ < options_.epochs) {
    check_alike(processes_, task_.module(), epoch_, {step_in_epoch_, optimization_.steps(), task_.steps_per_epoch()});
    task_.start_epoch(epoch_, step_in_epoch_);
    while (step_in_epoch_ < task_.steps_per_epoch()) {
      if (processes_.any(observer.stop_requested())) {
        settle_all(observer);
        return false;
      }
      train_step(observer);
    }
    settle_all(observer);
    finish_epoch(observer);
  }
  return true;
} catch (const LeaderStopped&) {
  return false;
}

// False when the model refused its own activations; `refusal` is what it said.
bool TrainingLoop::forward(TrainingTask::Step& step, std::string& refusal) {
  try {
    const Autocast autocast(device_.type(), options_.autocast);
    step = task_.step(generator_);
    return true;
  } catch (const NonFiniteError& error) {
    refusal = error.what_without_backtrace();
    return false;
  }
}

TrainingLoop::Together TrainingLoop::together(const TrainingTask::Step& step, bool refused) const {
  const int64_t size = processes_.size();
  Together all;
  if (!refused) all.terms = step.terms.value_or(static_cast<double>(step.tally.items));
  at::Tensor numbers = at::zeros({2 + size}, at::kDouble);  // terms, items, then who refused
  double* const here = numbers.data_ptr<double>();
  here[0] = all.terms;
  here[1] = refused ? 0.0 : static_cast<double>(step.tally.items);
  here[2 + processes_.rank()] = refused ? 1.0 : 0.0;
  if (exchange_) processes_.start_sum(numbers)->wait();
  if (exchange_ && here[0] > 0) all.weight = all.terms / here[0];
  all.items = static_cast<int64_t>(here[1]);
  for (int64_t i = size; i-- > 0;) {
    if (here[2 + i] > 0) all.refused_in = i;
  }
  return all;
}

// Of all processes, float64 [2 + size]: loss and score summed over the items, then whose loss is not finite.
at::Tensor TrainingLoop::summed(const TrainingTask::Step& step, const Together& all) const {
  at::Tensor own = step.sums.defined() ? step.sums : at::tensor({step.tally.loss, step.tally.score}, at::kDouble);
  if (!exchange_) return own;
  at::Tensor numbers = at::zeros({2 + processes_.size()}, own.options());
  if (all.terms > 0) {
    const at::Tensor loss = step.loss.detach().to(own.options());
    numbers[0].copy_(loss * (all.weight * static_cast<double>(all.items)));
    numbers[1].copy_(own[1]);
    numbers[2 + processes_.rank()].copy_(at::isfinite(loss).logical_not());
  }
  processes_.start_sum(numbers)->wait();
  return numbers;
}

void TrainingLoop::read_sums(const at::Tensor& sums, Enqueued& step) const {
  step.tally.loss = sums[0].item<double>();
  step.tally.score = sums[1].item<double>();
  if (!exchange_) return;
  int64_t shown = 0;  // without a loss that is not finite the leader's batch is as good as any
  for (int64_t i = processes_.size(); i-- > 0;) {
    if (sums[2 + i].item<double>() > 0) shown = i;
  }
  step.shows_batch = shown == processes_.rank();
}

void TrainingLoop::backward(const TrainingTask::Step& step, double weight) {
  if (!exchange_) return optimization_.scaled(step.loss).backward();
  exchange_->begin();
  optimization_.scaled(step.loss * weight).backward();
  exchange_->finish();
}

// Nothing is known of it: not its norm, and not its loss.
TrainingLoop::Enqueued TrainingLoop::begun_step() const {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  return {{epoch_, step_in_epoch_ + 1, 0, {}, 0.0, nan}, {nan, 0.0, 0}, {}};
}

double TrainingLoop::epochs_so_far() const {
  return static_cast<double>(epoch_) +
         static_cast<double>(step_in_epoch_) / static_cast<double>(task_.steps_per_epoch());
}

TrainingLoop::Enqueued TrainingLoop::enqueue_replayable(ReplayableTask& task) {
  Enqueued enqueued = begun_step();
  task.take_batch();
  enqueued.batch = task.last_batch();
  const StepInputs inputs = task.inputs();
  enqueued.tally.items = inputs.items;
  optimization_.begin_step(epochs_so_far());
  const at::Tensor numbers = replay_->run(inputs, [&](SeedTape& seeds) {
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
  Enqueued enqueued = begun_step();
  std::optional<IntraOpThreads> single(1);  // batches are put together by many short loops
  task.take_batch();
  if (!SplitStep::is_small(task.batch_size())) single.reset();
  enqueued.batch = task.last_batch();
  const SplitStep::Result result =
      split_->run(task, generator_, [&](const at::Tensor& loss) { return optimization_.scaled(loss); });
  enqueued.refusal = result.refusal;
  if (!result.refusal.empty()) return enqueued;
  enqueued.tally = result.tally;
  enqueued.report.gradient_norm = optimization_.step(epochs_so_far());
  return enqueued;
}

// Forward, backward and optimiser; a norm of NaN when the model refused its own activations.
TrainingLoop::Enqueued TrainingLoop::enqueue_step() {
  if (replay_) return enqueue_replayable(dynamic_cast<ReplayableTask&>(task_));
  if (split_) return split_step(dynamic_cast<ReplayableTask&>(task_));
  Enqueued enqueued = begun_step();
  const at::Tensor drawn_so_far = exchange_ ? generator_.get_state() : at::Tensor();
  TrainingTask::Step step;
  const Together all = together(step, !forward(step, enqueued.refusal));
  enqueued.batch = task_.last_batch();
  if (all.refused_in != Together::none) {
    enqueued.shows_batch = all.refused_in == processes_.rank();
    // How far the generators got before the refusal differs between processes.
    if (exchange_) generator_.set_state(drawn_so_far);
    return enqueued;
  }
  enqueued.tally.items = all.items;
  const at::Tensor sums = summed(step, all);
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
  // A step that is to be replayed is captured at its second time, into memory of its own.
  for (int i = replay_ ? 2 : 1; i > 0; --i) {
    task_.start_epoch(epoch_, 0);
    const Enqueued step = enqueue_step();
    if (step.numbers) step.numbers->values();
    if (!step.refusal.empty()) return false;
  }
  return true;
}

void TrainingLoop::settle(Enqueued& step, TrainingObserver& observer) {
  if (step.numbers) {
    const at::Tensor& numbers = step.numbers->values();
    processes_.check();
    step.report.gradient_norm = numbers[0].item<double>();
    read_sums(numbers.slice(0, 1), step);
  }
  StepReport& report = step.report;
  const Tally& tally = step.tally;
  tally_.add(tally);
  non_finite_steps_ = std::isfinite(report.gradient_norm) ? 0 : non_finite_steps_ + 1;
  refusal_ = step.refusal;
  if (non_finite_steps_ > 0 && !(scaled_loss_ && std::isfinite(tally.loss))) pass_over(step, report, observer);
  if (non_finite_steps_ >= tolerated_non_finite_steps) fail();
  report.epoch_so_far = tally_;
  observer.on_step(report);
}

void TrainingLoop::pass_over(const Enqueued& step, const StepReport& report, TrainingObserver& observer) {
  observer.on_non_finite({report, non_finite_steps_, refusal_, step.batch, step.shows_batch});
  processes_.meet();  // the batch is there before the run is stopped for it
  TORCH_CHECK(!options_.stop_at_non_finite, "the loss or its gradient is not finite in step ", report.step_in_epoch,
              " of epoch ", report.epoch + 1, refusal_.empty() ? "" : " (" + refusal_ + ")",
              "; the run was to stop there");
}

void TrainingLoop::settle_last(TrainingObserver& observer) {
  if (!last_) return;
  Enqueued step = *std::exchange(last_, std::nullopt);
  settle(step, observer);
}

// What is saved next comes of whole sums: where one was broken off, the processes do not meet.
void TrainingLoop::settle_all(TrainingObserver& observer) {
  settle_last(observer);
  processes_.meet();
}

void TrainingLoop::train_step(TrainingObserver& observer) {
  task_.module().train();
  Enqueued step = enqueue_step();
  if (const auto chosen = split_ ? split_->take_news() : std::nullopt) observer.on_threads_chosen(*chosen);
  ++step_in_epoch_;
  step.report.step = optimization_.steps();
  step.report.learning_rate = optimization_.learning_rate();
  settle_last(observer);
  if (step.numbers) {
    last_ = std::move(step);
  } else {
    settle(step, observer);
  }
}

std::optional<Tally> TrainingLoop::validated() {
  const Optimization::AveragedWeights averaged(optimization_);
  task_.module().eval();
  try {
    return processes_.size() == 1 ? task_.validate() : validated_by_leader(task_, processes_);
  } catch (const NonFiniteError& error) {
    refusal_ = error.what_without_backtrace();
    fail();
  }
}

void TrainingLoop::finish_epoch(TrainingObserver& observer) {
  const bool last = epoch_ + 1 == options_.epochs;
  const bool whole_epoch = non_finite_steps_ >= task_.steps_per_epoch();
  EpochReport report{epoch_, optimization_.steps(), tally_, std::nullopt, optimization_.learning_rate(), true,
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
  tally_ = Tally();
  observer.on_epoch(report);
  if (last && report.diverging) fail();
}

void TrainingLoop::fail() const {
  const int64_t epoch = std::min(epoch_ + 1, options_.epochs);
  TORCH_CHECK(false, "training diverged in epoch ", epoch, ": ",
              non_finite_steps_ == 0
                  ? std::string("validation failed")
                  : "the gradient was not finite in " + std::to_string(non_finite_steps_) + " steps in a row",
              refusal_.empty() ? "" : " (" + refusal_ + ")", "; a lower learning_rate may help");
}

std::map<std::string, at::Tensor> TrainingLoop::state() const {
  std::map<std::string, at::Tensor> saved;
  for (const auto& [name, tensor] : module_state(task_.module())) saved.emplace("model." + name, tensor);
  for (const auto& [name, tensor] : optimization_.state()) saved.emplace("optimizer." + name, tensor);
  saved.emplace("generator", generator_.get_state());
  saved.emplace("position", at::tensor({epoch_, step_in_epoch_, tally_.items, non_finite_steps_}, at::kLong));
  saved.emplace("tally", at::tensor({tally_.loss, tally_.score, best_score_}, at::kDouble));
  return saved;
}

void TrainingLoop::load_state(const std::map<std::string, at::Tensor>& state) {
  load_module_state(task_.module(), below(state, "model."));
  optimization_.load_state(below(state, "optimizer."));
  generator_.set_state(entry(state, "generator"));
  const at::Tensor& position = entry(state, "position");
  const at::Tensor& tally = entry(state, "tally");
  TORCH_CHECK(position.numel() == 4 && tally.numel() == 3, "the saved training state has a broken position");
  epoch_ = position[0].item<int64_t>();
  step_in_epoch_ = position[1].item<int64_t>();
  tally_ = {tally[0].item<double>(), tally[1].item<double>(), position[2].item<int64_t>()};
  non_finite_steps_ = position[3].item<int64_t>();
  best_score_ = tally[2].item<double>();
}

}  // namespace geosft
