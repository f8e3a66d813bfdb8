// SPDX-License-Identifier: Apache-2.0
#include "models/summary.h"

#include <torch/nn/modules/linear.h>

#include <catch2/catch.hpp>
#include <sstream>

#include "models/layers/heads.h"

namespace geosft::test::test_summary {

TEST_CASE("a summary counts the parameters of every submodule", "[summary]") {
  SampleMaxHead head(7, 5, SamplerOptions{.num_samples = 2});
  REQUIRE(parameter_count(*head) == 8 + 40);
  std::istringstream text(summary(*head));
  std::map<std::string, int64_t> rows;
  std::string name;
  int64_t count = 0;
  std::getline(text, name);
  REQUIRE(name.find("parameters") != std::string::npos);
  while (text >> name >> count) rows[name] = count;
  REQUIRE(rows ==
          std::map<std::string, int64_t>{{"sampler", 8}, {"sampler.projection", 8}, {"linear", 40}, {"total", 48}});
}

TEST_CASE("a module is where its parameters are", "[summary]") {
  REQUIRE(device_of(*torch::nn::Linear(2, 3)) == at::kCPU);
  torch::nn::Module elsewhere;
  elsewhere.register_parameter("weight", at::empty({2}, at::TensorOptions().device(at::kMeta)));
  REQUIRE(device_of(elsewhere) == at::kMeta);
  REQUIRE(device_of(torch::nn::Module()) == at::kCPU);
}

}  // namespace geosft::test::test_summary
