// SPDX-License-Identifier: Apache-2.0
#include "geometry/threads.h"

#include <ATen/Parallel.h>
#include <omp.h>

#include <algorithm>
#include <atomic>
#include <exception>

// From MKL, which some LibTorch builds include. 0 restores the limit of the process.
extern "C" int MKL_Set_Num_Threads_Local(int count) __attribute__((weak));

namespace geosft {
namespace {

int set_mkl_threads(int count) {
  return MKL_Set_Num_Threads_Local == nullptr ? 0 : MKL_Set_Num_Threads_Local(count);
}

}  // namespace

// at::set_num_threads would change the default of every thread started later; OpenMP's setting is per thread. LibTorch
// overwrites it at a thread's first parallel loop, once in libtorch_cpu and once in this library, which contains a copy
// of that code, so both are initialized first.
IntraOpThreads::IntraOpThreads(int count) {
  at::internal::lazy_init_num_threads();
  openmp_before_ = at::get_num_threads();
  mkl_before_ = set_mkl_threads(count);
  omp_set_num_threads(count);
}

IntraOpThreads::~IntraOpThreads() {
  omp_set_num_threads(openmp_before_);
  set_mkl_threads(mkl_before_);
}

// State of one call of run(), shared by its threads.
struct WorkerTeam::Job {
  const std::function<void(int64_t)>& work;
  int64_t count;
  std::atomic<int64_t> next = 0;
  std::atomic<bool> failed = false;
  std::mutex mutex = {};
  std::exception_ptr error = {};
  int64_t error_item = count;

  void take_items() {
    for (int64_t item = next++; item < count && !failed; item = next++) {
      try {
        work(item);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (item < error_item) {
          error = std::current_exception();
          error_item = item;
        }
        failed = true;
      }
    }
  }
};

WorkerTeam::WorkerTeam(int64_t size) {
  threads_.reserve(static_cast<size_t>(std::max<int64_t>(size - 1, 0)));
  try {
    for (int64_t number = 1; number < size; ++number) {
      threads_.emplace_back([this, number] { serve(number); });
    }
  } catch (...) {  // the system starts no more: those that run have to end before they are joined
    stop();
    throw;
  }
}

WorkerTeam::~WorkerTeam() {
  stop();
}

void WorkerTeam::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
}

void WorkerTeam::serve(int64_t number) {
  const IntraOpThreads single(1);
  int64_t seen = 0;
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return stopping_ || jobs_started_ > seen; });
    if (stopping_) return;
    seen = jobs_started_;
    if (number >= members_) continue;
    Job& job = *job_;
    lock.unlock();
    job.take_items();
    lock.lock();
    if (--members_left_ == 0) changed_.notify_all();
  }
}

void WorkerTeam::run(int64_t count, const std::function<void(int64_t)>& work, int64_t threads) {
  Job job{work, count};
  const int64_t members = std::min({threads > 0 ? threads : size(), size(), count});
  {
    const std::lock_guard lock(mutex_);
    job_ = &job;
    ++jobs_started_;
    members_ = members;
    members_left_ = std::max<int64_t>(members - 1, 0);
  }
  if (members > 1) changed_.notify_all();
  {
    const IntraOpThreads single(1);
    job.take_items();
  }
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return members_left_ == 0; });
  job_ = nullptr;
  if (job.error) std::rethrow_exception(job.error);
}

void parallel_items(int64_t count, int64_t threads, const std::function<void(int64_t)>& work) {
  WorkerTeam(std::min(threads, count)).run(count, work);
}

}  // namespace geosft
