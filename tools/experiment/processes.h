// SPDX-License-Identifier: Apache-2.0
// Joins the processes that a launcher started together.
#pragma once

#include <memory>
#include <string>

#include "models/training/distributed/communicator.h"

namespace geosft {

// Returns a communicator over the processes started together; null if this one was started alone. Uses MPI
// (libgeosft_mpi.so, next to this code's library) if started by mpirun or by srun with MPI, also for a single process.
// Uses sockets if started by torchrun (under any launcher), or by any launcher that sets RANK, WORLD_SIZE, MASTER_ADDR
// and MASTER_PORT (for srun the last two suffice). Throws UsageError if they cannot connect: nothing connects them, the
// build's MPI is not mpirun's, or RANK and WORLD_SIZE disagree with MPI.
std::unique_ptr<Communicator> join_processes();

// Returns whether the launcher may rerun the same command after a failure or a change of the number of nodes. torchrun
// does, and counts only failures; Slurm does for a requeued job.
bool may_be_started_again();

// Looks up a function in a library of this project that nothing links; `library` lies next to this code. Returns null
// if it is missing, cannot be loaded, or has no such function.
void* function_beside(const std::string& library, const char* function);

}  // namespace geosft
