// SPDX-License-Identifier: Apache-2.0
#define CATCH_CONFIG_RUNNER
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/autocast_mode.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>
#include <mutex>
#include <string>

#include "tests/environment.h"

namespace geosft::test {
namespace {

// What a case may change for the whole process, and may leave changed where it fails.
class ProcessState {
 public:
  ProcessState() {
    ::getrlimit(RLIMIT_FSIZE, &file_size_);
    for (size_t i = 0; i < signals.size(); ++i) ::sigaction(signals[i], nullptr, &actions_[i]);
  }
  void restore() const {
    if (at::get_num_threads() != threads_) at::set_num_threads(threads_);
    at::globalContext().setDeterministicAlgorithms(deterministic_, deterministic_warn_only_);
    at::autocast::set_autocast_enabled(at::kCPU, autocast_);
    std::error_code gone;
    std::filesystem::current_path(folder_, gone);
    for (const auto& [name, value] : environment()) {
      if (environment_.count(name) == 0) ::unsetenv(name.c_str());
    }
    for (const auto& [name, value] : environment_) ::setenv(name.c_str(), value.c_str(), 1);
    ::setrlimit(RLIMIT_FSIZE, &file_size_);
    for (size_t i = 0; i < signals.size(); ++i) ::sigaction(signals[i], &actions_[i], nullptr);
  }

 private:
  static constexpr std::array signals{SIGINT, SIGTERM, SIGPIPE, SIGXFSZ};

  static std::map<std::string, std::string> environment() {
    std::map<std::string, std::string> found;
    for (char** entry = ::environ; *entry != nullptr; ++entry) {
      const std::string text = *entry;
      const size_t end = text.find('=');
      if (end != std::string::npos) found.emplace(text.substr(0, end), text.substr(end + 1));
    }
    return found;
  }

  int threads_ = at::get_num_threads();
  bool deterministic_ = at::globalContext().deterministicAlgorithms();
  bool deterministic_warn_only_ = at::globalContext().deterministicAlgorithmsWarnOnly();
  bool autocast_ = at::autocast::is_autocast_enabled(at::kCPU);
  std::filesystem::path folder_ = std::filesystem::current_path();
  std::map<std::string, std::string> environment_ = environment();
  rlimit file_size_{};
  std::array<struct sigaction, signals.size()> actions_{};
};

int cases_run = 0;
int cases_left_out = 0;
int cases_without_assertion = 0;

// Every case starts from the same state, whatever has run before it in the process: the state in which the process
// started, and LibTorch's default generator seeded from the name of the case and from GEOSFT_TEST_SEED, a number that
// tools/flaky.sh changes from round to round.
class EachCaseAlone : public Catch::TestEventListenerBase {
 public:
  using TestEventListenerBase::TestEventListenerBase;

  void testCaseStarting(const Catch::TestCaseInfo& info) override {
    TestEventListenerBase::testCaseStarting(info);
    at::Generator random = at::detail::getDefaultCPUGenerator();
    const std::lock_guard<std::mutex> lock(random.mutex());
    random.set_current_seed(seed_of(info.name));
    case_left_out = warned_ = false;
  }
  bool assertionEnded(const Catch::AssertionStats& stats) override {
    warned_ = warned_ || stats.assertionResult.getResultType() == Catch::ResultWas::Warning;
    return TestEventListenerBase::assertionEnded(stats);
  }
  void testCaseEnded(const Catch::TestCaseStats& stats) override {
    TestEventListenerBase::testCaseEnded(stats);
    ++cases_run;
    if (case_left_out) ++cases_left_out;
    count_if_without_assertion(stats);
    began_.restore();
  }

 private:
  // Counts a case that checks nothing: it passes whatever the code does. Hidden ones run in a process that another case
  // starts and looks at, and a warning says what is left out.
  void count_if_without_assertion(const Catch::TestCaseStats& stats) const {
    if (stats.totals.assertions.total() > 0 || stats.testInfo.isHidden() || case_left_out || warned_) return;
    ++cases_without_assertion;
    std::cerr << "no assertion in the case \"" << stats.testInfo.name << "\"\n";
  }
  // 64-bit FNV-1a, the same on every machine.
  static uint64_t seed_of(const std::string& name) {
    const char* round = std::getenv("GEOSFT_TEST_SEED");
    uint64_t hash = 0xCBF29CE484222325;
    for (const unsigned char byte : name + (round == nullptr ? "" : round)) hash = (hash ^ byte) * 0x100000001B3;
    return hash;
  }

  const ProcessState began_;
  bool warned_ = false;
};

CATCH_REGISTER_LISTENER(EachCaseAlone)

}  // namespace
}  // namespace geosft::test

// Exit status: 0 passed, 1 failed or a case without assertions, 77 every case was left out (ctest: skipped).
int main(int argc, char** argv) {
  using geosft::test::cases_left_out, geosft::test::cases_run, geosft::test::cases_without_assertion;
  if (Catch::Session().run(argc, argv) != 0 || cases_without_assertion > 0) return 1;
  if (cases_left_out > 0) std::cerr << "left out: " << cases_left_out << " of " << cases_run << " cases\n";
  return cases_left_out > 0 && cases_left_out == cases_run ? 77 : 0;
}
