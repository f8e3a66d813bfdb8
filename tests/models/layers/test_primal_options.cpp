// SPDX-License-Identifier: Apache-2.0
#include "models/layers/primal_options.h"

#include <catch2/catch.hpp>

#include "tests/support.h"

namespace geosft::test::test_primal_options {

TEST_CASE("the registry knows the family by name", "[primal_options]") {
  REQUIRE(primal_names().size() == 21);
  REQUIRE(primal_kernels().size() == 3);
  REQUIRE(primal_kernels()[2].name == "sparse");
  REQUIRE(primal_kernels()[0].members.back() == "conv2d");
  REQUIRE(primal_kernels()[1].members[4] == "linear_bn_sh");
  REQUIRE(primal_options("conv2d", 2).convolution_size == 2);
  REQUIRE(primal_options("bn_sh", 2).beta == primal_options("bn", 2).beta);
  REQUIRE(primal_options("linear_bn_sh", 8).linear);
  REQUIRE(primal_options("linear_bn_sh", 8).pool == std::vector<int64_t>{1, 1, 2, 2, 4, 4, 8, 8});
  REQUIRE(primal_options("bn_sh", 4).pool == std::vector<int64_t>{1, 1, 2, 4});
  REQUIRE(default_pool(2) == std::vector<int64_t>{1, 2});
  REQUIRE(default_pool(1) == std::vector<int64_t>{1});
  REQUIRE(primal_options("bn", 2).beta > 0);
  REQUIRE(primal_options("bn", 2).pool.empty());
  REQUIRE(primal_options("bn_variance", 2).variance);
  REQUIRE(primal_options("sparse_sh", 2).mask == MaskKind::strided);
  REQUIRE(primal_options("sparse_sh", 2).mask_size == 0);
  REQUIRE(primal_options("conv1d", 2).convolution == ConvolutionKind::sequence);
  REQUIRE(primal_options("sparse_conv2d", 2).convolution == ConvolutionKind::grid);
  REQUIRE(primal_options("softmax", 2).mask == MaskKind::none);
  require_error([] { primal_options("cosine", 2); }, {"name", "softmax", "linear_bn_sh", "cosine"});
}

}  // namespace geosft::test::test_primal_options
