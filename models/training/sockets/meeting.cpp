// SPDX-License-Identifier: Apache-2.0
#include "models/training/sockets/meeting.h"

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

// Sent by whoever comes to the door: `pass` was read in the store, and keeps strangers out. It is the answer, too.
struct Greeting {
  uint64_t pass = 0;
  int64_t rank = 0;
};

// While one lives LibTorch does not log what stores meet on their way: what matters is thrown.
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

class Meeting {
 public:
  Meeting(const MeetingPoint& point, asio::io_context& context)
      : point_(point),
        context_(context),
        store_(c10::make_intrusive<c10d::TCPStore>(point.address, options_of(point))) {}

  std::vector<tcp::socket> receive_all() {
    tcp::acceptor door = open_door();
    const Greeting expected{new_pass()};
    store_->set(door_key(), c10::str(door.local_endpoint().port(), ' ', expected.pass));
    std::vector<std::optional<tcp::socket>> found(static_cast<size_t>(point_.size - 1));
    for (auto missing = found.begin(); missing != found.end();
         missing = std::find(missing, found.end(), std::nullopt)) {
      if (!readable(door.native_handle(), deadline_)) complain(missing - found.begin() + 1);
      receive(door.accept(), expected.pass, found);
    }
    std::vector<tcp::socket> sockets;
    sockets.reserve(found.size());
    for (auto& socket : found) sockets.push_back(std::move(socket.value()));
    return sockets;
  }

  // Where a launcher has started the processes again, the door may be one that is closed for good: the new one comes.
  std::vector<tcp::socket> go_to_leader() {
    for (;;) {
      try {
        std::vector<tcp::socket> sockets;
        sockets.push_back(knock(store_->get_to_str(door_key())));
        return sockets;
      } catch (const boost::system::system_error&) {
        if (Clock::now() > deadline_) throw;
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
      }
    }
  }

 private:
  static c10d::TCPStoreOptions options_of(const MeetingPoint& point) {
    c10d::TCPStoreOptions options;
    options.port = point.port;
    options.isServer = point.rank == 0 && !point.has_store;
    options.timeout = point.patience;
    return options;
  }
  static uint64_t new_pass() {
    std::random_device random;
    return uint64_t{random()} << 32 | random();
  }
  // Small messages are not held back for larger ones. A machine that is cut off is noticed within a minute and a half
  // by who waits for it (the system's own times are two hours), within the quarter of an hour that the system takes by
  // who has sent it something. TCP_USER_TIMEOUT would make that shorter, but also end connections to a process that is
  // only slow: it counts the time in which one does not read, too.
  static void prepare(tcp::socket& socket) {
    socket.set_option(tcp::no_delay(true));
    socket.set_option(asio::socket_base::keep_alive(true));
    const int descriptor = socket.native_handle();
    set_tcp_option(descriptor, TCP_KEEPIDLE, 30);   // seconds of silence until it is asked
    set_tcp_option(descriptor, TCP_KEEPINTVL, 10);  // and between two questions
    set_tcp_option(descriptor, TCP_KEEPCNT, 6);     // questions without an answer
  }
  static void set_tcp_option(int descriptor, int name, int value) {
    if (::setsockopt(descriptor, IPPROTO_TCP, name, &value, sizeof(value)) != 0) {
      throw boost::system::system_error(errno, boost::system::system_category());
    }
  }
  // Whether there is something to read, in time.
  static bool readable(int descriptor, Clock::time_point until) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
    pollfd waited{descriptor, POLLIN, 0};
    return ::poll(&waited, 1, static_cast<int>(std::max<int64_t>(left, 0))) > 0;
  }

  // One that comes again has not got the answer.
  void receive(tcp::socket socket, uint64_t pass, std::vector<std::optional<tcp::socket>>& found) const {
    Greeting greeting;
    boost::system::error_code cut_off;
    if (!readable(socket.native_handle(), Clock::now() + std::chrono::seconds(5))) return;
    asio::read(socket, asio::buffer(&greeting, sizeof(Greeting)), cut_off);
    if (cut_off || greeting.pass != pass) return;  // no one of ours
    prepare(socket);
    asio::write(socket, asio::buffer(&pass, sizeof(pass)), cut_off);
    found.at(static_cast<size_t>(greeting.rank - 1)) = std::move(socket);
  }
  tcp::socket knock(const std::string& door) const {
    const size_t blank = door.find(' ');
    tcp::socket socket(context_);
    asio::connect(socket, tcp::resolver(context_).resolve(point_.address, door.substr(0, blank)));
    prepare(socket);
    const Greeting greeting{std::stoull(door.substr(blank + 1)), point_.rank};
    asio::write(socket, asio::buffer(&greeting, sizeof(Greeting)));
    uint64_t answer = 0;
    if (!readable(socket.native_handle(), Clock::now() + std::chrono::seconds(60))) {
      throw boost::system::system_error(asio::error::timed_out);
    }
    asio::read(socket, asio::buffer(&answer, sizeof(answer)));
    if (answer != greeting.pass) throw boost::system::system_error(asio::error::connection_refused);
    return socket;
  }

  std::string door_key() const { return "geosft/" + point_.round + "/door"; }
  // IPv6 and IPv4 where the system has both.
  tcp::acceptor open_door() {
    try {
      return {context_, tcp::endpoint(tcp::v6(), 0)};
    } catch (const boost::system::system_error&) {
      return {context_, tcp::endpoint(tcp::v4(), 0)};
    }
  }
  [[noreturn]] void complain(int64_t rank) const {
    throw std::runtime_error(c10::str("process ", rank, " of ", point_.size, " has not come to ", point_.address, ":",
                                      point_.port, " within ", point_.patience.count(), " s"));
  }

  const MeetingPoint& point_;
  asio::io_context& context_;
  Clock::time_point deadline_ = Clock::now() + point_.patience;
  c10::intrusive_ptr<c10d::Store> store_;
};

}  // namespace

std::vector<tcp::socket> meet_at(const MeetingPoint& point, asio::io_context& context) {
  const auto fail = [&](const std::string& why) {
    throw std::runtime_error(c10::str("process ", point.rank, " of ", point.size, " cannot meet the others at ",
                                      point.address, ":", point.port, ": ", why));
  };
  try {
    const QuietStore quiet;
    Meeting meeting(point, context);
    return point.rank == 0 ? meeting.receive_all() : meeting.go_to_leader();
  } catch (const c10::Error& error) {
    fail(error.what_without_backtrace());
  } catch (const boost::system::system_error& error) {
    fail(error.what());
  }
  return {};
}

}  // namespace geosft
