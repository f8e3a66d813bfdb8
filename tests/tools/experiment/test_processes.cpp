// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/processes.h"

#include <catch2/catch.hpp>

#include "tests/environment.h"
#include "tests/support.h"
#include "tests/tools/classify/classify_tool.h"
#include "tests/tools/experiment/concurrent_processes.h"
#include "tests/tools/experiment/mpirun.h"
#include "tools/experiment/arguments.h"

namespace geosft::test::test_processes {
namespace {

void require_refused(const std::vector<std::string>& words) {
  CHECK_THROWS_AS(join_processes(), UsageError);
  require_error([] { join_processes(); }, words);
}

}  // namespace

TEST_CASE("a process that was started alone joins nobody") {
  CHECK(join_processes() == nullptr);
  const EnvironmentVariable one("WORLD_SIZE", "1"), own("RANK", "0"), word("PMIX_RANK", "none");
  CHECK(join_processes() == nullptr);
  // A batch script of Slurm, outside of srun.
  const EnvironmentVariable first("SLURM_PROCID", "0"), tasks("SLURM_NTASKS", "8");
  CHECK(join_processes() == nullptr);
}

TEST_CASE("processes that nothing connects are refused, whoever started them") {
  {
    const EnvironmentVariable size("WORLD_SIZE", "4"), rank("RANK", "1");
    require_refused({"one of 4 processes", "mpirun", "torchrun", "MASTER_ADDR"});
  }
  const EnvironmentVariable size("SLURM_STEP_NUM_TASKS", "3"), rank("SLURM_PROCID", "1");
  require_refused({"one of 3 processes", "srun --mpi=pmix", "MASTER_ADDR"});
}

TEST_CASE("variables that cannot be are refused") {
  const EnvironmentVariable size("WORLD_SIZE", "4"), address("MASTER_ADDR", "127.0.0.1");
  for (const char* const wrong : {"4", "-1"}) {
    const EnvironmentVariable rank("RANK", wrong);
    require_refused({std::string("process ") + wrong + " of 4"});
  }
  const EnvironmentVariable rank("RANK", "0");
  for (const char* const wrong : {"0", "65536", "http"}) {
    const EnvironmentVariable port("MASTER_PORT", wrong);
    require_refused({std::string("MASTER_PORT is ") + wrong});
  }
}

TEST_CASE("launchers that start a command again are known by their variables") {
  CHECK_FALSE(may_be_started_again());
  {
    const EnvironmentVariable torchrun("TORCHELASTIC_RUN_ID", "none");
    CHECK(may_be_started_again());
  }
  {
    const EnvironmentVariable requeued("SLURM_RESTART_COUNT", "1");
    CHECK(may_be_started_again());
  }
  const EnvironmentVariable first("SLURM_RESTART_COUNT", "0");
  CHECK_FALSE(may_be_started_again());
}

TEST_CASE("srun's variables serve where RANK and WORLD_SIZE are not set") {
  const ClassifyShop shop;
  const std::string port = std::to_string(free_port());
  const EnvironmentVariable address("MASTER_ADDR", "localhost"), master_port("MASTER_PORT", port);
  const EnvironmentVariable size("SLURM_STEP_NUM_TASKS", "2");
  const Words words = shop.train("run", {"--batch-size", "2"});
  const auto start = [&](const std::string& number) {
    const EnvironmentVariable rank("SLURM_PROCID", number);
    return std::make_unique<Process>(shop.program(), words, shop.process());
  };
  const auto first = start("0"), second = start("1");
  const ProcessResult result = first->wait();
  INFO(result.err);
  CHECK(result.exit == 0);
  CHECK(second->wait().exit == 0);
  CHECK_THAT(result.err, Catch::Contains("2 processes"));
}

TEST_CASE("torchrun's variables win over those of what has started it") {
  const ClassifyShop shop;
  const EnvironmentVariable torchrun("TORCHELASTIC_RUN_ID", "none"), rank("PMIX_RANK", "0"), ranks("PMI_SIZE", "3");
  const EnvironmentVariable task("SLURM_PROCID", "0"), tasks("SLURM_STEP_NUM_TASKS", "5");
  ConcurrentProcesses started(2, shop.program(), shop.train("run", {"--batch-size", "2"}), shop.process());
  const std::vector<ProcessResult> results = started.wait();
  INFO(results[0].err << results[1].err);
  CHECK((results[0].exit == 0 && results[1].exit == 0));
  CHECK_THAT(results[0].err, Catch::Contains("2 processes"));
}

TEST_CASE("variables that disagree with MPI are refused once", "[processes]") {
  if (!has_mpirun()) return;
  const ClassifyShop shop;
  const auto refused = [&](const std::string& variable, const std::string& value, const std::string& expected) {
    const EnvironmentVariable wrong(variable, value);
    const ProcessResult result = run_mpirun(2, shop.program(), shop.train("run"), shop.process());
    INFO(result.err);
    CHECK(result.exit == 2);
    CHECK(count_of(result.err, "geosft-classify: error: ") == 1);
    CHECK_THAT(result.err, Catch::Contains(expected));
  };
  refused("WORLD_SIZE", "3", "WORLD_SIZE is 3, but MPI says 2");
  refused("RANK", "1", "RANK is 1, but MPI says 0");
  refused("RANK", "0", "RANK is 0, but MPI says 1");
}

TEST_CASE("MPI's own variables win over Slurm's, in whose job mpirun may run", "[processes]") {
  if (!has_mpirun()) return;
  const ClassifyShop shop;
  const EnvironmentVariable rank("SLURM_PROCID", "0"), size("SLURM_STEP_NUM_TASKS", "5");
  const ProcessResult result = run_mpirun(2, shop.program(), shop.train("run", {"--batch-size", "2"}), shop.process());
  INFO(result.err);
  CHECK(result.exit == 0);
  CHECK_THAT(result.err, Catch::Contains("2 processes"));
}

TEST_CASE("processes of another MPI's mpirun, each alone to this one, are refused", "[processes]") {
  if (!has_mpirun()) return;
  const ClassifyShop shop;
  const MpirunEnvironment environment;
  const EnvironmentVariable rank("PMI_RANK", "0"), size("PMI_SIZE", "4");
  const ProcessResult result = shop.run(shop.train("run"));
  CHECK(result.exit == 2);
  CHECK_THAT(result.err, Catch::StartsWith("geosft-classify: error: started as one of 4 processes") &&
                             Catch::Contains("sees 1") && Catch::Contains("mpirun of the same MPI"));
}

TEST_CASE("the only process of an mpirun trains as one without", "[processes]") {
  if (!has_mpirun()) return;
  const ClassifyShop shop;
  const ProcessResult result = run_mpirun(1, shop.program(), shop.train("run"), shop.process());
  INFO(result.err);
  CHECK(result.exit == 0);
  CHECK_THAT(result.err, !Catch::Contains("processes"));
}

}  // namespace geosft::test::test_processes
