// SPDX-License-Identifier: Apache-2.0
// libFuzzer's program, for the target that GEOSFT_FUZZ_TARGET names; without one it prints their names. The target's
// seeds are written to the folder GEOSFT_FUZZ_SEEDS. tools/fuzz.sh runs it.
#include <ATen/Parallel.h>
#include <dlfcn.h>
#include <execinfo.h>
#include <pthread.h>
#include <sanitizer/asan_interface.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "tests/fuzz/target.h"

namespace {

const geosft::fuzz::Target* chosen = nullptr;

// What the argument -max_len is: libFuzzer cuts off what is longer.
size_t longest_input(int count, char** arguments) {
  size_t longest = std::numeric_limits<size_t>::max();
  for (int i = 1; i < count; ++i) std::sscanf(arguments[i], "-max_len=%zu", &longest);
  return longest;
}

void write_seeds(const std::filesystem::path& folder, size_t longest) {
  int number = 0;
  for (const std::string& seed : chosen->seeds()) {
    if (seed.size() > longest) {
      std::fprintf(stderr, "%s: a seed has %zu bytes, and only %zu would be read\n", chosen->name, seed.size(),
                   longest);
      std::exit(2);
    }
    geosft::test::write_text(folder / ("seed_" + std::to_string(number++)), seed);
  }
}

// libhdf5 is at work. It trusts a file's numbers, and reads and writes beside its memory where they are wrong.
bool inside_library() {
  std::array<void*, 64> frames;
  const int count = ::backtrace(frames.data(), static_cast<int>(frames.size()));
  return std::any_of(frames.begin(), frames.begin() + count, [](void* frame) {
    Dl_info about;
    return ::dladdr(frame, &about) != 0 && about.dli_fname != nullptr && std::strstr(about.dli_fname, "libhdf5");
  });
}

// A library that ends its own process (data/isolated_reader.h) is an answer, and no finding. Our own code that does is
// one.
[[noreturn]] void end(bool by_fault) {
  ::alarm(2);  // who crashed may hold a lock that looking at the stack takes
  if (by_fault && !inside_library()) ::kill(::getppid(), SIGABRT);
  ::_exit(1);
}

bool undefined_behaviour = false;

void end_quietly() {
  __sanitizer_set_death_callback([] { end(undefined_behaviour || __asan_report_present() != 0); });
  struct sigaction crash {};
  crash.sa_handler = [](int) { end(true); };
  crash.sa_flags = SA_ONSTACK;  // the stack may be what has run out
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) ::sigaction(signal, &crash, nullptr);
}

}  // namespace

// The sanitizer calls it with every report.
extern "C" void __ubsan_on_report() {
  undefined_behaviour = true;
}

extern "C" int LLVMFuzzerInitialize(int* count, char*** arguments) {
  inside_library();  // what it needs is loaded now
  at::set_num_threads(1);
  ::pthread_atfork(nullptr, nullptr, end_quietly);
  geosft::fuzz::forget_cache();
  const char* name = std::getenv("GEOSFT_FUZZ_TARGET");
  for (const geosft::fuzz::Target& target : geosft::fuzz::targets()) {
    if (name == nullptr) std::puts(target.name);
    if (name != nullptr && std::strcmp(target.name, name) == 0) chosen = &target;
  }
  if (chosen == nullptr) {
    if (name != nullptr) std::fprintf(stderr, "no target '%s'\n", name);
    std::exit(name == nullptr ? 0 : 2);
  }
  if (const char* seeds = std::getenv("GEOSFT_FUZZ_SEEDS")) write_seeds(seeds, longest_input(*count, *arguments));
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    chosen->read({reinterpret_cast<const char*>(data), size});
  } catch (const geosft::DataError&) {
    return 0;  // the reader's answer
  }
  return 0;
}
