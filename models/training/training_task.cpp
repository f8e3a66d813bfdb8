// SPDX-License-Identifier: Apache-2.0
#include "models/training/training_task.h"

#include "models/summary.h"

namespace geosft {

void MetricSum::add(const MetricSum& other) {
  loss += other.loss;
  score += other.score;
  items += other.items;
}

TrainingTask::Step ReplayableTask::step(at::Generator& generator) {
  take_batch();
  RngBuffer seeds(generator, device_of(module()));
  return compute(seeds);
}

TrainingTask::Step ReplayableTask::compute_part(int64_t, int64_t parts, RngBuffer& seeds) {
  TORCH_CHECK(parts == 1, "parts must be 1 for a task that has no batch_size, got ", parts);
  return compute(seeds);
}

TrainingTask::Step measured_step(const at::Tensor& loss, const at::Tensor& score, int64_t items,
                                 std::optional<double> terms) {
  const double count = static_cast<double>(items);
  if (loss.device().is_cpu()) return {loss, {loss.item<double>() * count, score.item<double>(), items}, {}, terms};
  const at::Tensor summed = loss.detach().to(at::kDouble) * count;
  return {loss, {0.0, 0.0, items}, at::stack({summed, score.detach().to(at::kDouble)}), terms};
}

}  // namespace geosft
