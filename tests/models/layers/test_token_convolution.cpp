// SPDX-License-Identifier: Apache-2.0
#include "models/layers/token_convolution.h"

#include "models/ops/primal_attention.h"
#include "tests/models/ops/attention_cases.h"

namespace geosft::test::test_token_convolution {
namespace {

void require_golden(const std::string& name, const std::vector<int64_t>& offsets, int64_t height, int64_t width) {
  const Fixture fixture(name);
  Arguments arguments;
  Outcome expected{fixture.get("out"), {}};
  for (const char* argument : {"q", "k", "v", "weight"}) {
    arguments.tensors[argument] = fixture.get(argument);
    expected.gradients[argument] = fixture.get(std::string("grad.") + argument);
  }
  const auto convolved = [&](const at::Tensor& x, const at::Tensor& weight) {
    return weight.dim() == 2 ? convolve_sequence(x, weight, offsets) : convolve_grid(x, weight, height, width);
  };
  const auto ptr = fixture.optional("q_ptr");
  const Attention attention = [&](const Arguments& a) {
    return primal_attention(convolved(a["q"], a["weight"]), convolved(a["k"], a["weight"]), a["v"], {}, {}, "softmax",
                            1e-6, ptr, ptr);
  };
  require_outcome(evaluate(attention, arguments, fixture.get("grad_out"), at::kDouble), expected, 1e-10, 1e-10, name);
}

}  // namespace

TEST_CASE("convolution along the sequence reproduces the golden cases", "[token_convolution]") {
  // Measured: 1.4e-15 where 1e-10 is allowed.
  for (const char* name : {"s5", "s5_shared", "s4"}) {
    const std::string file = std::string("primal_layer_conv1d_") + name;
    const at::Tensor ptr = Fixture(file).get("q_ptr");
    require_golden(file, {ptr.const_data_ptr<int64_t>(), ptr.const_data_ptr<int64_t>() + ptr.size(0)}, 0, 0);
  }
}

TEST_CASE("convolution on a grid reproduces the golden cases", "[token_convolution]") {
  // Measured: 1.1e-15 where 1e-10 is allowed.
  require_golden("primal_layer_conv2d_s2", {}, 4, 5);
  require_golden("primal_layer_conv2d_s3", {}, 5, 3);
}

TEST_CASE("items are convolved each for itself", "[token_convolution]") {
  // Measured: the same bits where 1e-6 is allowed.
  const at::Tensor x = at::randn({9, 2, 3}, generator(1)), weight = at::randn({2, 4}, generator(2));
  const at::Tensor apart =
      at::cat({convolve_sequence(x.slice(0, 0, 1), weight, {0, 1}), convolve_sequence(x.slice(0, 1), weight, {0, 8})});
  require_close(convolve_sequence(x, weight, {0, 1, 1, 9}), apart, 1e-6, "sequences");
  const at::Tensor grids = at::randn({12, 2, 3}, generator(3)), square = at::randn({1, 2, 2}, generator(4));
  require_close(convolve_grid(grids, square, 2, 3).slice(0, 6), convolve_grid(grids.slice(0, 6), square, 2, 3), 1e-6,
                "grids");
}

TEST_CASE("a kernel of one leaves tokens as they are", "[token_convolution]") {
  const at::Tensor x = at::randn({6, 2, 3}, generator(5));
  require_equal(convolve_sequence(x, at::ones({1, 1}), {0, 2, 6}), x, "sequence");
  require_equal(convolve_grid(x, at::ones({2, 1, 1}), 2, 3), x, "grid");
  REQUIRE(convolve_sequence(x.slice(0, 0, 0), at::ones({1, 3}), {0, 0}).size(0) == 0);
}

TEST_CASE("kernels and grids that do not fit are refused", "[token_convolution]") {
  const at::Tensor x = at::zeros({6, 2, 3});
  require_error([&] { convolve_sequence(x, at::ones({3, 5}), {0, 6}); }, {"weight", "[h, s]", "[3, 5]"});
  require_error([&] { convolve_sequence(x, at::ones({2, 5}), {0, 5}); }, {"x must have the rows", "5", "6"});
  require_error([&] { convolve_grid(x, at::ones({2, 2, 3}), 2, 3); }, {"weight", "[h, s, s]"});
  require_error([&] { convolve_grid(x, at::ones({2, 2, 2}), 2, 2); }, {"2 x 2", "6 rows"});
}

}  // namespace geosft::test::test_token_convolution
