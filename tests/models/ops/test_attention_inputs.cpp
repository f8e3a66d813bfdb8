// SPDX-License-Identifier: Apache-2.0
#include "models/ops/attention_inputs.h"

#include <catch2/catch.hpp>

#include "tests/models/ops/wanted.h"
#include "tests/support.h"

namespace geosft::test::test_attention_inputs {

TEST_CASE("attention inputs are found by name, absent ones undefined", "[attention_inputs]") {
  std::vector<at::Tensor> t;
  for (int64_t i = 0; i < 14; ++i) t.push_back(at::full({1}, i));
  const PointInputs point(OptionalTensors({t[0], t[1], t[2], t[3], t[4], t[5], std::nullopt, std::nullopt, t[8], t[9],
                                           t[10], t[11], t[12], t[13]}),
                          0.5);
  REQUIRE(point.eps == 0.5);
  REQUIRE(point.leak().is_same(t[3]));
  REQUIRE(point.xs().is_same(t[5]));
  REQUIRE_FALSE(point.m().defined());
  REQUIRE_FALSE(point.ms().defined());
  REQUIRE(point.w_mul().is_same(t[8]));
  REQUIRE(point.b_add().is_same(t[11]));
  REQUIRE(point.q_ptr().is_same(t[12]));
  REQUIRE(point.k_ptr().is_same(t[13]));
}

TEST_CASE("a list of another length is refused", "[attention_inputs]") {
  const auto list = [](size_t count) {
    OptionalTensors inputs;
    for (size_t i = 0; i < count; ++i) inputs.push_back(at::ones({1}));
    return inputs;
  };
  const auto refused = [&](auto make, size_t count) {
    REQUIRE_NOTHROW(make(list(count)));
    for (const size_t other : {size_t{0}, size_t{5}, count - 1, count + 1}) {
      require_error([&] { make(list(other)); }, {"inputs must be", "got " + std::to_string(other)});
    }
  };
  refused([](const OptionalTensors& inputs) { return MaxoutInputs(inputs, 0.5); }, 8);
  refused([](const OptionalTensors& inputs) { return PointInputs(inputs, 0.5); }, 14);
  refused([](const OptionalTensors& inputs) { return SequenceInputs(inputs, 0.5); }, 12);
  refused([](const OptionalTensors& inputs) { return GraphInputs(inputs, 0.5); }, 16);
  require_error([&] { AttentionInputs(list(5), 0.5); }, {"inputs must be at least 6 tensors", "got 5"});
}

TEST_CASE("gradients that are not requested are skipped, except those of q, k, v and leak", "[attention_inputs]") {
  const at::Tensor one = at::ones({1}), ptr = at::zeros({2}, at::kLong);
  const MaxoutInputs in(OptionalTensors({one, one, one, one, std::nullopt, one, ptr, ptr}), 0.5);
  const OutputMask none(all_wanted(5, false), in);
  REQUIRE_FALSE(none.own(0));
  REQUIRE_FALSE(none.own(1));
  std::vector<at::Tensor> gradients(5, one);
  none.leave_out(gradients);
  for (size_t i = 0; i < 5; ++i) REQUIRE(gradients[i].numel() == (i < 4 ? 1 : 0));
  const OutputMask last(c10::List<bool>({false, false, false, false, true}), in);
  REQUIRE_FALSE(last.own(0));  // absent
  REQUIRE(last.own(1));
  require_error([&] { OutputMask(all_wanted(6), in); }, {"wanted must", "5", "6"});
}

}  // namespace geosft::test::test_attention_inputs
