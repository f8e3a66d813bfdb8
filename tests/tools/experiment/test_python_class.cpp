// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/python_class.h"

#include <catch2/catch.hpp>

#include <torch/nn/modules/linear.h>

#include "tests/support.h"
#include "tools/experiment/python_class.h"

namespace geosft::test::test_python_class {

TEST_CASE("a state is the tensors and texts of a checkpoint") {
  const torch::nn::Linear model(3, 2);
  const Checkpoint found = checkpoint_of(served_state(*model, {{"kind", "a tool"}, {"config", "epochs = 1"}}));
  REQUIRE(found.texts == std::map<std::string, std::string>{{"kind", "a tool"}, {"config", "epochs = 1"}});
  REQUIRE(found.tensors.size() == 2);
  require_equal(found.tensors.at("model.weight"), model->weight.detach(), "weight");
  REQUIRE_FALSE(found.tensors.at("model.bias").requires_grad());
}

}  // namespace geosft::test::test_python_class
