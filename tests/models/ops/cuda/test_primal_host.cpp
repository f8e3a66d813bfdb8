// SPDX-License-Identifier: Apache-2.0
#include "models/ops/cuda/primal_host.h"

#include "models/ops/cuda/primal_kernels.cuh"
#include "tests/geometry/cuda/emulated_block.h"
#include "tests/geometry/cuda/walled_array.h"
#include "tests/models/ops/cuda/filled_memory.h"
#include "tests/models/ops/primal_cases.h"

namespace geosft::test::test_primal_host {
namespace {

Arguments cast(const Arguments& a, at::ScalarType type) {
  Arguments to{{}, a.eps};
  for (const auto& [name, x] : a.tensors) to.tensors[name] = x.is_floating_point() ? x.to(type) : x;
  return to;
}

// The CUDA kernels, run(arrays): result and gradients.
template <class Run>
Outcome emulated_by(const Arguments& given, const PrimalNumbers& n, const at::Tensor& grad_output, at::ScalarType type,
                    const Run& run) {
  const FilledMemory filled;
  const Arguments a = cast(given, type);
  return with_arguments(a, n, [&](const PrimalArguments& arguments) {
    arguments.check();
    const auto [out, normalizer] = cuda::primal_forward(arguments, run);
    const auto made = cuda::primal_backward(grad_output.to(out.scalar_type()), out, normalizer, arguments, run);
    Outcome outcome{out, {{"q", made.at(0)}, {"k", made.at(1)}, {"v", made.at(2)}}};
    if (made.size() > 3) outcome.gradients["beta"] = made[3];
    return outcome;
  });
}

template <ThreadOrder kOrder = ThreadOrder::kAscending>
Outcome emulated(const Arguments& a, const PrimalNumbers& n, const at::Tensor& grad_output, at::ScalarType type) {
  return emulated_by(a, n, grad_output, type, [](const auto& in) { cuda::run_grids(in, EmulatedGrids<kOrder>()); });
}

// In double and single precision; the other order of threads gives the same bits.
void require_emulated(const Arguments& a, const PrimalNumbers& n, const at::Tensor& grad_output,
                      const Outcome& expected, const std::string& what, double wide = 1e-10, double floor = 0) {
  const Outcome outcome = emulated(a, n, grad_output, at::kDouble);
  require_outcome(outcome, expected, wide, wide, what + " float64", floor);
  require_outcome(emulated(a, n, grad_output, at::kFloat), expected, 1e-4, 1e-3, what + " float32", 1e-3);
  const Outcome turned = emulated<ThreadOrder::kDescending>(a, n, grad_output, at::kDouble);
  require_equal(turned.out, outcome.out, what + ", turned");
  for (const auto& [name, gradient] : outcome.gradients) {
    require_equal(turned.gradients.at(name), gradient, what + ", turned, gradient of " + name);
  }
}

void require_slow(const Arguments& a, const PrimalNumbers& n, const std::string& what) {
  const at::Tensor grad_output =
      at::randn({a["q"].size(0), a["q"].size(1), a["v"].size(2)}, generator(77), at::kDouble);
  require_emulated(a, n, grad_output, evaluate(slow_primal(n), a, grad_output, at::kDouble), what, 1e-10, 1e-3);
}

// Nothing is written beside the results.
template <ThreadOrder kOrder>
struct WalledRun {
  template <typename T>
  static int64_t places(const cuda::PrimalTask<T>& task) {
    return task.heads * task.row_tokens.packed.rows;
  }
  template <typename T>
  void operator()(cuda::PrimalTask<T> in) const {
    std::vector<WalledArray<T>> walls;
    const int64_t rows = places(in), sums = in.heads * in.c * (in.cv + 1);
    if (in.value) walls.emplace_back(in.value, rows * in.cv, T(-7));
    if (in.normalizer) walls.emplace_back(in.normalizer, rows, T(-7));
    if (in.gradient) walls.emplace_back(in.gradient, rows * in.c, T(-7));
    if (in.tile_sums) {
      walls.emplace_back(in.tile_sums, cuda::PrimalTileSumKernel<T>::blocks(in.column_tokens.packed) * sums, T(-7));
      walls.emplace_back(in.item_sums, in.column_tokens.packed.items * sums, T(-7));
    }
    close(in, walls);
  }
  template <typename T>
  void operator()(cuda::PrimalPooling<T> in) const {
    std::vector<WalledArray<T>> walls;
    walls.emplace_back(in.to, in.heads * in.pooled.packed.rows * in.width, T(-7));
    close(in, walls);
  }
  template <typename T>
  void operator()(cuda::PrimalUnpooling<T> in) const {
    std::vector<WalledArray<T>> walls;
    walls.emplace_back(in.to, in.heads * in.packed.rows * in.width, T(-7));
    close(in, walls);
  }
  template <typename T>
  void operator()(cuda::PrimalItemSums<T> in) const {
    std::vector<WalledArray<T>> walls;
    walls.emplace_back(in.to, in.heads * in.tokens.packed.items * in.width, T(-7));
    walls.emplace_back(in.tile_sums, in.heads * in.blocks() * in.width, T(-7));
    close(in, walls);
  }

  template <class Arrays, typename T>
  static void close(const Arrays& in, const std::vector<WalledArray<T>>& walls) {
    cuda::run_grids(in, EmulatedGrids<kOrder>());
    for (const WalledArray<T>& wall : walls) REQUIRE(wall.close());
  }
};

}  // namespace

TEST_CASE("the CUDA kernels of primal_attention, emulated, reproduce the golden cases", "[primal_host]") {
  for (const std::string& name : golden_primal_names()) {
    const GoldenPrimal golden(name);
    require_emulated(golden.arguments, golden.numbers, golden.grad_output, golden.expected, name);
  }
  const GoldenPrimal small("primal_linear_small_sum");
  require_emulated(small.arguments, small.numbers, small.grad_output, small.expected, "small sum", 1e-9);
  // The gradients of q and k are 1e-5 and 2e-4: differences of numbers near 1, times numbers near 30.
  const GoldenPrimal large("primal_large_logits");
  require_outcome(emulated(large.arguments, large.numbers, large.grad_output, at::kDouble), large.expected, 1e-10,
                  1e-10, "large logits", 2e-4);
}

TEST_CASE("the CUDA kernels of primal_attention, emulated, agree with its definition", "[primal_host]") {
  for (const std::string& family : primal_families()) {
    for (const PrimalCase& c : awkward_primal_cases(family)) require_slow(c.arguments, c.numbers, family);
    const PrimalCase tiles_of_sums(family, {{3, 2}, {5000, 2100}, 2, 3, 2}, 14);
    require_slow(tiles_of_sums.arguments, tiles_of_sums.numbers, family + ", items of several tiles of sums");
    const PrimalCase long_items(family, {{4, 2, 0, 600, 31}, {1, 2, 5, 700, 300}, 4, 5, 3}, 12);
    require_slow(long_items.arguments, long_items.numbers, family + ", long items");
  }
}

TEST_CASE("the CUDA kernels of primal_attention, emulated, take heads of any width up to 128", "[primal_host]") {
  for (const std::string& family : primal_families()) {
    for (const int64_t width : {17, 33, 65, 128}) {
      const PrimalCase c(family, {{9, 3}, {5, 40}, 2, width, width - 1}, 13);
      require_slow(c.arguments, c.numbers, family + " " + std::to_string(width));
    }
  }
}

TEST_CASE("the CUDA kernels of primal_attention, emulated, do without what is not given", "[primal_host]") {
  for (const bool linear : {false, true}) {
    Arguments plain = random_primal({{70, 5}, {33, 8}, 3, 6, 4}, 14);
    require_slow(plain, {{}, linear}, "neither beta nor factors");
    require_slow(plain, {{int64_t{1} << 62, 1, 2}, linear}, "a factor beyond all items");
    plain.tensors["beta"] = at::full({}, 0.3, at::kDouble);
    require_slow(plain, {{}, linear}, "one beta");
    Arguments alone = random_primal({{7}, {9}, 2, 3, 4}, 15, true);
    alone.tensors.erase("q_ptr");
    alone.tensors.erase("k_ptr");
    require_slow(alone, {{2, 1}, linear}, "one item");
  }
  const PrimalNumbers scaled{{}, false, -0.7};
  require_slow(random_primal({{8}, {9}, 2, 3, 4}, 16), scaled, "a scale");
  Arguments masked = random_primal({{5, 9}, {7, 4}, 2, 3, 4}, 17, true);
  add_random_mask(masked, {{2, 2}}, false, 18);
  require_slow(masked, {{2, 2}}, "one mask of all heads");
}

TEST_CASE("half precision is computed in float32 by the CUDA kernels of primal_attention", "[primal_host]") {
  for (const std::string& family : primal_families()) {
    const PrimalCase c(family, {{9, 30}, {12, 20}, 3, 6, 5}, 19);
    const Arguments rounded = cast(c.arguments, at::kBFloat16);
    const at::Tensor grad_output = at::randn({39, 3, 5}, generator(20));
    const Outcome half = emulated(rounded, c.numbers, grad_output, at::kBFloat16);
    const Outcome single = emulated(rounded, c.numbers, grad_output, at::kFloat);
    require_equal(half.out, single.out, family);
    for (const auto& [name, gradient] : single.gradients) {
      require_equal(half.gradients.at(name), gradient.to(at::kBFloat16), family + " " + name);
    }
  }
}

TEST_CASE("the CUDA kernels of primal_attention, emulated, stay inside their arrays whatever offsets and masks are",
          "[primal_host]") {
  const int64_t rows = 200, heads = 2;
  for (const std::vector<int64_t>& ptr :
       {std::vector<int64_t>{30, 200}, {-5, 90, 400}, {0, 150, 90, 200}, {170, 20, -1}}) {
    for (const std::string& family : primal_families()) {
      Arguments a;
      for (const char* name : {"q", "k", "v"}) a.tensors[name] = at::randn({rows, heads, 5}, generator(21));
      a.tensors["beta"] = at::ones({heads});
      a.tensors["q_ptr"] = at::tensor(ptr, at::kLong);
      a.tensors["k_ptr"] = a["q_ptr"].flip(0).contiguous();
      if (family == "masked") {
        a.tensors["mask_rowptr"] = at::randint(-9, 2000, {heads * rows + 1}, generator(22), at::kLong);
        a.tensors["mask_col"] = at::randint(-9, 400, {900}, generator(23), at::kLong);
      }
      const at::Tensor grad_output = at::ones({rows, heads, 5});
      for (const std::vector<int64_t>& pool : {std::vector<int64_t>{}, {3, 1}}) {
        const PrimalNumbers numbers{pool, family == "linear"};
        emulated_by(a, numbers, grad_output, at::kFloat, WalledRun<ThreadOrder::kAscending>());
        emulated_by(a, numbers, grad_output, at::kFloat, WalledRun<ThreadOrder::kDescending>());
      }
      for (const char* name : {"q", "k", "v"}) {
        require_equal(a[name], at::randn({rows, heads, 5}, generator(21)), name);
      }
      require_equal(grad_output, at::ones({rows, heads, 5}), "grad_output");
    }
  }
}

TEST_CASE("offsets that the host sees are checked before the CUDA kernels of primal_attention", "[primal_host]") {
  Arguments a = random_primal({{5}, {7}, 1, 3, 4}, 24);
  a.tensors["k_ptr"] = at::tensor({0, 6}, at::kLong);
  require_error([&] { with_arguments(a, {}, cuda::check_visible_offsets); }, {"k_ptr"});
}

TEST_CASE("a mask is turned round for the keys on a device", "[primal_host]") {
  // Two heads of two queries and three keys: 0 sees 0 and 2, 1 sees 2; 0 sees nothing, 1 sees 0.
  const at::Tensor rowptr = at::tensor({0, 2, 3, 3, 4}, at::kLong), col = at::tensor({0, 2, 2, 0}, at::kLong);
  const cuda::MaskTensors mask = cuda::query_mask(rowptr, col, {2, 3, 2}), keys = cuda::key_mask(mask, {2, 3, 2});
  require_equal(keys.rowptr, at::tensor({0, 1, 1, 3, 4, 4, 4}, at::kLong), "rows of keys");
  require_equal(keys.col, at::tensor({0, 0, 1, 1}, at::kLong), "queries");
  CHECK(mask.rows().head_step == 2);
  CHECK(keys.rows().head_step == 3);
  const at::Tensor beyond = at::tensor({0, 3, -1, 0}, at::kLong);  // columns that are no keys
  require_equal(cuda::key_mask(cuda::query_mask(rowptr, beyond, {2, 3, 2}), {2, 3, 2}).rowptr,
                at::tensor({0, 1, 1, 1, 2, 2, 2}, at::kLong), "without them");
  const cuda::MaskTensors shared = cuda::query_mask(rowptr.slice(0, 0, 3), col.slice(0, 0, 3), {2, 3, 2});
  CHECK(shared.rows().head_step == 0);
  CHECK(cuda::key_mask(shared, {2, 3, 2}).rows().head_step == 0);
}

}  // namespace geosft::test::test_primal_host
