// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/run_program.h"

#include <sys/wait.h>

#include <catch2/catch.hpp>
#include <cerrno>

#include "data/read_file.h"
#include "tests/data/files.h"

namespace geosft::test::test_run_program {

TEST_CASE("a program runs in its folder, without a shell, and what it prints is kept") {
  const TemporaryFolder folder;
  const int status = run_program({"sh", "-c", "pwd; echo \"$0\" >&2; exit 3", "a 'b' $HOME"}, folder.path(), "log.txt");
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 3);
  CHECK(read_file(folder / "log.txt") == folder.path().string() + "\na 'b' $HOME\n");
}

TEST_CASE("a program that is not there is told from one that fails") {
  const TemporaryFolder folder;
  CHECK(run_program({"geosft-no-such-program"}, folder.path(), "log.txt") == -ENOENT);
  CHECK(run_program({"false"}, folder.path(), "log.txt") > 0);
}

}  // namespace geosft::test::test_run_program
