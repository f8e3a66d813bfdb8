// SPDX-License-Identifier: Apache-2.0
#include "models/training/mpi/mpi_communicator.h"

#include <dlfcn.h>
#include <sys/wait.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>

#include "tests/support.h"

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
  const bool there = !std::string(GEOSFT_MPI_LIBRARY).empty() && std::system("command -v mpirun >/dev/null 2>&1") == 0;
  if (!there) WARN("no mpirun, or a build without MPI: processes that talk by it are not tested");
  return there;
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
  REQUIRE(all->size() == 3);
  const int64_t rank = all->rank();
  for (const at::ScalarType type : {at::kFloat, at::kDouble, at::kLong}) {
    require_equal(all->sum(at::arange(1000).to(type) * (rank + 1)), at::arange(1000).to(type) * 6, "sum");
  }
  // Several at a time, of a size that goes in pieces, looked at while they are on their way.
  const at::Tensor large = at::full({1 << 20}, static_cast<float>(rank)), small = at::full({3}, rank, at::kLong);
  const std::unique_ptr<PendingSum> first = all->start_sum(large), second = all->start_sum(small);
  for (int i = 0; i < 5; ++i) first->progress();
  second->wait();
  first->wait();
  first->progress();
  require_equal(large, at::full({1 << 20}, 3.0F), "large");
  require_equal(small, at::full({3}, 3, at::kLong), "small");
  REQUIRE(all->any(rank == 2));
  require_equal(all->from_leader(at::full({2}, rank + 5, at::kLong)), at::full({2}, 5, at::kLong), "the leader's");
  require_error([&] { all->start_sum(at::zeros({2}, at::kHalf)); }, {"values", "Half"});
  require_error([&] { all->start_sum(at::zeros({4, 4}).t().slice(0, 1)); }, {"values", "contiguous"});
}

TEST_CASE("one of two processes, of which the second ends early", "[.mpi_end]") {
  const std::unique_ptr<Communicator> all = start();
  if (all->rank() == 1) std::exit(3);
  all->meet();
  FAIL("the other one never comes");
}

}  // namespace geosft::test::test_mpi_communicator
