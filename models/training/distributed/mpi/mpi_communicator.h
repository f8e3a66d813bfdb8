// SPDX-License-Identifier: Apache-2.0
// Declares the interface of libgeosft_mpi.so. It is loaded with dlopen when several processes are started, and nothing
// links it: training with one process neither needs nor starts MPI.
#pragma once

#include "models/training/distributed/communicator.h"

namespace geosft {

// Name of the function `Communicator* geosft_start_mpi()`. Called at most once per process, by the thread that will use
// the result; throws std::runtime_error if MPI cannot be initialised. Deleting the result finalises MPI, which waits
// for all processes to do the same. A process that exits without deleting it ends the others too.
inline constexpr const char* start_mpi_name = "geosft_start_mpi";
using StartMpi = Communicator* (*)();

}  // namespace geosft
