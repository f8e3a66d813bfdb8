// SPDX-License-Identifier: Apache-2.0
#include "models/training/sockets/socket_communicator.h"

#include <array>
#include <atomic>
#include <boost/asio.hpp>
#include <cstdlib>
#include <mutex>
#include <stdexcept>

#include "models/training/sockets/meeting.h"
#include "models/training/sockets/ordered_thread.h"

namespace geosft {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::system_error;

enum class Word : int64_t {
  sum,     // values follow: those of a process, or their sum
  failed,  // to process 0: the sender has, and asks whether to say why
  speak,   // from process 0: it shall
  stop,    // from process 0: it has ended, and why has been said
};

// What a message begins with; processes are of one program, so its bytes are as memory holds them.
struct Head {
  Word word;
  int64_t bytes = 0;
};

// All has been said, and the process can only end.
struct Stopped : std::runtime_error {
  Stopped() : std::runtime_error("process 0 has ended") {}
};

std::runtime_error lost(int64_t rank, int64_t size) {
  return std::runtime_error("process " + std::to_string(rank) + " of " + std::to_string(size) +
                            " has ended, or cannot be reached any more");
}

void send(tcp::socket& socket, const Head& head, const void* values = nullptr) {
  const std::array<asio::const_buffer, 2> buffers = {asio::buffer(&head, sizeof(Head)),
                                                     asio::buffer(values, static_cast<size_t>(head.bytes))};
  asio::write(socket, buffers);
}

// Whether the other side is still there shows when something is received from it.
void send_if_there(tcp::socket& socket, const Head& head, const void* values = nullptr) {
  try {
    send(socket, head, values);
  } catch (const system_error&) {
  }
}

Head receive_head(tcp::socket& socket) {
  Head head{Word::stop};
  asio::read(socket, asio::buffer(&head, sizeof(Head)));
  return head;
}

Head head_of(const at::Tensor& values) {
  return {Word::sum, static_cast<int64_t>(values.nbytes())};
}

void receive_values(tcp::socket& socket, const Head& head, const at::Tensor& values) {
  if (head.word != Word::sum || head.bytes != head_of(values).bytes) {
    throw std::runtime_error("processes are out of step: a sum of " + std::to_string(values.nbytes()) +
                             " bytes meets one of " + std::to_string(head.bytes));
  }
  asio::read(socket, asio::buffer(values.data_ptr(), values.nbytes()));
}

template <class Number>
void add(const at::Tensor& total, const at::Tensor& part) {
  auto* const sum = static_cast<Number*>(total.data_ptr());
  const auto* const more = static_cast<const Number*>(part.const_data_ptr());
  for (int64_t i = 0; i < total.numel(); ++i) sum[i] += more[i];
}

// LibTorch's own sum would start threads beside those of the training.
void add_to(const at::Tensor& total, const at::Tensor& part) {
  if (total.scalar_type() == at::kFloat) return add<float>(total, part);
  if (total.scalar_type() == at::kDouble) return add<double>(total, part);
  add<uint64_t>(total, part);  // int64, which wraps around
}

void check_summable(const at::Tensor& values) {
  TORCH_CHECK(values.is_cpu() && values.is_contiguous(), "values must be contiguous and on the CPU");
  const at::ScalarType type = values.scalar_type();
  TORCH_CHECK(type == at::kFloat || type == at::kDouble || type == at::kLong,
              "values must be float32, float64 or int64, got ", type);
}

// What a process does with its connections. All but leave() is called by one thread.
class Side {
 public:
  virtual ~Side() = default;
  virtual void sum(const at::Tensor& values) = 0;
  // Of a failed process: whether it shall say why.
  virtual bool may_speak() = 0;
  // Ends what the thread waits for, and the other processes.
  virtual void leave() = 0;
};

class LeadingSide : public Side {
 public:
  explicit LeadingSide(std::vector<tcp::socket> others) : others_(std::move(others)) {}

  void sum(const at::Tensor& values) override {
    const at::Tensor part = at::empty_like(values);
    for (size_t i = 0; i < others_.size(); ++i) {
      receive(i, part);
      add_to(values, part);
    }
    const std::lock_guard lock(sending_);
    for (tcp::socket& other : others_) send_if_there(other, head_of(values), values.const_data_ptr());
  }
  bool may_speak() override { return !another_spoke_; }
  void leave() override {
    const std::lock_guard lock(sending_);  // not in the middle of a sum
    boost::system::error_code gone;
    for (tcp::socket& other : others_) {
      send_if_there(other, {Word::stop});
      other.shutdown(tcp::socket::shutdown_both, gone);
    }
  }

 private:
  void receive(size_t i, const at::Tensor& part) {
    try {
      const Head head = receive_head(others_[i]);
      if (head.word == Word::failed) let_speak(others_[i]);
      receive_values(others_[i], head, part);
    } catch (const system_error&) {
      throw lost(static_cast<int64_t>(i + 1), static_cast<int64_t>(others_.size() + 1));
    }
  }
  void let_speak(tcp::socket& other) {
    another_spoke_ = true;
    send(other, {Word::speak});
    receive_head(other);  // throws when the other has spoken and ended
  }

  std::vector<tcp::socket> others_;
  std::mutex sending_;
  std::atomic<bool> another_spoke_ = false;
};

class OtherSide : public Side {
 public:
  OtherSide(tcp::socket leader, const MeetingPoint& point)
      : leader_(std::move(leader)), rank_(point.rank), size_(point.size) {}

  void sum(const at::Tensor& values) override {
    send_if_there(leader_, head_of(values), values.const_data_ptr());
    try {
      receive_values(leader_, hear(), values);
    } catch (const system_error&) {
      throw lost(0, size_);
    }
  }
  bool may_speak() override {
    send_if_there(leader_, {Word::failed});
    try {
      hear();
    } catch (const Stopped&) {
      return false;
    } catch (const system_error&) {
      return rank_ == 1;  // process 0 is lost, which one of the others says
    }
    return true;
  }
  void leave() override {
    boost::system::error_code gone;
    leader_.shutdown(tcp::socket::shutdown_both, gone);
  }

 private:
  Head hear() {
    if (stopped_) throw Stopped();
    const Head head = receive_head(leader_);
    stopped_ = head.word == Word::stop;
    if (stopped_) throw Stopped();
    return head;
  }

  tcp::socket leader_;
  int64_t rank_, size_;
  bool stopped_ = false;
};

class SocketCommunicator : public Communicator {
 public:
  explicit SocketCommunicator(const MeetingPoint& point) : rank_(point.rank), size_(point.size) {
    std::vector<tcp::socket> sockets = meet_at(point, context_);
    if (leads()) {
      side_ = std::make_unique<LeadingSide>(std::move(sockets));
    } else {
      side_ = std::make_unique<OtherSide>(std::move(sockets.front()), point);
    }
  }
  ~SocketCommunicator() override { side_->leave(); }
  SocketCommunicator(const SocketCommunicator&) = delete;
  SocketCommunicator& operator=(const SocketCommunicator&) = delete;

  int64_t rank() const override { return rank_; }
  int64_t size() const override { return size_; }
  std::unique_ptr<PendingSum> start_sum(const at::Tensor& values) const override {
    check_summable(values);
    return std::make_unique<Pending>(thread_.add([this, values] { side_->sum(values); }));
  }
  void await_turn_to_speak() const override {
    // The leading one asks nobody, so it does not wait for what its thread waits for, and stops the others.
    bool speaks = false;
    if (leads()) {
      speaks = side_->may_speak();
      side_->leave();
    } else {
      thread_.add([&] { speaks = side_->may_speak(); }).wait();
    }
    if (speaks) return;
    std::_Exit(EXIT_FAILURE);  // quietly: what went wrong has been said
  }

 private:
  class Pending : public PendingSum {
   public:
    explicit Pending(std::future<void> done) : done_(std::move(done)) {}
    void wait() override { done_.get(); }

   private:
    std::future<void> done_;
  };

  int64_t rank_, size_;
  asio::io_context context_;
  std::unique_ptr<Side> side_;
  mutable OrderedThread thread_;  // last: it uses the others
};

}  // namespace

std::unique_ptr<Communicator> join_by_sockets(const MeetingPoint& point) {
  return std::make_unique<SocketCommunicator>(point);
}

}  // namespace geosft
