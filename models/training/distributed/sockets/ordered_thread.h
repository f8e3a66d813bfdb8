// SPDX-License-Identifier: Apache-2.0
// Runs queued tasks one after the other in its own thread.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <mutex>
#include <thread>

namespace geosft {

class OrderedThread {
 public:
  OrderedThread() : thread_([this] { work(); }) {}
  // Waits for the running task, and drops the queued ones: their futures then have no result.
  ~OrderedThread() {
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
      tasks_.clear();
    }
    changed_.notify_one();
    thread_.join();
  }
  OrderedThread(const OrderedThread&) = delete;
  OrderedThread& operator=(const OrderedThread&) = delete;

  // The future throws what the task throws.
  std::future<void> add(std::function<void()> task) {
    std::packaged_task<void()> packaged(std::move(task));
    std::future<void> done = packaged.get_future();
    {
      const std::lock_guard lock(mutex_);
      tasks_.push_back(std::move(packaged));
    }
    changed_.notify_one();
    return done;
  }

 private:
  void work() {
    for (;;) {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return ended_ || !tasks_.empty(); });
      if (ended_) return;
      std::packaged_task<void()> task = std::move(tasks_.front());
      tasks_.pop_front();
      lock.unlock();
      task();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::packaged_task<void()>> tasks_;
  bool ended_ = false;
  std::thread thread_;  // last: it uses the members above
};

}  // namespace geosft
