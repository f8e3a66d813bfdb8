// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/device.h"

#include <ATen/Context.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <catch2/catch.hpp>

#include "models/training/distributed/nccl/nccl_communicator.h"
#include "tests/environment.h"
#include "tests/models/training/distributed/thread_processes.h"
#include "tests/support.h"
#include "tools/experiment/arguments.h"

namespace geosft::test::test_device {

TEST_CASE("the CPU can always be had, and is what auto gives where there is no GPU") {
  CHECK(chosen_device("cpu") == at::kCPU);
  if (!missing_for_cuda().empty()) CHECK(chosen_device("auto") == at::kCPU);
}

TEST_CASE("a device that is none is named, and one that cannot be used with the reason") {
  for (const char* name : {"gpu", "cuda:", "cuda:x", "cuda:1000", "", "CUDA"}) {
    CHECK_THROWS_AS(chosen_device(name), UsageError);
    require_error([&] { chosen_device(name); }, {"--device", "auto, cpu, cuda", name});
  }
  const std::string missing = missing_for_cuda();
  if (missing.empty()) {
    CHECK(chosen_device("cuda:0").is_cuda());
    require_error([&] { chosen_device("cuda:999"); }, {"cuda:999", "GPUs"});
  } else {
    require_error([&] { chosen_device("cuda:0"); }, {"cuda:0", missing, "--device cpu"});
  }
}

TEST_CASE("processes know their place on their machine", "[processes]") {
  const std::vector<std::string> machines = {"a", "b", "a", "a", "b"};
  const std::vector<int64_t> ranks = {0, 0, 1, 2, 1}, sizes = {3, 2, 3, 3, 2};
  std::vector<MachinePlace> places(5);
  ThreadProcesses(5).run([&](const Communicator& all) {
    const auto own = static_cast<size_t>(all.rank());
    places[own] = place_on_machine(all, machines[own]);
  });
  for (size_t i = 0; i < 5; ++i) CHECK((places[i].rank == ranks[i] && places[i].size == sizes[i]));
  CHECK(this_machine().size() > 36);  // a name and the number of its start
  CHECK(this_machine() == this_machine());
}

TEST_CASE("a process takes the GPU of its place, where there are enough", "[processes]") {
  CHECK(local_gpu({0, 1}, 1) == 0);
  CHECK(local_gpu({3, 4}, 4) == 3);
  CHECK(local_gpu({1, 2}, 8) == 1);
  CHECK_THROWS_AS(local_gpu({0, 2}, 1), UsageError);
  require_error([] { local_gpu({0, 4}, 2); }, {"4 processes", "2 GPUs", "--device cpu"});
  require_error([] { local_gpu({0, 2}, 1); }, {"2 processes", "1 GPU:"});
}

namespace {

// What shared_device gives, or refuses with, to two processes with these devices and names of them.
std::vector<std::string> of_two(at::Device first, at::Device second, const std::string& name,
                                const std::string& other_name) {
  std::vector<std::string> found(2);
  ThreadProcesses(2).run([&](const Communicator& all) {
    std::string& own = found[static_cast<size_t>(all.rank())];
    try {
      own = shared_device(all.is_root() ? name : other_name, all.is_root() ? first : second, all).str();
    } catch (const UsageError& error) {
      own = error.what();
    }
  });
  return found;
}

void require_refused(const std::vector<std::string>& found, const std::string& reason) {
  for (const std::string& own : found) CHECK_THAT(own, Catch::Contains(reason));
}

}  // namespace

TEST_CASE("processes compute on CPUs, or each on a GPU", "[processes]") {
  const at::Device cpu(at::kCPU), gpu(at::kCUDA, 1);
  CHECK(of_two(cpu, cpu, "auto", "cpu") == std::vector<std::string>{"cpu", "cpu"});
  CHECK(of_two(gpu, gpu, "cuda:1", "cuda:1") == std::vector<std::string>{"cuda:1", "cuda:1"});  // as they are told
  require_refused(of_two(gpu, cpu, "auto", "auto"), "some have none: --device cpu");
  require_refused(of_two(gpu, gpu, "cuda:1", "cuda"), "some have none: give it to all");
  const int64_t gpus = at::detail::getCUDAHooks().deviceCount();
  const std::vector<std::string> shared = of_two(gpu, gpu, "cuda", "auto");
  if (gpus >= 2) {
    CHECK(shared == std::vector<std::string>{"cuda:0", "cuda:1"});
  } else {
    require_refused(shared, gpus == 0 ? "with 0 GPUs" : "with 1 GPU:");
  }
}

TEST_CASE("NCCL itself sums on a GPU, where there is one", "[processes]") {
  if (const std::string missing = missing_for_cuda(); !missing.empty()) {
    leave_out_here(missing + ": NCCL itself is not tested");
    return;
  }
  const at::Device gpu = chosen_device("cuda:0");
  const std::unique_ptr<Communicator> alone = make_nccl_communicator(one_process(), gpu);
  const at::Tensor values = at::full({1 << 20}, 2.0, at::TensorOptions(gpu));
  alone->all_reduce(values)->wait();
  require_equal(values.cpu(), at::full({1 << 20}, 2.0), "the sum of one");
  CHECK_NOTHROW(alone->check());
}

}  // namespace geosft::test::test_device
