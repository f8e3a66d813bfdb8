// SPDX-License-Identifier: Apache-2.0
// The scripts of tools/, with a Python that has numpy and h5py: GEOSFT_TEST_PYTHON, Debian's, or another python3.
#pragma once

#include <cstdlib>
#include <string>
#include <vector>

#include "tests/environment.h"
#include "tests/tools/experiment/subprocess.h"

namespace geosft::test {

inline ProcessResult python(const std::string& interpreter, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {interpreter, "-B"});
  return run_process("/usr/bin/env", arguments);
}

// Empty where there is none, which is said.
inline std::string find_python() {
  const char* const chosen = std::getenv("GEOSFT_TEST_PYTHON");
  const std::vector<std::string> choices =
      chosen != nullptr ? std::vector<std::string>{chosen} : std::vector<std::string>{"/usr/bin/python3", "python3"};
  for (const std::string& interpreter : choices) {
    if (python(interpreter, {"-c", "import numpy, h5py"}).exit == 0) return interpreter;
  }
  leave_out("no Python with numpy and h5py: the scripts that convert data are not tested");
  return {};
}

}  // namespace geosft::test
