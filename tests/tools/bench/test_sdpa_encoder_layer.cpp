// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/composites.h"

#include <catch2/catch.hpp>

#include "tests/support.h"

namespace geosft::bench::test::test_sdpa_encoder_layer {

TEST_CASE("the layer on SDPA computes what torch::nn::TransformerEncoderLayer does", "[bench]") {
  torch::nn::TransformerEncoderLayer module(
      torch::nn::TransformerEncoderLayerOptions(12, 3).dim_feedforward(20).dropout(0.0).activation(torch::kGELU));
  SdpaEncoderLayer layer(12, 3, 20);
  layer->copy_from(*module);
  const at::Tensor x = at::randn({2, 7, 12}, geosft::test::generator(3), at::TensorOptions());
  geosft::test::require_close(layer->forward(x), module->forward(x.transpose(0, 1)).transpose(0, 1), 1e-5, "layer");
}

}  // namespace geosft::bench::test::test_sdpa_encoder_layer
