// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/processes.h"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <initializer_list>
#include <optional>
#include <string>

#include "models/training/distributed/mpi/mpi_communicator.h"
#include "models/training/distributed/sockets/socket_communicator.h"
#include "tools/experiment/arguments.h"
#include "tools/experiment/main_guard.h"

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

// Rank of this process and number of processes, as the launcher gives them.
struct Place {
  int64_t rank = 0, size = 1;
};

std::optional<Place> place_in(const char* rank, const char* size) {
  const auto own = number_in(rank), all = number_in(size);
  return own && all ? std::optional(Place{*own, *all}) : std::nullopt;
}

std::string text_in(const char* variable) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? "" : text;
}

bool has_torchrun() {
  return !text_in("TORCHELASTIC_RUN_ID").empty();
}

// Detects Open MPI's mpirun, srun and other launchers by their MPI variables. Under torchrun, these describe torchrun
// itself.
bool has_mpi_launcher() {
  return !has_torchrun() && first_number({"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"}).has_value();
}
std::optional<int64_t> size_of_mpi_launcher() {
  return first_number({"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"});
}

// Reads the variables of torchrun, else those of srun.
std::optional<Place> place_of_launcher() {
  const auto place = place_in("RANK", "WORLD_SIZE");
  return place ? place : place_in("SLURM_PROCID", "SLURM_STEP_NUM_TASKS");
}

RendezvousOptions meeting_point(const Place& place) {
  RendezvousOptions point;
  point.address = text_in("MASTER_ADDR");
  if (const std::string text = text_in("MASTER_PORT"); !text.empty()) {
    const int64_t port = number_in("MASTER_PORT").value_or(0);
    if (port < 1 || port > 65535) throw UsageError("MASTER_PORT is " + text + ", which is no port");
    point.port = static_cast<uint16_t>(port);
  }
  if (place.rank < 0 || place.rank >= place.size) {
    throw UsageError("started as process " + std::to_string(place.rank) + " of " + std::to_string(place.size));
  }
  point.rank = place.rank;
  point.size = place.size;
  point.has_store = text_in("TORCHELASTIC_USE_AGENT_STORE") == "True";
  point.round = std::to_string(number_in("TORCHELASTIC_RESTART_COUNT").value_or(0));
  return point;
}

StartMpi find_start() {
  return reinterpret_cast<StartMpi>(function_beside("libgeosft_mpi.so", start_mpi_name));
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

std::unique_ptr<Communicator> join_by_mpi(StartMpi start) {
  std::unique_ptr<Communicator> joined(start());
  try {
    check_launcher(size_of_mpi_launcher().value_or(1), *joined);
    check_torchrun("WORLD_SIZE", joined->size());
    check_torchrun("RANK", joined->rank());
  } catch (const UsageError&) {
    joined->elect_error_reporter();
    throw;
  }
  return joined;
}

}  // namespace

std::unique_ptr<Communicator> join_processes() {
  if (has_mpi_launcher()) {
    if (const StartMpi start = find_start()) {
      keep_exit_handlers();
      return join_by_mpi(start);
    }
  }
  const std::optional<Place> place = place_of_launcher();
  const int64_t launched = place ? place->size : has_mpi_launcher() ? size_of_mpi_launcher().value_or(1) : 1;
  if (launched <= 1) return nullptr;
  if (place && !text_in("MASTER_ADDR").empty()) return make_socket_communicator(meeting_point(*place));
  throw UsageError("started as one of " + std::to_string(launched) +
                   " processes, which nothing connects: with mpirun or srun --mpi=pmix a build with MPI does "
                   "(-DGEOSFT_MPI=ON), with torchrun or srun MASTER_ADDR and MASTER_PORT do, set for all of them");
}

bool may_be_started_again() {
  return has_torchrun() || number_in("SLURM_RESTART_COUNT").value_or(0) > 0;
}

void* function_beside(const std::string& library, const char* function) {
  Dl_info here;
  if (dladdr(reinterpret_cast<const void*>(&function_beside), &here) == 0) return nullptr;
  const std::filesystem::path path = std::filesystem::path(here.dli_fname).parent_path() / library;
  void* const loaded = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  return loaded == nullptr ? nullptr : dlsym(loaded, function);
}

}  // namespace geosft
