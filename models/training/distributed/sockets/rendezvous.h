// SPDX-License-Identifier: Apache-2.0
// Connects processes by TCP; they find each other through a key-value store.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <vector>

#include "models/training/distributed/sockets/socket_communicator.h"

namespace geosft {

// Returns connections to all other processes in rank order (in rank 0), or the connection to rank 0 (in the others).
// `context` must outlive them. Throws std::runtime_error.
std::vector<boost::asio::ip::tcp::socket> rendezvous(const RendezvousOptions& options,
                                                     boost::asio::io_context& context);

}  // namespace geosft
