// SPDX-License-Identifier: Apache-2.0
#include "models/ops/cuda/sample_pairs_kernel.cuh"

#include <array>
#include <catch2/catch.hpp>

#include "models/ops/cuda/sample_pairs_host.h"
#include "models/ops/sample_pairs.h"
#include "tests/geometry/cuda/emulated_block.h"
#include "tests/geometry/cuda/walled_array.h"
#include "tests/models/ops/sample_cases.h"
#include "tests/support.h"

namespace geosft::test::test_sample_pairs_kernel {
namespace {

template <ThreadOrder kOrder>
SampledPairs emulated(const at::Tensor& score, const at::Tensor& ptr, const at::Tensor& seeds,
                      const cuda::SamplingOptions& options) {
  const auto [top, partner, noise, sample_ptr] = cuda::sampled_pairs(
      score, ptr, seeds, options, [&](const auto& in) { cuda::run_grids(in, EmulatedGrids<kOrder>()); });
  return {top, partner, noise, sample_ptr};
}

void require_same_samples(const SampledPairs& actual, const SampledPairs& expected, const std::string& what) {
  require_equal(actual.top, expected.top, what + " top");
  require_equal(actual.partner, expected.partner, what + " partner");
  require_equal(actual.noise, expected.noise, what + " noise");
  require_equal(actual.sample_ptr, expected.sample_ptr, what + " sample_ptr");
}

constexpr std::array all_rankings{cuda::Ranking::kCounted, cuda::Ranking::kSelected, cuda::Ranking::kSorted};

struct Batch {
  at::Tensor score, ptr, seeds;
};

// Items of many sizes; scores that are often equal.
Batch ragged(at::ScalarType type) {
  const at::Tensor ptr = at::tensor({0, 5, 5, 6, 606, 608, 611}, at::kLong);
  const at::Tensor score = (3 * at::randn({611}, generator(1), at::TensorOptions().dtype(at::kDouble))).round() / 2;
  return {score.to(type), ptr, at::randint(1L << 62, {6}, generator(2), at::TensorOptions().dtype(at::kLong))};
}

// Nothing is written but the samples.
template <ThreadOrder kOrder>
struct WalledSampling {
  template <typename T>
  void operator()(cuda::PairSampling<T> in) const {
    const WalledArray top(in.top, in.samples, int64_t{-7}), partner(in.partner, in.samples, int64_t{-7});
    const WalledArray noise_top(in.noise_top, in.samples, T(-7)), noise_partner(in.noise_partner, in.samples, T(-7));
    const WalledArray noise(in.noise, in.packed.rows, T(-7));
    const WalledArray key(in.key, in.packed.rows, uint64_t{7}), random_key(in.random_key, in.packed.rows, uint64_t{7});
    const EmulatedGrids<kOrder> grids;
    cuda::run_grids(in, grids);
    REQUIRE((top.close() && partner.close()));
    REQUIRE((noise_top.close() && noise_partner.close()));
    REQUIRE((noise.close() && key.close() && random_key.close()));
  }
};

template <ThreadOrder kOrder>
void require_inside(const at::Tensor& ptr, const cuda::SamplingOptions& options) {
  const at::Tensor score = at::randn({1000}, generator(6)), seeds = at::arange(ptr.size(0) - 1, at::kLong);
  const auto samples = cuda::sampled_pairs(score, ptr, seeds, options, WalledSampling<kOrder>{});
  const at::Tensor rows = at::cat({std::get<0>(samples), std::get<1>(samples)});
  REQUIRE((rows >= 0).logical_and(rows < 1000).all().item<bool>());
}

}  // namespace

TEST_CASE("the CUDA kernels of sample_pairs, emulated, give the samples of the CPU", "[sample_pairs_kernel]") {
  for (const at::ScalarType type : {at::kFloat, at::kDouble}) {
    const Batch batch = ragged(type);
    for (const int64_t k : {int64_t{1}, int64_t{40}, int64_t{1} << 62}) {
      for (const bool noise : {false, true}) {
        for (const bool random : {false, true}) {
          const SampledPairs expected = select_pairs(batch.score, k, batch.ptr, noise, random, batch.seeds);
          cuda::SamplingOptions options{noise, random, false, k, expected.top.size(0)};
          const std::string what = "k=" + std::to_string(k) + (noise ? " noise" : "") + (random ? " random" : "");
          for (const cuda::Ranking ranking : all_rankings) {
            options.ranking = ranking;
            const std::string how = what + " ranking " + std::to_string(static_cast<int>(ranking));
            require_same_samples(emulated<ThreadOrder::kAscending>(batch.score, batch.ptr, batch.seeds, options),
                                 expected, how);
            require_same_samples(emulated<ThreadOrder::kDescending>(batch.score, batch.ptr, batch.seeds, options),
                                 expected, how + ", turned");
          }
        }
      }
    }
  }
}

TEST_CASE("the CUDA kernel of sample_pairs with replacement, emulated, gives the samples of the CPU",
          "[sample_pairs_kernel]") {
  for (const at::ScalarType type : {at::kFloat, at::kDouble}) {
    const Batch batch = ragged(type);
    const SampledPairs expected = select_pairs_with_replacement(batch.score, 3, batch.ptr, batch.seeds);
    const cuda::SamplingOptions options{true, false, true, 3, expected.top.size(0)};
    require_same_samples(emulated<ThreadOrder::kAscending>(batch.score, batch.ptr, batch.seeds, options), expected,
                         "ascending");
    require_same_samples(emulated<ThreadOrder::kDescending>(batch.score, batch.ptr, batch.seeds, options), expected,
                         "turned");
  }
}

TEST_CASE("the CUDA kernels of sample_pairs, emulated, select distinct rows of the item for any score",
          "[sample_pairs_kernel]") {
  const double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  const at::Tensor score = at::tensor({nan, infinity, -infinity, 1.0, nan, -nan, 0.0, -0.0}, at::kDouble);
  const at::Tensor ptr = at::tensor({0, 8}, at::kLong), seeds = at::tensor({int64_t{5}}, at::kLong);
  for (const at::ScalarType type : {at::kFloat, at::kDouble}) {
    for (const bool random : {false, true}) {
      const SampledPairs samples =
          emulated<ThreadOrder::kAscending>(score.to(type), ptr, seeds, {true, random, false, 4, 4});
      const at::Tensor rows = std::get<0>(at::cat({samples.top, samples.partner}).sort());
      require_equal(rows, at::arange(8, at::kLong), "rows");
    }
  }
}

TEST_CASE("the CUDA kernels of sample_pairs, emulated, stay inside their arrays whatever the offsets",
          "[sample_pairs_kernel]") {
  for (const std::vector<int64_t>& ptr :
       {std::vector<int64_t>{300, 1000}, {-5, 400, 2000}, {0, 900, 400, 1000}, {700, 200, -1}, {1000, 1000, 1003}}) {
    const at::Tensor offsets = at::tensor(ptr, at::kLong);
    for (const bool random : {false, true}) {
      for (const cuda::Ranking ranking : all_rankings) {
        require_inside<ThreadOrder::kAscending>(offsets, {true, random, false, 20, 30, ranking});
        require_inside<ThreadOrder::kDescending>(offsets, {true, random, false, 20, 30, ranking});
      }
    }
    require_inside<ThreadOrder::kAscending>(offsets, {true, false, true, 20, 30});
  }
}

TEST_CASE("the largest item decides how rows are ranked where the host knows it", "[sample_pairs_kernel]") {
  const at::Tensor ptr = at::tensor({0, 5, 5, 65, 70}, at::kLong);
  CHECK(cuda::largest_possible(std::nullopt, 70) == 70);
  CHECK(cuda::largest_possible(ptr, 70) == 60);
  CHECK(cuda::largest_possible(ptr.to(at::kMeta), 70) == 70);  // on a device nothing is read
}

TEST_CASE("rows are ranked by comparison if few, by selection if few are sampled, and by sorting otherwise",
          "[sample_pairs_kernel]") {
  const auto ranking = [](int64_t items, int64_t rows, int64_t k) {
    return cuda::cheapest_ranking(items * rows, rows, {false, false, false, k, items * std::min(k, rows / 2)});
  };
  CHECK(ranking(32, 1024, 256) == cuda::Ranking::kCounted);
  CHECK(ranking(32, 10000, 256) == cuda::Ranking::kSelected);
  CHECK(ranking(1, 1000000, 4096) == cuda::Ranking::kSelected);
  CHECK(ranking(1, 1000000, int64_t{1} << 62) == cuda::Ranking::kSorted);
  CHECK(ranking(1, int64_t{1} << 40, 256) == cuda::Ranking::kSelected);
  CHECK(ranking(1, 0, 256) == cuda::Ranking::kCounted);
}

TEST_CASE("the rows of sample_pairs on CUDA are selected over several blocks an item", "[sample_pairs_kernel]") {
  const at::Tensor ptr = at::tensor({0, 5000, 5001, 5001, 18001}, at::kLong), seeds = at::arange(4, at::kLong);
  const at::Tensor steps = at::randn({18001}, generator(9)).round();
  for (const at::Tensor& score : {at::randn({18001}, generator(10)), steps, at::zeros({18001})}) {
    for (const bool random : {false, true}) {
      const SampledPairs expected = select_pairs(score, 100, ptr, false, random, seeds);
      const cuda::SamplingOptions options{false, random, false, 100, expected.top.size(0), cuda::Ranking::kSelected};
      require_same_samples(emulated<ThreadOrder::kAscending>(score, ptr, seeds, options), expected, "ascending");
      require_same_samples(emulated<ThreadOrder::kDescending>(score, ptr, seeds, options), expected, "turned");
    }
  }
}

TEST_CASE("the weights of sample_pairs on CUDA are those of the CPU", "[sample_pairs_kernel]") {
  at::Tensor score = at::cat({at::randn({20}, generator(3), at::TensorOptions().dtype(at::kDouble)),
                              at::tensor({-1000.0, 900.0, -31.0, 40.0}, at::kDouble)});
  const SampledPairs pairs{at::tensor({0, 21, 20, 3, 3, 22}, at::kLong), at::tensor({1, 20, 23, 3, 0, 5}, at::kLong),
                           at::randn({2, 6}, generator(4), score.options()), at::tensor({0, 6}, at::kLong)};
  const at::Tensor grad_output = at::randn({6}, generator(5), score.options());
  for (const double tau : {1.0, 0.3}) {
    at::Tensor leaf = score.clone().requires_grad_(true);
    const at::Tensor expected = pair_weight(leaf, pairs, tau);
    expected.backward(grad_output);
    require_close(cuda::pair_weight_composite(score, pairs.top, pairs.partner, pairs.noise, tau), expected.detach(),
                  1e-12, "weight");
    require_close(cuda::pair_weight_backward_composite(grad_output, score, pairs.top, pairs.partner, pairs.noise, tau),
                  leaf.grad(), 1e-12, "gradient");
  }
}

TEST_CASE("weights and gradients of very negative scores on CUDA are exact to rounding", "[sample_pairs_kernel]") {
  sample_cases::require_tail(
      [](const at::Tensor& score, const SampledPairs& pairs) {
        return cuda::pair_weight_composite(score, pairs.top, pairs.partner, pairs.noise, 1.0);
      },
      [](const at::Tensor& grad_output, const at::Tensor& score, const SampledPairs& pairs) {
        return cuda::pair_weight_backward_composite(grad_output, score, pairs.top, pairs.partner, pairs.noise, 1.0);
      });
}

TEST_CASE("the weights of sample_pairs on CUDA clamp indices that are out of range", "[sample_pairs_kernel]") {
  const at::Tensor score = at::randn({6}, generator(7)), noise = at::randn({2, 4}, generator(8));
  const at::Tensor top = at::tensor({-5, 2, 6, 1000}, at::kLong), partner = at::tensor({3, -1, 7, 0}, at::kLong);
  const at::Tensor near_top = top.clamp(0, 5), near_partner = partner.clamp(0, 5), grad = at::ones({4});
  require_equal(cuda::pair_weight_composite(score, top, partner, noise, 0.5),
                cuda::pair_weight_composite(score, near_top, near_partner, noise, 0.5), "weight");
  require_equal(cuda::pair_weight_backward_composite(grad, score, top, partner, noise, 0.5),
                cuda::pair_weight_backward_composite(grad, score, near_top, near_partner, noise, 0.5), "gradient");
  const at::Tensor none = score.slice(0, 0, 0);
  require_error([&] { cuda::pair_weight_composite(none, top, partner, noise, 1); }, {"score"});
  require_error([&] { cuda::pair_weight_backward_composite(grad, none, top, partner, noise, 1); }, {"score"});
}

}  // namespace geosft::test::test_sample_pairs_kernel
