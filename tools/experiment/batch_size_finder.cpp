// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/batch_size_finder.h"

#include <iostream>
#include <optional>
#include <stdexcept>
#include <string>

#include "tools/experiment/main_guard.h"

namespace geosft {
namespace {

// Returns whether a batch of this size fits in memory; nullopt if that could not be tested.
using Trial = std::function<std::optional<bool>(int64_t batch_size)>;

// Wording of the error message: what is tried, its option, a suffix of the option ("a process"), advice if no size
// fits, by how much the option exceeds the size of a trial, and advice if the full size fits.
struct Wording {
  const char* what;
  const char* option;
  const char* whose = "";
  const char* otherwise = "";
  int64_t times = 1;
  std::string general = smaller_batches();
};

// Calls trial() and returns false if it runs out of memory.
template <class Try>
std::optional<bool> has_room(const Try& trial) {
  try {
    return trial();
  } catch (...) {
    if (!memory_error(std::current_exception())) return std::nullopt;
    return false;
  }
}

// Returns the end of the message.
std::string advice(int64_t batch_size, const Wording& words, const Trial& trial) {
  std::optional<bool> room = false;
  int64_t batch = batch_size;
  while (batch >= 1 && room == false && !interrupted()) {
    room = trial(batch);
    if (room == false) batch /= 2;
  }
  const std::string option = std::string(" with ") + words.option + " ";
  if (batch == 0) {
    return std::string("; not even ") + words.what + option + std::to_string(words.times) + " has room" +
           words.otherwise;
  }
  // The full size fits: memory ran out for another batch, of larger items, or elsewhere.
  if (room != true || batch == batch_size) return words.general;
  return std::string("; ") + words.what + " has room" + option + std::to_string(batch * words.times) + words.whose +
         " (tried)";
}

[[noreturn]] void refuse(const std::string& failed_allocation, int64_t batch_size, const Wording& words,
                         const Trial& trial) {
  const std::string end = advice(batch_size, words, trial);
  if (interrupted()) throw Interrupted(failed_allocation + ", while smaller batches were tried");
  throw std::runtime_error(failed_allocation + end);
}

struct FirstBatchDone {};

}  // namespace

bool train_within_memory(const BatchLimit& limit, RunStart start, const Communicator& processes,
                         const TrainBatches& train) {
  std::string failed_allocation;
  try {
    return train(limit.size, start, processes);
  } catch (...) {
    const std::optional<std::string> text = memory_error(std::current_exception());
    if (!text) throw;
    failed_allocation = *text;
  }
  // Outside the handler, where memory is free. Printed first: the system may kill the process.
  const bool several = processes.size() > 1;
  const std::string who = several ? "process " + std::to_string(processes.rank()) + ": " : "";
  std::cerr << who + failed_allocation + ": trying smaller batches\n";
  processes.drain();
  const int64_t share = (limit.size + processes.size() - 1) / processes.size();
  const Wording words{.what = "a step",
                      .option = limit.option,
                      .whose = several && limit.of_each_process ? " a process" : "",
                      .times = limit.of_each_process ? 1 : processes.size(),
                      .general = smaller_batches(limit.option)};
  refuse(failed_allocation, share, words, [&](int64_t size) {
    return has_room([&] { return train(size, RunStart::trial, one_process()) ? std::optional(true) : std::nullopt; });
  });
}

void refuse_large_batch(const std::exception_ptr& error, int64_t batch_size,
                        const std::function<void(int64_t batch_size, const BatchProgress& progress)>& evaluate) {
  const std::optional<std::string> failed_allocation = memory_error(error);
  if (!failed_allocation) return;
  refuse(*failed_allocation, batch_size,
         {.what = "a batch", .option = "--evaluation-batch", .otherwise = one_large_cloud}, [&](int64_t batch) {
           return has_room([&]() -> std::optional<bool> {
             try {
               evaluate(batch, [](int64_t) { throw FirstBatchDone(); });
             } catch (const FirstBatchDone&) {
             }
             return true;
           });
         });
}

}  // namespace geosft
