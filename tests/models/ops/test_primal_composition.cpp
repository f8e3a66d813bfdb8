// SPDX-License-Identifier: Apache-2.0
#include "models/ops/primal_composition.h"

#include <ATen/core/LegacyTypeDispatch.h>

#include "tests/models/ops/primal_cases.h"

namespace geosft::test::test_primal_composition {
namespace {

std::vector<std::pair<Arguments, PrimalNumbers>> cases() {
  std::vector<std::pair<Arguments, PrimalNumbers>> all;
  for (const bool linear : {false, true}) {
    all.push_back({random_primal({{5, 0, 9, 3}, {7, 2, 4, 0}, 3, 4, 2}, 31, true), {{2, 1, 2}, linear}});
  }
  all.push_back(all.front());
  add_random_mask(all.back().first, all.back().second, true, 32);
  return all;
}

}  // namespace

TEST_CASE("the composition agrees with the definition", "[primal_composition]") {
  for (const auto& [arguments, numbers] : cases()) {
    const Attention composed = [&n = numbers](const Arguments& a) {
      return with_arguments(a, n, composed_primal_attention);
    };
    require_reference(composed, slow_primal(numbers), arguments, "composition");
  }
}

TEST_CASE("the composition's gradients are made below autograd too", "[primal_composition]") {
  for (const auto& [arguments, numbers] : cases()) {
    const at::Tensor upstream = at::randn({17, 3, 2}, generator(5), at::kDouble);
    const Outcome expected = evaluate(slow_primal(numbers), arguments, upstream, at::kDouble);
    at::AutoDispatchBelowADInplaceOrView below;
    const std::vector<at::Tensor> gradients = with_arguments(
        arguments, numbers, [&](const PrimalArguments& a) { return composed_primal_gradients(upstream, a); });
    const char* names[] = {"q", "k", "v", "beta"};
    REQUIRE(gradients.size() == 4);
    for (size_t i = 0; i < 4; ++i) {
      REQUIRE_FALSE(gradients[i].requires_grad());
      require_close(gradients[i], expected.gradients.at(names[i]), 1e-10, names[i]);
    }
  }
}

TEST_CASE("where no query sees a key the composition's gradients are zero", "[primal_composition]") {
  const Arguments arguments = random_primal({{3}, {0}, 2, 3, 4}, 33);
  const auto gradients = with_arguments(arguments, {{1, 1}}, [](const PrimalArguments& a) {
    return composed_primal_gradients(at::ones({3, 2, 4}, at::kDouble), a);
  });
  REQUIRE(gradients.size() == 3);
  for (const at::Tensor& gradient : gradients) REQUIRE(gradient.eq(0).all().item<bool>());
}

}  // namespace geosft::test::test_primal_composition
