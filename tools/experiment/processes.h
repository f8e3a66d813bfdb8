// SPDX-License-Identifier: Apache-2.0
// How a tool learns that it is one of several processes that were started together.
#pragma once

#include <memory>
#include <string>

#include "models/training/distributed/communicator.h"

namespace geosft {

// The processes that this one was started with; null where it was started alone. By MPI (libgeosft_mpi.so, which lies
// beside the library that this is in) where mpirun, or srun with MPI, has started them, also a single one; by sockets
// where torchrun has (whatever has started that), or any launcher that says as much: RANK, WORLD_SIZE, MASTER_ADDR and
// MASTER_PORT, of srun the last two suffice. Throws UsageError where they cannot find each other: nothing connects
// them, the MPI of the build is another one than mpirun's, or RANK and WORLD_SIZE disagree with MPI.
std::unique_ptr<Communicator> join_processes();

// Whether the launcher starts its command again, as it is, where that has ended early or the number of nodes changes:
// torchrun does, and counts only the former; Slurm does with a job that it puts back into its queue.
bool may_be_started_again();

// A function of a library of this project that nothing is linked with, as `library` lies beside this code; null where
// it does not, cannot be loaded, or has no such function.
void* function_beside(const std::string& library, const char* function);

}  // namespace geosft
