// SPDX-License-Identifier: Apache-2.0
#include "models/training/distributed/mpi/mpi_communicator.h"

#include <dlfcn.h>
#include <sys/wait.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>

#include "tests/environment.h"
#include "tests/models/training/distributed/sums_of_three.h"

namespace geosft::test::test_mpi_communicator {
namespace {

std::unique_ptr<Communicator> start() {
  void* const library = dlopen(GEOSFT_MPI_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  INFO((library == nullptr ? dlerror() : ""));
  REQUIRE(library != nullptr);
  const auto start_mpi = reinterpret_cast<StartMpi>(dlsym(library, start_mpi_name));
  REQUIRE(start_mpi != nullptr);
  return std::unique_ptr<Communicator>(start_mpi());
}

// This program again, as so many processes that each run the test case of this tag: the exit code.
int under_mpirun(int processes, const std::string& tag) {
  const std::string command =
      "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMP_NUM_THREADS=1 "
      "OMPI_MCA_btl_vader_single_copy_mechanism=none mpirun --oversubscribe -n " +
      std::to_string(processes) + " '" + std::filesystem::read_symlink("/proc/self/exe").string() + "' '" + tag +
      "' >/dev/null 2>&1";
  const int status = std::system(command.c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

bool has_mpi() {
  const bool built = !std::string(GEOSFT_MPI_LIBRARY).empty();
  if (!built) leave_out("a build without MPI: processes that talk by it are not tested");
  return built && has_program("mpirun", "processes that talk by MPI are");
}

}  // namespace

TEST_CASE("MPI sums over processes", "[mpi_communicator]") {
  if (has_mpi()) REQUIRE(under_mpirun(3, "[.mpi_sums]") == 0);
}

TEST_CASE("a process that ends early ends all", "[mpi_communicator]") {
  if (has_mpi()) REQUIRE(under_mpirun(2, "[.mpi_end]") == 3);
}

TEST_CASE("one of three processes", "[.mpi_sums]") {
  const std::unique_ptr<Communicator> all = start();
  require_sums_of_three(*all);
}

TEST_CASE("one of two processes, of which the second ends early", "[.mpi_end]") {
  const std::unique_ptr<Communicator> all = start();
  if (all->rank() == 1) std::exit(3);
  all->barrier();
  FAIL("the other one never comes");
}

}  // namespace geosft::test::test_mpi_communicator
