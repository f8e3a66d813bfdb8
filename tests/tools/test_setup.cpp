// SPDX-License-Identifier: Apache-2.0
// The scripts that set a checkout up, where they have to give up: wrong use, a LibTorch that does not fit, no network.
// Nothing here installs anything: every package is there already, or cannot be had.
#include <catch2/catch.hpp>
#include <regex>

#include "tests/environment.h"
#include "tests/tools/common/command_line.h"

namespace geosft::test::test_setup {
namespace fs = std::filesystem;

namespace {

const fs::path root = GEOSFT_SOURCE_DIR;

// A folder that looks like a checkout to setup.sh, with programs of its own in front of the system's.
class Checkout {
 public:
  explicit Checkout(const std::string& packages) {
    fs::create_directories(folder_ / "tools");
    fs::copy(root / "tools" / "setup.sh", folder_ / "tools" / "setup.sh");
    write_text(folder_ / "tools" / "packages.txt", "# none but these\n" + packages);
    stand_in("dpkg-query", "exit 0");  // nothing is installed
    stand_in("apt-get", "echo 'E: no network' >&2; exit 100");
    stand_in("apt-cache", "exit 0");
    stand_in("sudo", "shift; exec \"$@\"");
  }
  fs::path operator/(const std::string& name) const { return folder_ / name; }
  ProcessResult set_up(const Words& words) const {
    const EnvironmentVariable path("PATH", (folder_ / "bin").string() + ":" + std::getenv("PATH"));
    const EnvironmentVariable alone("PIP_NO_INDEX", "1"), no_links("PIP_FIND_LINKS", "");
    return run_process("/bin/bash", Words{(folder_ / "tools" / "setup.sh").string()} + words);
  }

 private:
  void stand_in(const std::string& program, const std::string& body) const {
    write_text(folder_ / "bin" / program, "#!/bin/sh\n" + body + "\n");
    fs::permissions(folder_ / "bin" / program, fs::perms::owner_all);
  }
  TemporaryFolder folder_;
};

void require_end(const ProcessResult& result, int exit, const std::string& program, const Words& words) {
  INFO(result.err);
  CHECK(result.exit == exit);
  CHECK(result.out.empty());
  REQUIRE_FALSE(lines_of(result.err).empty());
  const std::string last = lines_of(result.err).back();
  CHECK_THAT(last, Catch::StartsWith(program + ": "));
  for (const std::string& word : words) CHECK_THAT(last, Catch::Contains(word));
}

// What CMake says of a folder that is no LibTorch for this project, its line breaks taken out.
std::string refusal_of(const fs::path& libtorch) {
  const TemporaryFolder folder;
  const std::string torch = (root / "tools" / "cmake" / "Torch.cmake").string();
  write_text(folder / "configure.cmake", "cmake_minimum_required(VERSION 3.25)\ninclude(\"" + torch + "\")\n");
  const ProcessResult result = run_process("/usr/bin/env", {"cmake", "-DGEOSFT_TORCH_DIR=" + libtorch.string(), "-P",
                                                            (folder / "configure.cmake").string()});
  CHECK(result.exit != 0);
  return std::regex_replace(result.err, std::regex("\\s+"), " ");
}

void write_libtorch(const fs::path& folder, const fs::path& header, const Words& version) {
  write_text(folder / "include" / header, "#define TORCH_VERSION_MAJOR " + version[0] +
                                              "\n#define TORCH_VERSION_MINOR " + version[1] +
                                              "\n#define TORCH_VERSION_PATCH " + version[2] + "\n");
  write_text(folder / "lib" / "libtorch_cpu.so", "");
}

}  // namespace

TEST_CASE("every script refuses what it does not know, with a line and exit code 2") {
  for (const char* script : {"setup.sh", "test.sh", "lint.sh", "view.sh", "quickstart.sh", "fuzz.sh"}) {
    const auto refused = [&](const Words& words, const Words& expected) {
      const ProcessResult result = run_process("/bin/bash", Words{(root / "tools" / script).string()} + words);
      require_end(result, 2, script, expected);
      CHECK(lines_of(result.err).size() == 1);
    };
    refused({"--nonsense"}, {"unknown option '--nonsense'", "--help"});
    refused({"--preset", "x"}, {"--preset: 'x' is none of release, debug, asan, tsan"});
    refused({"--jobs", "0"}, {"--jobs: '0' is not a number of 1 or more"});
    refused({"--jobs"}, {"--jobs needs a value"});
    refused({"--torch", "/nowhere/at/all"}, {"--torch: no folder '/nowhere/at/all'"});
  }
}

TEST_CASE("every script lists its options") {
  for (const char* script : {"setup.sh", "test.sh", "lint.sh", "view.sh", "quickstart.sh", "fuzz.sh"}) {
    const ProcessResult result = run_process("/bin/bash", {(root / "tools" / script).string(), "--help"});
    CHECK(result.exit == 0);
    CHECK(result.err.empty());
    CHECK_THAT(result.out, Catch::StartsWith("usage: tools/" + std::string(script)) && Catch::Contains("--torch DIR"));
  }
}

TEST_CASE("a LibTorch of another version is refused with both versions named") {
  const TemporaryFolder folder;
  write_libtorch(folder / "old", "torch/csrc/api/include/torch/version.h", {"2", "3", "0"});
  CHECK_THAT(refusal_of(folder / "old"), Catch::Contains((folder / "old").string()) &&
                                             Catch::Contains("holds LibTorch 2.3.0, but this project needs 2.11"));
  write_libtorch(folder / "new", "torch/headeronly/version.h", {"2", "110", "1"});
  CHECK_THAT(refusal_of(folder / "new"), Catch::Contains("holds LibTorch 2.110.1, but this project needs 2.11"));
}

TEST_CASE("a folder that holds no LibTorch is refused by name") {
  const TemporaryFolder folder;
  CHECK_THAT(refusal_of(folder / "none"),
             Catch::Contains("no LibTorch in GEOSFT_TORCH_DIR='" + (folder / "none").string() + "'"));
  write_libtorch(folder / "half", "torch/headeronly/version.h", {"2", "11", "0"});
  fs::remove_all(folder / "half" / "lib");
  CHECK_THAT(refusal_of(folder / "half"), Catch::Contains("no LibTorch in") && Catch::Contains("lib/libtorch_cpu.so"));
}

TEST_CASE("without a network setup.sh ends with what it could not install") {
  const Checkout packages("no-such-package\n");
  require_end(packages.set_up({}), 1, "setup.sh", {"no package no-such-package", "no network"});
  const Checkout torch("");
  require_end(torch.set_up({}), 1, "setup.sh", {"pip could not install torch 2.11.0", "no network"});
  CHECK_FALSE(fs::exists(torch / "build" / "release"));
}

TEST_CASE("setup.sh touches no environment that it has not made") {
  const Checkout checkout("");
  write_text(checkout / ".venv" / "mine", "x");
  require_end(checkout.set_up({}), 1, "setup.sh", {".venv is not from this script", "--torch"});
  CHECK(read_text(checkout / ".venv" / "mine") == "x");
}

}  // namespace geosft::test::test_setup
