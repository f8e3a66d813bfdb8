// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/batch_size_finder.h"

#include <catch2/catch.hpp>

#include <new>
#include <vector>

#include "tests/support.h"
#include "tests/tools/experiment/captured_stderr.h"

namespace geosft::test::test_batch_size_finder {
namespace {

// As process 1 of so many as far as that is asked for: nobody is there to sum with.
class OneOf : public Communicator {
 public:
  explicit OneOf(int64_t size) : size_(size) {}
  int64_t rank() const override { return size_ == 1 ? 0 : 1; }
  int64_t size() const override { return size_; }
  std::unique_ptr<Work> all_reduce(const at::Tensor&) const override { throw std::logic_error("a sum"); }
  void drain() const override { sums_ended_ = true; }
  bool sums_ended() const { return sums_ended_; }

 private:
  int64_t size_;
  mutable bool sums_ended_ = false;
};

// Has room for so many items, and notes what it was asked for; trainings fail for want of memory.
struct Training {
  int64_t room;
  std::vector<int64_t> tried = {};
  const OneOf* together = nullptr;

  bool operator()(int64_t batch_size, RunStart start, const Communicator& processes) {
    if (start != RunStart::trial) {
      together = dynamic_cast<const OneOf*>(&processes);
      throw std::bad_alloc();
    }
    CHECK(processes.size() == 1);
    CHECK(together->sums_ended());
    tried.push_back(batch_size);
    if (batch_size > room) throw std::bad_alloc();
    return true;
  }
};

void require_advice(Training training, const std::string& end, const std::vector<int64_t>& tried, int64_t processes = 1,
                    const BatchLimit& limit = {20}) {
  const OneOf together(processes);
  const auto train = [&] { train_within_memory(limit, RunStart::fresh, together, std::ref(training)); };
  const CapturedStderr said;
  require_error(train, {"out of memory" + end});
  CHECK(said.text() == (processes > 1 ? "process 1: " : "") + std::string("out of memory: trying smaller batches\n"));
  CHECK(training.tried == tried);
}

}  // namespace

TEST_CASE("a training that needs too much memory names the largest batch of halves that there is room for") {
  require_advice({6}, "; a step has room with --batch-size 5 (tried)", {20, 10, 5});
  require_advice({1}, "; a step has room with --batch-size 1 (tried)", {20, 10, 5, 2, 1});
  require_advice({0}, "; not even a step with --batch-size 1 has room", {20, 10, 5, 2, 1});
  // The training failed, but not for its steps.
  require_advice({20}, ". A smaller --batch-size (when evaluating", {20});
}

TEST_CASE("one of several processes that needs too much memory tries its share of the batch alone") {
  require_advice({3}, "; a step has room with --batch-size 3 a process (tried)", {7, 3}, 3);
  require_advice({0}, "; not even a step with --batch-size 1 has room", {1}, 20);
}

TEST_CASE("a training whose batches another option limits names that one, for all processes together") {
  const BatchLimit nodes{20, "--batch-nodes", /*of_each_process=*/false};
  require_advice({6}, "; a step has room with --batch-nodes 5 (tried)", {20, 10, 5}, 1, nodes);
  require_advice({3}, "; a step has room with --batch-nodes 9 (tried)", {7, 3}, 3, nodes);
  require_advice({0}, "; not even a step with --batch-nodes 20 has room", {1}, 20, nodes);
  require_advice({20}, ". A smaller --batch-nodes (when evaluating", {20}, 1, nodes);
}

TEST_CASE("an evaluation that needs too much memory names the largest batch of halves that there is room for") {
  std::vector<int64_t> tried, heard;
  const auto evaluate = [&](int64_t room) {
    return [&, room](int64_t batch_size, const BatchProgress& progress) {
      for (int64_t done = 0; done < 40; done += batch_size) {
        tried.push_back(batch_size);
        // The second batch of 20 wants more than the first one does.
        if (batch_size + (done == 20 ? 5 : 0) > room) throw std::bad_alloc();
        progress(done + batch_size);
      }
      return std::string("all");
    };
  };
  const auto hear = [&](int64_t done) { heard.push_back(done); };
  CHECK(evaluate_within_memory(20, hear, evaluate(30)) == "all");
  CHECK(evaluate_within_memory(20, {}, evaluate(30)) == "all");
  CHECK(heard == std::vector<int64_t>{20, 40});
  const auto require_advice = [&](int64_t room, const std::string& end, const std::vector<int64_t>& batches) {
    tried.clear();
    require_error([&] { evaluate_within_memory(20, hear, evaluate(room)); }, {"out of memory" + end});
    CHECK(tried == batches);
  };
  require_advice(6, "; a batch has room with --evaluation-batch 5 (tried)", {20, 20, 10, 5});
  require_advice(
      0, "; not even a batch with --evaluation-batch 1 has room; of one large cloud, geosft-segment's --block N",
      {20, 20, 10, 5, 2, 1});
  require_advice(20, ". A smaller --batch-size (when evaluating", {20, 20, 20});
  CHECK(heard == std::vector<int64_t>{20, 40, 20});
  const auto other = [](int64_t, const BatchProgress&) -> int { throw std::runtime_error("disk full"); };
  require_error([&] { evaluate_within_memory(20, {}, other); }, {"disk full"});
}

TEST_CASE("a training with enough memory, and one with other troubles, is left alone") {
  for (const bool done : {true, false}) {
    CHECK(train_within_memory({4}, RunStart::resumed, one_process(),
                              [&](int64_t batch_size, RunStart start, const Communicator&) {
                                CHECK((batch_size == 4 && start == RunStart::resumed));
                                return done;
                              }) == done);
  }
  const auto other = [](int64_t, RunStart, const Communicator&) -> bool { throw std::runtime_error("disk full"); };
  require_error([&] { train_within_memory({4}, RunStart::fresh, one_process(), other); }, {"disk full"});
  const auto both = [](int64_t, RunStart start, const Communicator&) -> bool {
    if (start == RunStart::trial) throw std::runtime_error("disk full");
    throw std::bad_alloc();
  };
  require_error([&] { train_within_memory({4}, RunStart::fresh, one_process(), both); }, {"out of memory. A smaller"});
  const auto refused = [](int64_t, RunStart start, const Communicator&) -> bool {
    if (start == RunStart::trial) return false;
    throw std::bad_alloc();
  };
  require_error([&] { train_within_memory({4}, RunStart::fresh, one_process(), refused); },
                {"out of memory. A smaller"});
}

}  // namespace geosft::test::test_batch_size_finder
