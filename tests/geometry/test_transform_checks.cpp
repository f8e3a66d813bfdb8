// SPDX-License-Identifier: Apache-2.0
#include "geometry/transform_checks.h"

#include <ATen/functorch/DynamicLayer.h>
#include <torch/csrc/autograd/autograd.h>

#include <catch2/catch.hpp>

#include "tests/support.h"

namespace geosft::test::test_transform_checks {
namespace {

namespace functorch = at::functorch;

// A transform of torch.func around the calls of a scope.
class Transform {
 public:
  explicit Transform(functorch::TransformType type, functorch::RandomnessType randomness) {
    const bool is_vmap = type == functorch::TransformType::Vmap;
    functorch::initAndPushDynamicLayer(type, is_vmap ? std::optional<c10::SymInt>(2) : std::nullopt,
                                       is_vmap ? std::optional(randomness) : std::nullopt,
                                       is_vmap ? std::nullopt : std::optional(true));
  }
  ~Transform() { functorch::popDynamicLayerAndDeleteMetadata(); }
  Transform(const Transform&) = delete;
  Transform& operator=(const Transform&) = delete;
};

}  // namespace

TEST_CASE("operators run outside of the transforms of torch.func", "[transform_checks]") {
  CHECK_NOTHROW(check_transforms("op", {at::ones({2}), at::Tensor()}));
  CHECK_NOTHROW(check_random_in_vmap("op"));
}

TEST_CASE("transforms that LibTorch refuses are named with the operator", "[transform_checks]") {
  const Transform grad(functorch::TransformType::Grad, functorch::RandomnessType::Error);
  require_error([] { check_transforms("op", {at::ones({2})}); }, {"geosft::op", "torch.func.grad", "torch.autograd"});
  CHECK_NOTHROW(check_random_in_vmap("op"));
}

TEST_CASE("a vmap permits random calls if its randomness does", "[transform_checks]") {
  for (const auto randomness : {functorch::RandomnessType::Different, functorch::RandomnessType::Same}) {
    const Transform vmap(functorch::TransformType::Vmap, randomness);
    CHECK_NOTHROW(check_random_in_vmap("op"));
  }
  const Transform vmap(functorch::TransformType::Vmap, functorch::RandomnessType::Error);
  require_error([] { check_random_in_vmap("op"); }, {"geosft::op", "randomness=\"different\"", "seeds"});
}

TEST_CASE("inputs with a tangent are refused: there is no forward mode", "[transform_checks]") {
  const uint64_t level = torch::autograd::forward_ad::enter_dual_level();
  {
    const at::Tensor dual = at::_make_dual(at::ones({2}), at::ones({2}), static_cast<int64_t>(level));
    CHECK_NOTHROW(check_transforms("op", {at::ones({2})}));
    require_error([&] { check_transforms("op", {at::ones({2}), dual}); }, {"geosft::op", "forward mode"});
  }
  torch::autograd::forward_ad::exit_dual_level(level);
}

}  // namespace geosft::test::test_transform_checks
