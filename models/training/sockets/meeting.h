// SPDX-License-Identifier: Apache-2.0
// How processes get connections to each other.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <vector>

#include "models/training/sockets/socket_communicator.h"

namespace geosft {

// Of process 0 one to every other process, in the order of their ranks; of another one that to process 0. `context`
// must outlive them. Throws std::runtime_error.
std::vector<boost::asio::ip::tcp::socket> meet_at(const MeetingPoint& point, boost::asio::io_context& context);

}  // namespace geosft
