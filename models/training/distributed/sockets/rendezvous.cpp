// SPDX-License-Identifier: Apache-2.0
#include "models/training/distributed/sockets/rendezvous.h"

#include <c10/util/Logging.h>
#include <c10/util/StringUtil.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <boost/asio.hpp>
#include <cerrno>
#include <chrono>
#include <mutex>
#include <optional>
#include <random>
#include <stdexcept>
#include <thread>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>
#include <utility>

namespace geosft {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using Clock = std::chrono::steady_clock;

// Sent by a process that connects. The token, read from the store, rejects unauthenticated peers; it is also the reply.
struct Greeting {
  uint64_t token = 0;
  int64_t rank = 0;
};

// Silences LibTorch's log of connection attempts while an instance exists: errors are thrown.
class QuietStore {
 public:
  QuietStore() {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (alive_++ == 0) before_ = std::exchange(FLAGS_caffe2_log_level, c10::GLOG_FATAL);
  }
  ~QuietStore() {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (--alive_ == 0) FLAGS_caffe2_log_level = before_;
  }
  QuietStore(const QuietStore&) = delete;
  QuietStore& operator=(const QuietStore&) = delete;

 private:
  static inline std::mutex mutex_;
  static inline int alive_ = 0, before_ = 0;
};

class Rendezvous {
 public:
  Rendezvous(const RendezvousOptions& options, asio::io_context& context)
      : options_(options),
        context_(context),
        store_(c10::make_intrusive<c10d::TCPStore>(options.address, store_options(options))) {}

  std::vector<tcp::socket> accept_all() {
    tcp::acceptor listener = listen();
    const Greeting expected{new_token()};
    store_->set(listener_key(), c10::str(listener.local_endpoint().port(), ' ', expected.token));
    std::vector<std::optional<tcp::socket>> found(static_cast<size_t>(options_.size - 1));
    for (auto missing = found.begin(); missing != found.end();
         missing = std::find(missing, found.end(), std::nullopt)) {
      if (!readable(listener.native_handle(), deadline_)) fail_timeout(missing - found.begin() + 1);
      accept(listener.accept(), expected.token, found);
    }
    std::vector<tcp::socket> sockets;
    sockets.reserve(found.size());
    for (auto& socket : found) sockets.push_back(std::move(socket.value()));
    return sockets;
  }

  // After a restart by a launcher, the store may still hold the address of a closed listener: this retries until the
  // new one is published.
  std::vector<tcp::socket> connect_to_root() {
    for (;;) {
      try {
        std::vector<tcp::socket> sockets;
        sockets.push_back(connect(store_->get_to_str(listener_key())));
        return sockets;
      } catch (const boost::system::system_error&) {
        if (Clock::now() > deadline_) throw;
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
      }
    }
  }

 private:
  static c10d::TCPStoreOptions store_options(const RendezvousOptions& options) {
    c10d::TCPStoreOptions result;
    result.port = options.port;
    result.isServer = options.rank == 0 && !options.has_store;
    result.timeout = options.timeout;
    return result;
  }
  static uint64_t new_token() {
    std::random_device random;
    return uint64_t{random()} << 32 | random();
  }
  // Disables Nagle's algorithm and shortens the keep-alive intervals: a process that waits for an unreachable machine
  // notices within 90 seconds (instead of two hours), one that has sent data within the system's 15 minutes.
  // TCP_USER_TIMEOUT would shorten the latter, but it would also close connections to a process that is only slow to
  // read.
  static void prepare(tcp::socket& socket) {
    socket.set_option(tcp::no_delay(true));
    socket.set_option(asio::socket_base::keep_alive(true));
    const int descriptor = socket.native_handle();
    set_tcp_option(descriptor, TCP_KEEPIDLE, 30);   // seconds of silence before the first probe
    set_tcp_option(descriptor, TCP_KEEPINTVL, 10);  // seconds between two probes
    set_tcp_option(descriptor, TCP_KEEPCNT, 6);     // unanswered probes before the connection is closed
  }
  static void set_tcp_option(int descriptor, int name, int value) {
    if (::setsockopt(descriptor, IPPROTO_TCP, name, &value, sizeof(value)) != 0) {
      throw boost::system::system_error(errno, boost::system::system_category());
    }
  }
  // Returns whether there is data to read before `until`.
  static bool readable(int descriptor, Clock::time_point until) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
    pollfd waited{descriptor, POLLIN, 0};
    return ::poll(&waited, 1, static_cast<int>(std::max<int64_t>(left, 0))) > 0;
  }

  // Reads so many bytes, and returns whether they came before `until`.
  static bool read_before(tcp::socket& socket, void* data, size_t bytes, Clock::time_point until) {
    boost::system::error_code error;
    for (size_t got = 0; got < bytes;) {
      if (!readable(socket.native_handle(), until)) return false;
      got += socket.read_some(asio::buffer(static_cast<char*>(data) + got, bytes - got), error);
      if (error) return false;
    }
    return true;
  }

  // A process that connects again has not received the reply: its new connection replaces the old one.
  void accept(tcp::socket socket, uint64_t token, std::vector<std::optional<tcp::socket>>& found) const {
    Greeting greeting;
    boost::system::error_code error;
    if (!read_before(socket, &greeting, sizeof(Greeting), Clock::now() + std::chrono::seconds(5))) return;
    if (greeting.token != token) return;  // an unauthenticated peer
    prepare(socket);
    asio::write(socket, asio::buffer(&token, sizeof(token)), error);
    found.at(static_cast<size_t>(greeting.rank - 1)) = std::move(socket);
  }
  tcp::socket connect(const std::string& listener) const {
    const size_t blank = listener.find(' ');
    tcp::socket socket(context_);
    asio::connect(socket, tcp::resolver(context_).resolve(options_.address, listener.substr(0, blank)));
    prepare(socket);
    const Greeting greeting{std::stoull(listener.substr(blank + 1)), options_.rank};
    asio::write(socket, asio::buffer(&greeting, sizeof(Greeting)));
    uint64_t answer = 0;
    if (!read_before(socket, &answer, sizeof(answer), Clock::now() + std::chrono::seconds(60))) {
      throw boost::system::system_error(asio::error::timed_out);
    }
    if (answer != greeting.token) throw boost::system::system_error(asio::error::connection_refused);
    return socket;
  }

  std::string listener_key() const { return "geosft/" + options_.round + "/listener"; }
  // Listens on IPv6 and IPv4 if the system has both.
  tcp::acceptor listen() {
    try {
      return {context_, tcp::endpoint(tcp::v6(), 0)};
    } catch (const boost::system::system_error&) {
      return {context_, tcp::endpoint(tcp::v4(), 0)};
    }
  }
  [[noreturn]] void fail_timeout(int64_t rank) const {
    throw std::runtime_error(c10::str("process ", rank, " of ", options_.size, " has not come to ", options_.address,
                                      ":", options_.port, " within ", options_.timeout.count(), " s"));
  }

  const RendezvousOptions& options_;
  asio::io_context& context_;
  Clock::time_point deadline_ = Clock::now() + options_.timeout;
  c10::intrusive_ptr<c10d::Store> store_;
};

}  // namespace

std::vector<tcp::socket> rendezvous(const RendezvousOptions& options, asio::io_context& context) {
  const auto fail = [&](const std::string& why) {
    throw std::runtime_error(c10::str("process ", options.rank, " of ", options.size,
                                      " cannot connect to the others at ", options.address, ":", options.port, ": ",
                                      why));
  };
  try {
    const QuietStore quiet;
    Rendezvous here(options, context);
    return options.rank == 0 ? here.accept_all() : here.connect_to_root();
  } catch (const c10::Error& error) {
    fail(error.what_without_backtrace());
  } catch (const boost::system::system_error& error) {
    fail(error.what());
  }
  return {};
}

}  // namespace geosft
