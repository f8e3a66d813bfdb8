// SPDX-License-Identifier: Apache-2.0
#include "models/training/sockets/meeting.h"

#include <c10/util/Logging.h>
#include <c10/util/StringUtil.h>

#include <boost/asio.hpp>
#include <optional>
#include <random>
#include <stdexcept>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

namespace geosft {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

// Sent by whoever comes to the door: `pass` was read in the store, and keeps strangers out.
struct Greeting {
  uint64_t pass = 0;
  int64_t rank = 0;
};

// While it lives LibTorch does not log what the store meets on its way: what matters is thrown.
class QuietStore {
 public:
  QuietStore() { FLAGS_caffe2_log_level = c10::GLOG_FATAL; }
  ~QuietStore() { FLAGS_caffe2_log_level = before_; }
  QuietStore(const QuietStore&) = delete;
  QuietStore& operator=(const QuietStore&) = delete;

 private:
  int before_ = FLAGS_caffe2_log_level;
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
    store_->set(key("door"), c10::str(door.local_endpoint().port(), ' ', expected.pass));
    for (int64_t rank = 1; rank < point_.size; ++rank) wait_for(rank);
    std::vector<std::optional<tcp::socket>> found(static_cast<size_t>(point_.size - 1));
    for (size_t missing = found.size(); missing > 0;) {
      tcp::socket socket = door.accept();
      const Greeting greeting = read_greeting(socket);
      if (greeting.pass != expected.pass) continue;
      prepare(socket);
      found.at(static_cast<size_t>(greeting.rank - 1)) = std::move(socket);
      --missing;
    }
    std::vector<tcp::socket> sockets;
    for (auto& socket : found) sockets.push_back(std::move(socket.value()));
    return sockets;
  }

  std::vector<tcp::socket> go_to_leader() {
    const std::string door = store_->get_to_str(key("door"));
    const size_t blank = door.find(' ');
    tcp::socket socket(context_);
    asio::connect(socket, tcp::resolver(context_).resolve(point_.address, door.substr(0, blank)));
    prepare(socket);
    const Greeting greeting{std::stoull(door.substr(blank + 1)), point_.rank};
    asio::write(socket, asio::buffer(&greeting, sizeof(Greeting)));
    store_->set(key(c10::str(point_.rank)), std::string("here"));
    std::vector<tcp::socket> sockets;
    sockets.push_back(std::move(socket));
    return sockets;
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
  // Small messages are not held back for larger ones; a machine that is cut off is noticed some time.
  static void prepare(tcp::socket& socket) {
    socket.set_option(tcp::no_delay(true));
    socket.set_option(asio::socket_base::keep_alive(true));
  }
  static Greeting read_greeting(tcp::socket& socket) {
    Greeting greeting;
    boost::system::error_code cut_off;  // then the greeting is no one's
    asio::read(socket, asio::buffer(&greeting, sizeof(Greeting)), cut_off);
    return greeting;
  }

  std::string key(const std::string& what) const { return "geosft/" + point_.round + "/" + what; }
  // IPv6 and IPv4 where the system has both.
  tcp::acceptor open_door() {
    try {
      return {context_, tcp::endpoint(tcp::v6(), 0)};
    } catch (const boost::system::system_error&) {
      return {context_, tcp::endpoint(tcp::v4(), 0)};
    }
  }
  void wait_for(int64_t rank) {
    try {
      store_->wait({key(c10::str(rank))}, point_.patience);
    } catch (const c10::Error&) {
      throw std::runtime_error(c10::str("process ", rank, " of ", point_.size, " has not come to ", point_.address, ":",
                                        point_.port, " within ", point_.patience.count(), " s"));
    }
  }

  const MeetingPoint& point_;
  asio::io_context& context_;
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
