// SPDX-License-Identifier: Apache-2.0
// Runs independent items on a team of threads, each item on one thread.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace geosft {

// Limits the parallel loops of LibTorch, MKL and our operators in the calling thread to `count` threads during its
// lifetime. Other threads are not affected.
class IntraOpThreads {
 public:
  explicit IntraOpThreads(int count);
  ~IntraOpThreads();
  IntraOpThreads(const IntraOpThreads&) = delete;
  IntraOpThreads& operator=(const IntraOpThreads&) = delete;

 private:
  int openmp_before_, mkl_before_;
};

// Calls a function for each of a number of items, on several threads. Between calls the threads sleep.
class WorkerTeam {
 public:
  // Starts `size` - 1 threads: the thread that calls run() is one of the team. Throws std::system_error where the
  // system starts no more.
  explicit WorkerTeam(int64_t size);
  ~WorkerTeam();
  WorkerTeam(const WorkerTeam&) = delete;
  WorkerTeam& operator=(const WorkerTeam&) = delete;

  int64_t size() const { return static_cast<int64_t>(threads_.size()) + 1; }

  // Calls work(0) … work(count - 1) on at most `threads` threads of the team (default: all). Each thread takes the next
  // item when it is free, and runs LibTorch single-threaded. After a call has thrown, no further item is started, and
  // the exception of the lowest item is rethrown. Only one thread may call run() at a time.
  void run(int64_t count, const std::function<void(int64_t)>& work, int64_t threads = 0);

 private:
  struct Job;
  void serve(int64_t number);
  void stop();

  std::mutex mutex_;
  std::condition_variable changed_;
  Job* job_ = nullptr;
  int64_t jobs_started_ = 0, members_ = 0, members_left_ = 0;
  bool stopping_ = false;
  std::vector<std::jthread> threads_;
};

// Runs a temporary WorkerTeam: for few and slow items, such as files.
void parallel_items(int64_t count, int64_t threads, const std::function<void(int64_t)>& work);

}  // namespace geosft
