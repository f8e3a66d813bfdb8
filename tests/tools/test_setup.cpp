// SPDX-License-Identifier: Apache-2.0
// The scripts that set a checkout up, where they have to give up: wrong use, a LibTorch that does not fit, no network.
// Nothing here installs anything: every package is there already, or cannot be had. And the stubs of CUDA's libraries.
#include <catch2/catch.hpp>
#include <regex>

#include "tests/environment.h"
#include "tests/places.h"
#include "tests/tools/experiment/command_line.h"

namespace geosft::test::test_setup {
namespace fs = std::filesystem;

namespace {

const fs::path root = source_path("");

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
std::string setup_error(const fs::path& libtorch) {
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

// A shared library made of C code, which looks for others in its own folder.
void compile_library(const fs::path& library, const std::string& code, const Words& options) {
  const fs::path source = fs::path(library).replace_extension(".c");
  write_text(source, code);
  const Words words{"cc", "-shared", "-fPIC", "-Wl,-rpath,$ORIGIN", source.string(), "-o", library.string()};
  REQUIRE(run_process("/usr/bin/env", words + options).exit == 0);
}

// Loads a library with all its symbols bound at once, as Python does, and calls a function.
ProcessResult call(const fs::path& library, const std::string& function) {
  const std::string program = "import ctypes; print(ctypes.CDLL('" + library.string() + "')." + function + "())";
  return run_process("/usr/bin/env", {"-u", "LD_LIBRARY_PATH", "python3", "-c", program});
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
    for (const char* version : {"2.10", "2.1", "2.110.0", "two", ".*"}) {
      refused({"--torch-version", version}, {"--torch-version: '" + std::string(version) + "' is none of 2.11.0 2.12"});
    }
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
  CHECK_THAT(setup_error(folder / "old"),
             Catch::Contains((folder / "old").string()) &&
                 Catch::Contains("holds LibTorch 2.3.0, but this project needs 2.11;2.12"));
  write_libtorch(folder / "new", "torch/headeronly/version.h", {"2", "110", "1"});
  CHECK_THAT(setup_error(folder / "new"), Catch::Contains("holds LibTorch 2.110.1, but this project needs 2.11"));
}

TEST_CASE("a folder that holds no LibTorch is refused by name") {
  const TemporaryFolder folder;
  CHECK_THAT(setup_error(folder / "none"),
             Catch::Contains("no LibTorch in GEOSFT_TORCH_DIR='" + (folder / "none").string() + "'"));
  write_libtorch(folder / "half", "torch/headeronly/version.h", {"2", "11", "0"});
  fs::remove_all(folder / "half" / "lib");
  CHECK_THAT(setup_error(folder / "half"), Catch::Contains("no LibTorch in") && Catch::Contains("lib/libtorch_cpu.so"));
}

TEST_CASE("without a network setup.sh ends with what it could not install") {
  const Checkout packages("no-such-package\n");
  require_end(packages.set_up({}), 1, "setup.sh", {"no package no-such-package", "no network"});
  const Checkout torch("");
  require_end(torch.set_up({}), 1, "setup.sh", {"pip could not install torch 2.15.0", "no network"});
  require_end(torch.set_up({"--torch-version", "2.15"}), 1, "setup.sh", {"pip could not install torch 2.15.0"});
  CHECK_FALSE(fs::exists(torch / "build" / "release"));
}

TEST_CASE("setup.sh keeps the LibTorch that is there unless another version is asked for") {
  const Checkout checkout("");
  const fs::path venv = checkout / ".venv";
  write_text(venv / "lib" / "python3.11" / "site-packages" / "torch" / "lib" / "libtorch_cpu.so", "");
  write_text(venv / "geosft-torch", "2.13.0 cpu with Python\n");
  const ProcessResult kept = checkout.set_up({});  // which ends without CMakePresets.json
  CHECK_THAT(kept.err, Catch::Contains("LibTorch: 2.13.0 cpu with Python there"));
  CHECK(fs::exists(venv / "lib"));
  const ProcessResult other = checkout.set_up({"--torch-version", "2.11"});
  CHECK_THAT(other.err, Catch::Contains("'2.13.0 cpu with Python' found where '2.11.0 cpu with Python' is wanted"));
  CHECK(other.exit == 1);
  write_text(venv / "geosft-torch", "2.3.0 cpu with Python\n");
  CHECK_THAT(checkout.set_up({}).err, Catch::Contains("is wanted: starting again"));
}

TEST_CASE("setup.sh touches no environment that it has not made") {
  const Checkout checkout("");
  write_text(checkout / ".venv" / "mine", "x");
  require_end(checkout.set_up({}), 1, "setup.sh", {".venv is not from this script", "--torch"});
  CHECK(read_text(checkout / ".venv" / "mine") == "x");
}

TEST_CASE("stubs take the place of libraries that a PyTorch for the CPU lacks") {
  const Checkout checkout("");
  const fs::path torch = checkout / ".venv" / "lib" / "python3.11" / "site-packages" / "torch" / "lib";
  write_text(torch / "libtorch_cpu.so", "");
  // Two libraries, one with versions of its symbols, that are there when libtorch_python.so is linked and gone after
  // that.
  compile_library(torch / "libplain.so", "void plain_call(void) {}", {"-Wl,-soname,libplain.so"});
  write_text(torch / "versions.map", "VERSION_1 { global: versioned_call; };");
  compile_library(torch / "libversioned.so", "void versioned_call(void) {}",
                  {"-Wl,-soname,libversioned.so", "-Wl,--version-script=" + (torch / "versions.map").string()});
  compile_library(torch / "libtorch_python.so",
                  // Without the C library among what it needs ldd would end by a signal, not with what is missing.
                  "int getppid(void); int parent(void) { return getppid(); }"
                  "void plain_call(void); void versioned_call(void); int answer(void) { return 42; }"
                  "int lost(int which) { if (which) plain_call(); else versioned_call(); return 0; }"
                  "int plain(void) { return lost(1); } int versioned(void) { return lost(0); }",
                  {"-L" + torch.string(), "-lplain", "-lversioned"});
  const auto install = [&] {
    const std::string script = (checkout / "tools" / "setup.sh").string();
    const ProcessResult result = run_process("/bin/bash", {"-c", "source '" + script + "'; geosft_install_stubs"});
    INFO(result.err);
    REQUIRE(result.exit == 0);
    return result.err;
  };
  const fs::path library = torch / "libtorch_python.so";
  CHECK(install().empty());
  CHECK(call(library, "answer").out == "42\n");
  fs::remove(torch / "libplain.so");
  CHECK(call(library, "answer").exit != 0);
  CHECK_THAT(install(), Catch::EndsWith("making stubs of libplain.so\n"));
  CHECK(call(library, "answer").out == "42\n");
  CHECK(call(library, "versioned").out == "0\n");
  CHECK(install().empty());
  // The second library goes, too: the stubs are made again, of both.
  fs::remove(torch / "libversioned.so");
  CHECK(call(library, "answer").exit != 0);
  CHECK_THAT(install(), Catch::EndsWith("making stubs of libplain.so libversioned.so\n"));
  CHECK(call(library, "answer").out == "42\n");
  for (const std::string name : {"plain", "versioned"}) {
    const ProcessResult result = call(library, name);
    CHECK(result.exit != 0);
    CHECK_THAT(result.err, Catch::Contains(name + "_call: this LibTorch is for the CPU only; tools/setup.sh --cuda"));
  }
}

}  // namespace geosft::test::test_setup
