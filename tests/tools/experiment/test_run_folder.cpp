// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/run_folder.h"

#include <sys/wait.h>
#include <unistd.h>

#include "tests/support.h"

#include <catch2/catch.hpp>
#include <fstream>

#include "data/read_file.h"
#include "tests/data/locked_folder.h"
#include "tests/temporary_path.h"
#include "tools/experiment/arguments.h"

namespace geosft::test::test_run_folder {

namespace {

struct TemporaryFolder {
  std::filesystem::path path = test::temporary_path("geosft_test_run_folder");
  TemporaryFolder() {
    std::filesystem::remove_all(path);
    std::filesystem::create_directories(path);
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path); }
};

void require_usage_error(const std::function<void()>& call, const std::vector<std::string>& words) {
  CHECK_THROWS_AS(call(), UsageError);
  test::require_error(call, words);
}

}  // namespace

TEST_CASE("lines of the log have the time, and blank ones have none") {
  const TemporaryFolder folder;
  const RunFolder run = RunFolder::create(folder.path / "run");
  run.append_log("a\n\nb");
  const std::string text = read_file(run.log());
  CHECK(std::count(text.begin(), text.end(), '\n') == 3);
  CHECK_THAT(text, Catch::Contains("  a\n\n20") && Catch::EndsWith("  b\n"));
}

TEST_CASE("a new run gets its folder with missing parents, an empty one is taken") {
  const TemporaryFolder folder;
  CHECK(RunFolder::create(folder.path).path() == folder.path);
  const std::filesystem::path deep = folder.path / "runs" / "today" / "first";
  CHECK(RunFolder::create(deep).path() == deep);
  CHECK(std::filesystem::is_directory(deep));
}

TEST_CASE("a run without a file takes the folders away that it made, and no other") {
  const TemporaryFolder folder;
  const std::filesystem::path above = folder.path / "runs";
  std::filesystem::create_directory(above);
  const RunFolder deep = RunFolder::create(above / "today" / "first" / "");
  CHECK(deep.made() == std::vector<std::filesystem::path>{above / "today" / "first", above / "today"});
  std::filesystem::create_directory(above / "today" / "second");
  deep.discard();
  CHECK_FALSE(std::filesystem::exists(deep.path()));
  CHECK(std::filesystem::exists(above / "today"));
  std::filesystem::remove(above / "today" / "second");
  deep.discard();
  CHECK_FALSE(std::filesystem::exists(above / "today"));
  CHECK(std::filesystem::exists(above));

  const RunFolder there = RunFolder::create(above);
  CHECK(there.made().empty());
  there.discard();
  CHECK(std::filesystem::exists(above));
}

TEST_CASE("a folder that holds a run or something else is not made a run") {
  const TemporaryFolder folder;
  RunFolder::create(folder.path / "run").write_config("seed = 1\n");
  require_usage_error([&] { RunFolder::create(folder.path / "run"); }, {"run", "holds a run already", "resume"});
  require_usage_error([&] { RunFolder::create(folder.path); }, {folder.path.string(), "not empty"});
}

TEST_CASE("what a run that was killed at its beginning has left is replaced") {
  const TemporaryFolder folder;
  {
    const RunFolder begun = RunFolder::create(folder.path);
    begun.write_classes({"a", "b"});
    begun.write_split("split,item,name,label\n");
  }
  const pid_t killed = ::fork();
  if (killed == 0) ::_exit(0);
  ::waitpid(killed, nullptr, 0);
  std::ofstream(folder.path / (".config.toml." + std::to_string(killed) + ".0.tmp")) << "see";
  RunFolder::create(folder.path).write_config("seed = 1\n");
  CHECK(std::filesystem::exists(folder.path / "classes.txt"));
  std::ofstream(folder.path / (".last.ckpt." + std::to_string(killed) + ".0.tmp")) << "half";
  RunFolder::resume(folder.path);
  for (const auto& entry : std::filesystem::directory_iterator(folder.path)) {
    CHECK(entry.path().extension() != ".tmp");
  }
}

TEST_CASE("two processes do not train in one folder") {
  const TemporaryFolder folder;
  {
    const RunFolder first = RunFolder::create(folder.path / "run");
    require_usage_error([&] { RunFolder::create(folder.path / "run"); }, {"another process trains", "run"});
    first.write_config("seed = 1\n");
    require_usage_error([&] { RunFolder::resume(folder.path / "run"); }, {"another process trains", "run"});
    CHECK_NOTHROW(RunFolder::open(folder.path / "run"));
  }
  CHECK_NOTHROW(RunFolder::resume(folder.path / "run"));
}

TEST_CASE("a folder that cannot be made or written to is not wrong use") {
  const TemporaryFolder folder;
  const auto refused = [&](const std::filesystem::path& path, const std::vector<std::string>& words) {
    const auto create = [&] { RunFolder::create(path); };
    test::require_error(create, words);
    try {
      create();
    } catch (const UsageError&) {
      FAIL("a UsageError");
    } catch (const std::exception&) {
    }
  };
  std::ofstream(folder.path / "file") << "x";
  refused(folder.path / "file", {"cannot make the run folder", "file"});
  refused(folder.path / "file" / "run", {"cannot make the run folder", "Not a directory"});
  std::filesystem::create_directory(folder.path / "locked");
  const test::LockedFolder locked(folder.path / "locked");
  refused(folder.path / "locked", {"locked", "a folder that can be written to", "ermission denied"});
  refused(folder.path / "locked" / "run", {"cannot make the run folder", "ermission denied"});
}

TEST_CASE("only a folder with a run opens") {
  const TemporaryFolder folder;
  require_usage_error([&] { RunFolder::open(folder.path / "missing"); }, {"missing", "does not exist"});
  require_usage_error([&] { RunFolder::open(folder.path); }, {folder.path.string(), "config.toml"});
  RunFolder::create(folder.path / "run").write_config("seed = 1\n");
  CHECK(RunFolder::open(folder.path / "run").path() == folder.path / "run");
  RunFolder::create(folder.path / "again").write_config("seed = 2\n");
  require_usage_error([&] { RunFolder::open(folder.path); },
                      {"but folders that do, such as " + (folder.path / "again").string()});
}

TEST_CASE("what is written reads back") {
  const TemporaryFolder folder;
  const RunFolder run = RunFolder::create(folder.path);
  run.write_config("seed = 1\n");
  CHECK(read_file(folder.path / "config.toml") == "seed = 1\n");
  const std::vector<std::string> names = {"chair", "sofa bed", "lämp_{1} 'x'", "a, b"};
  run.write_classes(names);
  CHECK(run.read_classes() == names);
  run.write_version();
  CHECK(read_file(folder.path / "version") == version_text());
  run.write_result("{}\n");
  CHECK(read_file(folder.path / "result.json") == "{}\n");
}

TEST_CASE("a class name is one line without blanks around it") {
  const TemporaryFolder folder;
  const RunFolder run = RunFolder::create(folder.path);
  for (const std::string name : {"", " chair", "chair\t", "a\nb", "a\rb"}) {
    test::require_error([&] { run.write_classes({"sofa", name}); }, {"class name", "'" + name + "'"});
  }
  CHECK_FALSE(std::filesystem::exists(run.classes()));
}

TEST_CASE("pictures of different rotations have different names") {
  const TemporaryFolder folder;
  const RunFolder run = RunFolder::create(folder.path);
  CHECK(run.confusion("so3") == folder.path / "confusion_so3");
  CHECK(run.confusion("none") == folder.path / "confusion_none");
}

TEST_CASE("the version names geosft, LibTorch and the compiler") {
  const std::string text = version_text();
  CHECK(text.find("geosft ") == 0);
  CHECK(text.find("\nLibTorch ") != std::string::npos);
  CHECK(text.find("\ncompiler ") != std::string::npos);
  CHECK(text.back() == '\n');
}

}  // namespace geosft::test::test_run_folder
