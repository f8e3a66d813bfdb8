// SPDX-License-Identifier: Apache-2.0
// What libgeosft_mpi.so gives. It is loaded when processes are started together, and nothing is linked with it: whoever
// trains with one process needs no MPI, and does not pay for starting it.
#pragma once

#include "models/training/communicator.h"

namespace geosft {

// Name of the function, as in `Communicator* geosft_start_mpi()`. Once in a process, by the thread that will use the
// result; throws std::runtime_error where MPI cannot be started. Deleting the result ends MPI, which waits for all
// processes to do the same. A process that ends without having deleted it ends the others too.
inline constexpr const char* start_mpi_name = "geosft_start_mpi";
using StartMpi = Communicator* (*)();

}  // namespace geosft
