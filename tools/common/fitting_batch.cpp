// SPDX-License-Identifier: Apache-2.0
#include "tools/common/fitting_batch.h"

#include <iostream>
#include <optional>
#include <stdexcept>
#include <string>

#include "tools/common/main_guard.h"
#include "tools/common/memory_error.h"

namespace geosft {
namespace {

// Whether there is room for a step; nothing where something else kept it from being tried.
std::optional<bool> has_room(int64_t batch_size, const TrainBatches& train) {
  try {
    return train(batch_size, RunStart::trial) ? std::optional(true) : std::nullopt;
  } catch (...) {
    if (!memory_error(std::current_exception())) return std::nullopt;
    return false;
  }
}

// The end of the message.
std::string advice(int64_t batch_size, const TrainBatches& train) {
  std::optional<bool> room = false;
  int64_t batch = batch_size;
  while (batch >= 1 && room == false && !interrupted()) {
    room = has_room(batch, train);
    if (room == false) batch /= 2;
  }
  if (batch == 0) return "; not even a step with --batch-size 1 has room";
  // With all of the batch: what wanted memory was no step, or one of larger items than this.
  if (room != true || batch == batch_size) return smaller_batches;
  return "; a step has room with --batch-size " + std::to_string(batch) + " (tried)";
}

}  // namespace

bool train_within_memory(int64_t batch_size, RunStart start, const Communicator& processes, const TrainBatches& train) {
  std::string wanted;
  try {
    return train(batch_size, start);
  } catch (...) {
    const std::optional<std::string> text = memory_error(std::current_exception());
    if (!text || processes.size() > 1) throw;
    wanted = *text;
  }
  // Here, where the memory of the training is free. Said first, as a system with too little may end the process.
  std::cerr << wanted << ": trying smaller batches\n";
  const std::string end = advice(batch_size, train);
  if (interrupted()) throw Interrupted(wanted + ", while smaller batches were tried");
  throw std::runtime_error(wanted + end);
}

}  // namespace geosft
