// SPDX-License-Identifier: Apache-2.0
#include "tests/tools/experiment/loaded_program.h"

#include <catch2/catch.hpp>

#include "tests/tools/experiment/command_line.h"

namespace geosft::test::test_loaded_program {
namespace {

// Returns whether a process runs main in a copy of a program that was loaded before, which has the preloaded library.
bool was_loaded(pid_t process) {
  return read_text("/proc/" + std::to_string(process) + "/maps").find(waits_before_main()) != std::string::npos;
}

}  // namespace

TEST_CASE("a message says what a program is started with", "[loaded_program]") {
  const ProcessStart start{
      .words = {"program", "", "two words"}, .environment = {"A=1", "B="}, .folder = "/tmp", .file_bytes = 7};
  const ProcessStart read = ProcessStart::from_message(start.message());
  CHECK(read.words == start.words);
  CHECK(read.environment == start.environment);
  CHECK(read.folder == start.folder);
  CHECK(read.file_bytes == start.file_bytes);
}

TEST_CASE("a program that is started again does what it did the first time", "[loaded_program]") {
  if (waits_before_main().empty()) {
    WARN("a build with sanitizers starts every program anew");
    return;
  }
  const std::string program = program_path("geosft-classify");
  const TemporaryFolder folder;
  const EnvironmentVariable zoo("GEOSFT_ZOO", (folder / "none").string());
  ProcessResult first;
  for (int i = 0; i < 3; ++i) {
    const ProcessResult listed = run_process(program, {"list"});
    if (i == 0) first = listed;
    CHECK(listed.exit == first.exit);
    CHECK(listed.out == first.out);
    CHECK(listed.err == first.err);
  }
  // Its folder, variables, arguments and exit code are those of the call.
  write_text(folder / "a.toml", "[train]\nepochs = 3\n");
  const ProcessOptions inside{.folder = folder.path()};
  const Words words = {"train", "--config", "a.toml", "--data", "no such data", "--out", ""};
  CHECK_THAT(run_process(program, words, inside).err, !Catch::Contains("a.toml"));
  CHECK_THAT(run_process(program, words).err, Catch::Contains("a.toml"));
  CHECK(run_process(program, {"trian"}).exit == 2);
  CHECK(run_process(program, {"--version"}).exit == 0);
}

TEST_CASE("a program that is started again is a child of the test, which signals reach", "[loaded_program]") {
  if (waits_before_main().empty()) {
    WARN("a build with sanitizers starts every program anew");
    return;
  }
  const std::string program = program_path("geosft-sequence");
  const TemporaryFolder folder;
  REQUIRE(run_process(program, Words{"generate", "listops", "--out", (folder / "data").string(), "--train", "12"} +
                                   Words{"--validation", "4", "--test", "4", "--min-tokens", "5", "--max-tokens", "40"})
              .exit == 0);
  const Words training = {"train", "--data", (folder / "data").string(), "--epochs", "10000", "--out"};
  for (const char* run : {"a", "b"}) {
    Process process(program, training + Words{(folder / run).string()});
    while (!std::filesystem::exists(folder / run)) REQUIRE_FALSE(process.over());
    CHECK(was_loaded(process.id()));
    process.send(SIGKILL);
    CHECK(process.wait().signal == SIGKILL);
  }
}

}  // namespace geosft::test::test_loaded_program
