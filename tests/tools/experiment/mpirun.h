// SPDX-License-Identifier: Apache-2.0
// Programs that are started as several processes.
#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/environment.h"
#include "tests/tools/experiment/command_line.h"

namespace geosft::test {

// Whether there is an mpirun and a build that can use it; says so where not.
inline bool has_mpirun() {
  if (GEOSFT_HAS_MPI == 0) leave_out("a build without MPI: several processes are not tested");
  return GEOSFT_HAS_MPI != 0 && has_program("mpirun", "several processes are");
}

// What root and containers need; while it lives.
struct MpirunEnvironment {
  EnvironmentVariable root{"OMPI_ALLOW_RUN_AS_ROOT", "1"}, confirmed{"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"};
  EnvironmentVariable copies{"OMPI_MCA_btl_vader_single_copy_mechanism", "none"};
};

inline Words mpirun(int processes, const std::string& program, const Words& words) {
  return Words{"-c", "exec mpirun --oversubscribe -n " + std::to_string(processes) + " \"$@\"", "sh", program} + words;
}

inline ProcessResult run_mpirun(int processes, const std::string& program, const Words& words,
                                const ProcessOptions& options) {
  const MpirunEnvironment environment;
  return run_process("/bin/sh", mpirun(processes, program, words), options);
}

// The programs that an mpirun has started here, in the order of their process numbers.
inline std::vector<pid_t> children_of(pid_t parent) {
  std::vector<pid_t> children;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    std::ifstream file(entry.path() / "stat");
    std::string stat;
    std::getline(file, stat);
    const size_t end = stat.rfind(')');  // the name of the program may hold anything
    if (end == std::string::npos) continue;
    std::istringstream rest(stat.substr(end + 1));
    char state = 0;
    pid_t of = 0;
    if (rest >> state >> of && of == parent) children.push_back(std::stoi(name));
  }
  std::sort(children.begin(), children.end());
  return children;
}

}  // namespace geosft::test
