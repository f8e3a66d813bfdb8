// SPDX-License-Identifier: Apache-2.0
// How a tool learns that it is one of several processes that were started together.
#pragma once

#include <memory>

#include "models/training/communicator.h"

namespace geosft {

// The processes that mpirun, or srun with MPI, has started this one among; null where it was started alone, or as the
// only one. Loads libgeosft_mpi.so, which lies beside the library that this is in. Throws UsageError where processes
// cannot find each other: the build has no MPI, it is another one than mpirun's, or torchrun started them, which
// brings no MPI (RANK and WORLD_SIZE are accepted beside MPI's own, and must agree with it).
std::unique_ptr<Communicator> join_processes();

}  // namespace geosft
