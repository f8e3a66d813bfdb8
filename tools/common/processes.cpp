// SPDX-License-Identifier: Apache-2.0
#include "tools/common/processes.h"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <initializer_list>
#include <optional>
#include <string>

#include "models/training/mpi/mpi_communicator.h"
#include "tools/common/arguments.h"

namespace geosft {
namespace {

std::optional<int64_t> number_in(const char* variable) {
  const char* const text = std::getenv(variable);
  char* end = nullptr;
  const int64_t number = text == nullptr ? 0 : std::strtoll(text, &end, 10);
  return text == nullptr || end == text || *end != '\0' ? std::nullopt : std::optional(number);
}

std::optional<int64_t> first_number(std::initializer_list<const char*> variables) {
  for (const char* const variable : variables) {
    if (const auto number = number_in(variable)) return number;
  }
  return std::nullopt;
}

// Of Open MPI's mpirun; of srun and other launchers.
std::optional<int64_t> rank_of_launcher() {
  return first_number({"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"});
}
std::optional<int64_t> size_of_launcher() {
  return first_number({"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"});
}

StartMpi find_start() {
  Dl_info here;
  if (dladdr(reinterpret_cast<const void*>(&join_processes), &here) == 0) return nullptr;
  const std::filesystem::path library = std::filesystem::path(here.dli_fname).parent_path() / "libgeosft_mpi.so";
  void* const loaded = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  return loaded == nullptr ? nullptr : reinterpret_cast<StartMpi>(dlsym(loaded, start_mpi_name));
}

void check_launcher(int64_t launched, const Communicator& joined) {
  if (launched <= 1 || joined.size() == launched) return;
  throw UsageError("started as one of " + std::to_string(launched) + " processes, but the MPI of this build sees " +
                   std::to_string(joined.size()) + ": start them with the mpirun of the same MPI (Open MPI)");
}

void check_torchrun(const char* variable, int64_t expected) {
  const auto found = number_in(variable);
  if (!found || *found == expected) return;
  throw UsageError(std::string(variable) + " is " + std::to_string(*found) + ", but MPI says " +
                   std::to_string(expected) + ": leave it out");
}

}  // namespace

std::unique_ptr<Communicator> join_processes() {
  const int64_t of_torchrun = number_in("WORLD_SIZE").value_or(1);
  if (!rank_of_launcher()) {
    if (of_torchrun <= 1) return nullptr;
    throw UsageError("WORLD_SIZE is " + std::to_string(of_torchrun) +
                     ", but no MPI connects these processes: start them with mpirun or srun instead of torchrun");
  }
  const int64_t launched = size_of_launcher().value_or(1);
  const StartMpi start = find_start();
  if (start == nullptr) {
    if (launched <= 1) return nullptr;
    throw UsageError("started as one of " + std::to_string(launched) +
                     " processes, but this build has no MPI: configure it with -DGEOSFT_MPI=ON, or start one process");
  }
  std::unique_ptr<Communicator> joined(start());
  check_launcher(launched, *joined);
  check_torchrun("WORLD_SIZE", joined->size());
  check_torchrun("RANK", joined->rank());
  return joined;
}

}  // namespace geosft
