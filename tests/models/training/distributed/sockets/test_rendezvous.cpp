// SPDX-License-Identifier: Apache-2.0
#include "models/training/distributed/sockets/rendezvous.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>
#include <boost/asio.hpp>
#include <catch2/catch.hpp>
#include <future>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include "tests/models/training/distributed/several_processes.h"
#include "tests/support.h"

namespace geosft::test::test_rendezvous {
namespace {

namespace asio = boost::asio;
using Sockets = std::vector<asio::ip::tcp::socket>;

// A store that the processes find, as torchrun has one.
class Store {
 public:
  Store() : store_("127.0.0.1", options()) {}
  uint16_t port() const { return store_.getPort(); }
  c10d::TCPStore& operator*() { return store_; }

 private:
  static c10d::TCPStoreOptions options() {
    c10d::TCPStoreOptions options;
    options.port = 0;
    options.isServer = true;
    options.waitWorkers = false;
    return options;
  }
  c10d::TCPStore store_;
};

RendezvousOptions point_of(uint16_t port, int64_t rank, int64_t size, std::chrono::seconds timeout) {
  RendezvousOptions point{"127.0.0.1", port, rank, size, /*has_store=*/true, "round"};
  point.timeout = timeout;
  return point;
}

int64_t received(asio::ip::tcp::socket& socket) {
  int64_t number = 0;
  asio::read(socket, asio::buffer(&number, sizeof(number)));
  return number;
}

int tcp_option(asio::ip::tcp::socket& socket, int name) {
  int value = 0;
  socklen_t bytes = sizeof(value);
  REQUIRE(::getsockopt(socket.native_handle(), IPPROTO_TCP, name, &value, &bytes) == 0);
  return value;
}

// A machine that is cut off cannot be had here: what makes the system notice one is asked for.
void require_notices_silence(asio::ip::tcp::socket& socket) {
  asio::socket_base::keep_alive asks;
  socket.get_option(asks);
  REQUIRE(asks.value());
  REQUIRE(tcp_option(socket, TCP_KEEPIDLE) + tcp_option(socket, TCP_KEEPINTVL) * tcp_option(socket, TCP_KEEPCNT) <= 90);
}

}  // namespace

TEST_CASE("rank 0 has connections to the others in the order of their ranks", "[sockets]") {
  const Store store;
  asio::io_context context;
  std::vector<std::future<Sockets>> others;
  for (const int64_t rank : {2, 1, 3}) {
    others.push_back(std::async(std::launch::async, [&, rank] {
      Sockets sockets = rendezvous(point_of(store.port(), rank, 4, std::chrono::seconds(60)), context);
      asio::write(sockets.at(0), asio::buffer(&rank, sizeof(rank)));
      return sockets;
    }));
  }
  Sockets sockets = rendezvous(point_of(store.port(), 0, 4, std::chrono::seconds(60)), context);
  REQUIRE(sockets.size() == 3);
  for (size_t i = 0; i < 3; ++i) REQUIRE(received(sockets[i]) == static_cast<int64_t>(i) + 1);
  for (auto& other : others) REQUIRE(other.get().size() == 1);
}

TEST_CASE("both ends of a connection notice a machine that is cut off", "[sockets]") {
  const Store store;
  asio::io_context context;
  auto other = std::async(std::launch::async,
                          [&] { return rendezvous(point_of(store.port(), 1, 2, std::chrono::seconds(60)), context); });
  Sockets root = rendezvous(point_of(store.port(), 0, 2, std::chrono::seconds(60)), context);
  require_notices_silence(root.at(0));
  Sockets follower = other.get();
  require_notices_silence(follower.at(0));
}

TEST_CASE("an unauthenticated peer is rejected", "[sockets]") {
  Store store;
  asio::io_context context;
  auto root = std::async(std::launch::async,
                         [&] { return rendezvous(point_of(store.port(), 0, 2, std::chrono::seconds(60)), context); });
  const std::string listener = (*store).get_to_str("geosft/round/listener");
  asio::ip::tcp::socket peer(context);
  asio::connect(peer, asio::ip::tcp::resolver(context).resolve("127.0.0.1", listener.substr(0, listener.find(' '))));
  const std::array<int64_t, 2> greeting{0, 1};  // a rank without the pass
  asio::write(peer, asio::buffer(greeting));
  asio::ip::tcp::socket silent(context);  // sends less than a greeting, and is not waited for
  asio::connect(silent, asio::ip::tcp::resolver(context).resolve("127.0.0.1", listener.substr(0, listener.find(' '))));
  asio::write(silent, asio::buffer("x", 1));
  Sockets other = rendezvous(point_of(store.port(), 1, 2, std::chrono::seconds(60)), context);
  const int64_t number = 42;
  asio::write(other.at(0), asio::buffer(&number, sizeof(number)));
  Sockets found = root.get();
  REQUIRE(found.size() == 1);
  REQUIRE(received(found[0]) == 42);
}

TEST_CASE("a timeout names the missing process", "[sockets]") {
  const Store store;
  asio::io_context context;
  const std::string error = error_of_missing_process(
      [&](std::chrono::seconds timeout) { rendezvous(point_of(store.port(), 0, 2, timeout), context); });
  REQUIRE_THAT(error, Catch::Contains("process 1 of 2 has not come to 127.0.0.1"));
}

}  // namespace geosft::test::test_rendezvous
