// SPDX-License-Identifier: Apache-2.0
#include "models/ops/primal_composition.h"

#include <ATen/core/LegacyTypeDispatch.h>

#include "models/training/autocast.h"
#include "tests/models/ops/primal_cases.h"
#include "tests/models/training/emulated_gpu.h"

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

// A case with a mask, of all heads or of each.
std::pair<Arguments, PrimalNumbers> masked_case(bool a_head) {
  std::pair<Arguments, PrimalNumbers> both{random_primal({{5, 0, 9, 3}, {7, 2, 4, 0}, 3, 4, 2}, 34, true),
                                           {a_head ? std::vector<int64_t>{2, 1, 2} : std::vector<int64_t>{}}};
  add_random_mask(both.first, both.second, a_head, 35);
  return both;
}

// On the emulated GPU, and behind the keys of every query, those of queries that see none included, numbers that are
// none of a key, a key that is repeated, and keys of other items.
Arguments on_emulated_gpu(Arguments a) {
  const at::Tensor rowptr = a["mask_rowptr"], col = a["mask_col"];
  std::vector<at::Tensor> columns;
  std::vector<int64_t> ends{0};
  for (int64_t row = 0; row + 1 < rowptr.size(0); ++row) {
    const int64_t query = row % a["q"].size(0);
    const at::Tensor keys = col.slice(0, rowptr[row].item<int64_t>(), rowptr[row + 1].item<int64_t>());
    columns.insert(columns.end(), {keys, -1 - keys, at::tensor({-7, 1000, query < 5 ? 12 : 0}, at::kLong)});
    ends.push_back(ends.back() + 2 * keys.size(0) + 3);
  }
  a.tensors["mask_col"] = at::cat(columns);
  a.tensors["mask_rowptr"] = at::tensor(ends, at::kLong);
  for (auto& [name, tensor] : a.tensors) {
    if (name != "q_ptr" && name != "k_ptr") tensor = tensor.to(emulated_gpu::device);
  }
  return a;
}

}  // namespace

TEST_CASE("the composition agrees with the definition", "[primal_composition]") {
  // Measured over 1,000 seeds, at most: 5.6e-14 of 1e-10, 3.5e-7 of 2e-5, 9.3e-6 of 0.0001 that are allowed.
  for (const auto& [arguments, numbers] : cases()) {
    const Attention composed = [&n = numbers](const Arguments& a) {
      return with_arguments(a, n, composed_primal_attention);
    };
    require_reference(composed, slow_primal(numbers), arguments, "composition");
  }
}

TEST_CASE("the composition keeps its type inside autocast, and its gradients do", "[primal_composition]") {
  for (const auto& [arguments, numbers] : cases()) {
    Arguments a = arguments;
    for (auto& [name, tensor] : a.tensors) tensor = tensor.is_floating_point() ? tensor.to(at::kFloat) : tensor;
    const at::Tensor grad_output = at::randn({17, 3, 2}, generator(7));
    const auto results = [&, &n = numbers] {
      std::vector<at::Tensor> all = with_arguments(
          a, n, [&](const PrimalArguments& given) { return composed_primal_gradients(grad_output, given); });
      all.push_back(with_arguments(a, n, composed_primal_attention));
      return all;
    };
    const std::vector<at::Tensor> expected = results();
    const Autocast autocast(at::kCPU, at::kBFloat16);
    const std::vector<at::Tensor> actual = results();
    for (size_t i = 0; i < expected.size(); ++i) require_equal(actual[i], expected[i], std::to_string(i));
  }
}

TEST_CASE("the composition's gradients are made below autograd too", "[primal_composition]") {
  // Measured over 1,000 seeds, at most: 5.6e-14 where 1e-10 is allowed.
  for (const auto& [arguments, numbers] : cases()) {
    const at::Tensor grad_output = at::randn({17, 3, 2}, generator(5), at::kDouble);
    const Outcome expected = evaluate(slow_primal(numbers), arguments, grad_output, at::kDouble);
    at::AutoDispatchBelowADInplaceOrView below;
    const std::vector<at::Tensor> gradients = with_arguments(
        arguments, numbers, [&](const PrimalArguments& a) { return composed_primal_gradients(grad_output, a); });
    const char* names[] = {"q", "k", "v", "beta"};
    REQUIRE(gradients.size() == 4);
    for (size_t i = 0; i < 4; ++i) {
      REQUIRE_FALSE(gradients[i].requires_grad());
      require_close(gradients[i], expected.gradients.at(names[i]), 1e-10, names[i]);
    }
  }
}

TEST_CASE("features of linear attention have the slope 1 at 0", "[primal_composition]") {
  // Measured: the same bits where 1e-14 is allowed.
  PrimalNumbers numbers;
  numbers.linear = true;
  Arguments at_zero = random_primal({{3}, {4}, 1, 2, 2}, 36), beside = at_zero;
  for (const char* name : {"q", "k"}) {
    at_zero.tensors[name].zero_();
    beside.tensors[name].fill_(1e-300);  // where a feature is x + 1
  }
  const at::Tensor grad_output = at::randn({3, 1, 2}, generator(9), at::kDouble);
  const auto gradients = [&](const Arguments& arguments) {
    return with_arguments(arguments, numbers,
                          [&](const PrimalArguments& a) { return composed_primal_gradients(grad_output, a); });
  };
  const std::vector<at::Tensor> found = gradients(at_zero), expected = gradients(beside);
  REQUIRE(expected[1].abs().max().item<double>() > 0.01);
  for (const size_t i : {0, 1, 2}) require_close(found[i], expected[i], 1e-14, std::to_string(i));
}

TEST_CASE("nothing is read of a mask on a GPU, and wrong keys in it count for nothing", "[primal_composition]") {
  // Measured over 1,000 seeds, at most: 1.2e-15 where 1e-12 is allowed, and 5.1e-14 where 1e-10 is allowed.
  for (const bool a_head : {false, true}) {
    const auto [arguments, numbers] = masked_case(a_head);
    CAPTURE(a_head);
    const Arguments there = on_emulated_gpu(arguments);
    const at::Tensor grad_output = at::randn({17, 3, 2}, generator(6), at::kDouble);
    const Outcome expected = evaluate(slow_primal(numbers), arguments, grad_output, at::kDouble);
    const at::Tensor grad_output_there = grad_output.to(emulated_gpu::device);
    at::Tensor out;
    std::vector<at::Tensor> gradients;
    {
      const emulated_gpu::NeverWaiting never;
      const at::AutoDispatchBelowADInplaceOrView below;
      out = with_arguments(there, numbers, composed_primal_attention);
      gradients = with_arguments(
          there, numbers, [&](const PrimalArguments& a) { return composed_primal_gradients(grad_output_there, a); });
    }
    require_close(out.cpu(), expected.out, 1e-12, "result");
    const char* names[] = {"q", "k", "v", "beta"};
    for (size_t i = 0; i < 4; ++i) require_close(gradients[i].cpu(), expected.gradients.at(names[i]), 1e-10, names[i]);
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
