// SPDX-License-Identifier: Apache-2.0
#include "models/training/distributed/sockets/socket_communicator.h"

#include <array>
#include <atomic>
#include <boost/asio.hpp>
#include <cstdlib>
#include <mutex>
#include <stdexcept>

#include "models/training/distributed/sockets/ordered_thread.h"
#include "models/training/distributed/sockets/rendezvous.h"

namespace geosft {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::system_error;

enum class MessageType : int64_t {
  sum,     // followed by the values of a process, or by their sum
  failed,  // to rank 0: the sender has failed, and asks whether to report its error
  report,  // from rank 0: the receiver shall report its error
  stop,    // from rank 0: rank 0 has ended, and the error has been reported
};

// The header of a message, sent in its memory layout: all processes run the same program.
struct Header {
  MessageType type;
  int64_t bytes = 0;
};

// Another process has reported the error; this one exits without a message.
struct Stopped : std::runtime_error {
  Stopped() : std::runtime_error("process 0 has ended") {}
};

std::runtime_error lost(int64_t rank, int64_t size) {
  return std::runtime_error("process " + std::to_string(rank) + " of " + std::to_string(size) +
                            " has ended, or cannot be reached any more");
}

void send(tcp::socket& socket, const Header& header, const void* values = nullptr) {
  const std::array<asio::const_buffer, 2> buffers = {asio::buffer(&header, sizeof(Header)),
                                                     asio::buffer(values, static_cast<size_t>(header.bytes))};
  asio::write(socket, buffers);
}

// Ignores a closed connection: receiving from it will report that.
void try_send(tcp::socket& socket, const Header& header, const void* values = nullptr) {
  try {
    send(socket, header, values);
  } catch (const system_error&) {
  }
}

Header receive_header(tcp::socket& socket) {
  Header header{MessageType::stop};
  asio::read(socket, asio::buffer(&header, sizeof(Header)));
  return header;
}

Header header_of(const at::Tensor& values) {
  return {MessageType::sum, static_cast<int64_t>(values.nbytes())};
}

void receive_values(tcp::socket& socket, const Header& header, const at::Tensor& values) {
  if (header.type != MessageType::sum || header.bytes != header_of(values).bytes) {
    throw std::runtime_error("processes are out of step: a sum of " + std::to_string(values.nbytes()) +
                             " bytes meets one of " + std::to_string(header.bytes));
  }
  asio::read(socket, asio::buffer(values.data_ptr(), values.nbytes()));
}

template <class Number>
void add(const at::Tensor& total, const at::Tensor& part) {
  auto* const sum = static_cast<Number*>(total.data_ptr());
  const auto* const more = static_cast<const Number*>(part.const_data_ptr());
  for (int64_t i = 0; i < total.numel(); ++i) sum[i] += more[i];
}

// A plain loop: LibTorch's own sum would start threads that compete with those of the training.
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

// The connections of a process. One thread calls all members but close().
class Endpoint {
 public:
  virtual ~Endpoint() = default;
  virtual void sum(const at::Tensor& values) = 0;
  // Called by a failed process; returns whether it shall report its error.
  virtual bool may_report() = 0;
  // Ends the other processes, and any call that the thread is blocked in.
  virtual void close() = 0;
};

class RootEndpoint : public Endpoint {
 public:
  explicit RootEndpoint(std::vector<tcp::socket> others) : others_(std::move(others)) {}

  void sum(const at::Tensor& values) override {
    const at::Tensor part = at::empty_like(values);
    for (size_t i = 0; i < others_.size(); ++i) {
      receive(i, part);
      add_to(values, part);
    }
    const std::lock_guard lock(sending_);
    for (tcp::socket& other : others_) try_send(other, header_of(values), values.const_data_ptr());
  }
  bool may_report() override { return !another_reported_; }
  void close() override {
    const std::lock_guard lock(sending_);  // not while a sum is being sent
    boost::system::error_code gone;
    for (tcp::socket& other : others_) {
      try_send(other, {MessageType::stop});
      other.shutdown(tcp::socket::shutdown_both, gone);
    }
  }

 private:
  void receive(size_t i, const at::Tensor& part) {
    try {
      const Header header = receive_header(others_[i]);
      if (header.type == MessageType::failed) let_report(others_[i]);
      receive_values(others_[i], header, part);
    } catch (const system_error&) {
      throw lost(static_cast<int64_t>(i + 1), static_cast<int64_t>(others_.size() + 1));
    }
  }
  void let_report(tcp::socket& other) {
    another_reported_ = true;
    send(other, {MessageType::report});
    receive_header(other);  // throws when the other has reported its error and ended
  }

  std::vector<tcp::socket> others_;
  std::mutex sending_;
  std::atomic<bool> another_reported_ = false;
};

class PeerEndpoint : public Endpoint {
 public:
  PeerEndpoint(tcp::socket root, const RendezvousOptions& options)
      : root_(std::move(root)), rank_(options.rank), size_(options.size) {}

  void sum(const at::Tensor& values) override {
    try_send(root_, header_of(values), values.const_data_ptr());
    try {
      receive_values(root_, receive(), values);
    } catch (const system_error&) {
      throw lost(0, size_);
    }
  }
  bool may_report() override {
    try_send(root_, {MessageType::failed});
    try {
      receive();
    } catch (const Stopped&) {
      return false;
    } catch (const system_error&) {
      return rank_ == 1;  // rank 0 is lost: rank 1 reports that
    }
    return true;
  }
  void close() override {
    boost::system::error_code gone;
    root_.shutdown(tcp::socket::shutdown_both, gone);
  }

 private:
  Header receive() {
    if (stopped_) throw Stopped();
    const Header header = receive_header(root_);
    stopped_ = header.type == MessageType::stop;
    if (stopped_) throw Stopped();
    return header;
  }

  tcp::socket root_;
  int64_t rank_, size_;
  bool stopped_ = false;
};

class SocketCommunicator : public Communicator {
 public:
  explicit SocketCommunicator(const RendezvousOptions& options) : rank_(options.rank), size_(options.size) {
    std::vector<tcp::socket> sockets = rendezvous(options, context_);
    if (is_root()) {
      endpoint_ = std::make_unique<RootEndpoint>(std::move(sockets));
    } else {
      endpoint_ = std::make_unique<PeerEndpoint>(std::move(sockets.front()), options);
    }
  }
  ~SocketCommunicator() override { endpoint_->close(); }
  SocketCommunicator(const SocketCommunicator&) = delete;
  SocketCommunicator& operator=(const SocketCommunicator&) = delete;

  int64_t rank() const override { return rank_; }
  int64_t size() const override { return size_; }
  std::unique_ptr<Work> all_reduce(const at::Tensor& values) const override {
    check_summable(values);
    return std::make_unique<SocketWork>(thread_.add([this, values] { endpoint_->sum(values); }));
  }
  void elect_error_reporter() const override {
    // Rank 0 decides by itself: it does not wait for its thread, and stops the others.
    bool reports = false;
    if (is_root()) {
      reports = endpoint_->may_report();
      endpoint_->close();
    } else {
      thread_.add([&] { reports = endpoint_->may_report(); }).wait();
    }
    if (reports) return;
    std::_Exit(EXIT_FAILURE);  // silently: the error has been reported
  }

 private:
  class SocketWork : public Work {
   public:
    explicit SocketWork(std::future<void> done) : done_(std::move(done)) {}
    void wait() override { done_.get(); }

   private:
    std::future<void> done_;
  };

  int64_t rank_, size_;
  asio::io_context context_;
  std::unique_ptr<Endpoint> endpoint_;
  mutable OrderedThread thread_;  // last: it uses the members above
};

}  // namespace

std::unique_ptr<Communicator> make_socket_communicator(const RendezvousOptions& options) {
  return std::make_unique<SocketCommunicator>(options);
}

}  // namespace geosft
