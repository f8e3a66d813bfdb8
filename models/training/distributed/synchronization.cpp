// SPDX-License-Identifier: Apache-2.0
#include "models/training/distributed/synchronization.h"

#include <exception>
#include <vector>

#include "geometry/splitmix64.h"

namespace geosft {
namespace {

// Returns a checksum of the bits of all parameters in their order. A sum of these would not see that a positive and a
// negative weight change by the same amount.
int64_t checksum(const torch::nn::Module& module) {
  uint64_t sum = 0;
  for (const at::Tensor& parameter : module.parameters()) {
    const at::ScalarType of_bits = parameter.element_size() == 8 ? at::kLong : at::kInt;
    const at::Tensor bits = parameter.detach().contiguous().view(of_bits).to(at::kCPU, at::kLong);
    const int64_t* const each = bits.const_data_ptr<int64_t>();
    for (int64_t i = 0; i < bits.numel(); ++i) sum = splitmix64_finalizer(sum + static_cast<uint64_t>(each[i]));
  }
  return static_cast<int64_t>(sum);
}

}  // namespace

// A difference here would make the processes deadlock, or train different models.
void check_same_state(const Communicator& processes, const torch::nn::Module& module, int64_t epoch,
                      at::IntArrayRef position) {
  if (processes.size() == 1) return;
  std::vector<int64_t> numbers = position.vec();
  numbers.insert(numbers.end(), {epoch, checksum(module)});
  const at::Tensor here = at::tensor(numbers, at::kLong);
  const bool same = at::equal(processes.broadcast(here), here);
  TORCH_CHECK(!processes.any(!same), "the processes do not hold the same weights and position in epoch ", epoch + 1,
              ": all must see the same data, configuration and checkpoint");
}

std::optional<MetricSum> validate_on_root(TrainingTask& task, const Communicator& processes) {
  constexpr double failed = 0, no_result = 1, has_result = 2;
  at::Tensor numbers = at::zeros({4}, at::kDouble);
  std::exception_ptr error;
  if (processes.is_root()) {
    try {
      const std::optional<MetricSum> found = task.validate();
      const MetricSum metrics = found.value_or(MetricSum());
      numbers =
          at::tensor({found ? has_result : no_result, metrics.loss, metrics.score, static_cast<double>(metrics.items)},
                     at::kDouble);
    } catch (...) {
      error = std::current_exception();
    }
  }
  numbers = processes.broadcast(numbers);
  if (error) std::rethrow_exception(error);
  const double* const found = numbers.const_data_ptr<double>();
  if (found[0] == failed) throw RootStopped();
  if (found[0] == no_result) return std::nullopt;
  return MetricSum{found[1], found[2], static_cast<int64_t>(found[3])};
}

}  // namespace geosft
