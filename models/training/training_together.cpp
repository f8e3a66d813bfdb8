// SPDX-License-Identifier: Apache-2.0
#include "models/training/training_together.h"

#include <exception>
#include <vector>

namespace geosft {
namespace {

// Equal for equal weights, on every machine: the order of a sum of integers does not count.
int64_t sum_of_bits(const torch::nn::Module& module) {
  uint64_t sum = 0;
  for (const at::Tensor& parameter : module.parameters()) {
    const at::Tensor bits = parameter.detach().contiguous().view(parameter.element_size() == 8 ? at::kLong : at::kInt);
    sum += static_cast<uint64_t>(bits.sum().item<int64_t>());
  }
  return static_cast<int64_t>(sum);
}

}  // namespace

// Whatever differs here would let the processes wait for each other forever, or train different models.
void check_alike(const Communicator& processes, const torch::nn::Module& module, int64_t epoch,
                 at::IntArrayRef position) {
  if (processes.size() == 1) return;
  std::vector<int64_t> numbers = position.vec();
  numbers.insert(numbers.end(), {epoch, sum_of_bits(module)});
  const at::Tensor here = at::tensor(numbers, at::kLong);
  const bool same = at::equal(processes.from_leader(here), here);
  TORCH_CHECK(!processes.any(!same), "the processes do not hold the same weights and position in epoch ", epoch + 1,
              ": all must see the same data, configuration and checkpoint");
}

std::optional<Tally> validated_by_leader(TrainingTask& task, const Communicator& processes) {
  constexpr double stopped = 0, nothing = 1, tallied = 2;
  at::Tensor numbers = at::zeros({4}, at::kDouble);
  std::exception_ptr error;
  if (processes.leads()) {
    try {
      const std::optional<Tally> found = task.validate();
      const Tally tally = found.value_or(Tally());
      numbers = at::tensor({found ? tallied : nothing, tally.loss, tally.score, static_cast<double>(tally.items)},
                           at::kDouble);
    } catch (...) {
      error = std::current_exception();
    }
  }
  numbers = processes.from_leader(numbers);
  if (error) std::rethrow_exception(error);
  const double* const found = numbers.const_data_ptr<double>();
  if (found[0] == stopped) throw LeaderStopped();
  if (found[0] == nothing) return std::nullopt;
  return Tally{found[1], found[2], static_cast<int64_t>(found[3])};
}

}  // namespace geosft
