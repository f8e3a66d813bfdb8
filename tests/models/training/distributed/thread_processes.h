// SPDX-License-Identifier: Apache-2.0
// Processes that are threads: what they do together is tested without MPI.
#pragma once

#include <condition_variable>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

#include "models/training/distributed/communicator.h"

namespace geosft::test {

class ThreadProcesses {
 public:
  explicit ThreadProcesses(int64_t size) : size_(size) {}

  // body() in a thread for each; throws what one of them threw first.
  void run(const std::function<void(const Communicator&)>& body) {
    std::vector<std::thread> threads;
    for (int64_t rank = 0; rank < size_; ++rank) {
      threads.emplace_back([&, rank] {
        try {
          body(Member(*this, rank));
        } catch (...) {
          fail(std::current_exception());
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    if (error_) std::rethrow_exception(error_);
  }

 private:
  // The sums are told apart by their number: all members start them in one order.
  struct Sum {
    std::vector<at::Tensor> parts;
    int64_t there = 0;
  };

  class Member : public Communicator {
   public:
    Member(ThreadProcesses& all, int64_t rank) : all_(all), rank_(rank) {}
    int64_t rank() const override { return rank_; }
    int64_t size() const override { return all_.size_; }
    std::unique_ptr<Work> all_reduce(const at::Tensor& values) const override {
      const int64_t number = started_++;
      all_.give(number, rank_, values);
      return std::make_unique<Pending>(all_, number, values);
    }

   private:
    ThreadProcesses& all_;
    int64_t rank_;
    mutable int64_t started_ = 0;
  };

  class Pending : public Work {
   public:
    Pending(ThreadProcesses& all, int64_t number, const at::Tensor& values)
        : all_(all), number_(number), values_(values) {}
    void wait() override { values_.copy_(all_.total(number_)); }

   private:
    ThreadProcesses& all_;
    int64_t number_;
    at::Tensor values_;
  };

  void give(int64_t number, int64_t rank, const at::Tensor& values) {
    const std::lock_guard lock(mutex_);
    Sum& sum = sums_[number];
    sum.parts.resize(static_cast<size_t>(size_));
    sum.parts[static_cast<size_t>(rank)] = values.clone();
    ++sum.there;
    changed_.notify_all();
  }

  at::Tensor total(int64_t number) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return error_ || sums_[number].there == size_; });
    if (sums_[number].there < size_) throw std::runtime_error("another process has failed");
    at::Tensor total = sums_[number].parts[0].clone();
    for (size_t i = 1; i < static_cast<size_t>(size_); ++i) {
      if (sums_[number].parts[i].sizes() != total.sizes()) throw std::logic_error("sums of different sizes");
      total += sums_[number].parts[i];
    }
    return total;
  }

  void fail(std::exception_ptr error) {
    const std::lock_guard lock(mutex_);
    if (!error_) error_ = std::move(error);
    changed_.notify_all();
  }

  int64_t size_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<int64_t, Sum> sums_;
  std::exception_ptr error_;
};

}  // namespace geosft::test
