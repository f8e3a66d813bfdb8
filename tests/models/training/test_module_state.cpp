// SPDX-License-Identifier: Apache-2.0
#include "models/training/module_state.h"

#include <torch/nn/modules/batchnorm.h>

#include <catch2/catch.hpp>

#include "tests/support.h"

namespace geosft::test::test_module_state {
namespace {

using State = std::map<std::string, at::Tensor>;

State copy_of(const State& state) {
  State copy;
  for (const auto& [name, tensor] : state) copy.emplace(name, tensor.clone());
  return copy;
}

}  // namespace

TEST_CASE("module_state has parameters and buffers, in the module's memory", "[module_state]") {
  torch::nn::BatchNorm1d norm(3);
  State state = module_state(*norm);
  REQUIRE(state.size() == 5);
  REQUIRE_FALSE(state.at("weight").requires_grad());
  REQUIRE(state.at("running_mean").data_ptr() == norm->running_mean.data_ptr());
  state.at("bias").fill_(7);
  require_equal(norm->bias.detach(), at::full({3}, 7.0f), "bias");
}

TEST_CASE("load_module_state copies and leaves the tensors where they are", "[module_state]") {
  torch::nn::BatchNorm1d norm(3);
  State state = copy_of(module_state(*norm));
  state.at("weight").fill_(2);
  state.at("running_var").fill_(3);
  const void* const memory = norm->weight.data_ptr();
  load_module_state(*norm, state);
  require_equal(norm->weight.detach(), at::full({3}, 2.0f), "weight");
  require_equal(norm->running_var, at::full({3}, 3.0f), "running_var");
  REQUIRE(norm->weight.data_ptr() == memory);
  REQUIRE(norm->weight.requires_grad());
}

TEST_CASE("load_module_state refuses tensors of another module by name", "[module_state]") {
  torch::nn::BatchNorm1d norm(3);
  State fewer = copy_of(module_state(*norm)), more = fewer, wider = fewer;
  fewer.erase("running_mean");
  require_error([&] { load_module_state(*norm, fewer); }, {"the checkpoint has no tensor running_mean"});
  more.emplace("extra", at::ones({1}));
  require_error([&] { load_module_state(*norm, more); }, {"the checkpoint has a tensor extra that the model does not"});
  wider.at("bias") = at::ones({4});
  require_error([&] { load_module_state(*norm, wider); }, {"tensor bias of the checkpoint has shape [4]"});
  // Nothing of them was taken over before that was seen.
  const State before = copy_of(module_state(*norm));
  for (State* const refused : {&fewer, &more, &wider}) {
    for (auto& [name, tensor] : *refused) tensor = tensor + 1;
    CHECK_THROWS(load_module_state(*norm, *refused));
  }
  for (const auto& [name, tensor] : module_state(*norm)) require_equal(tensor.detach(), before.at(name), name);
}

TEST_CASE("a copy of a module's state has its dtypes and its mode, and memory of its own", "[module_state]") {
  torch::nn::BatchNorm1d norm(3), copy(3);
  norm->weight.set_data(at::arange(3, at::kDouble));
  norm->bias.set_requires_grad(false);
  norm->running_mean.fill_(5);
  norm->num_batches_tracked.fill_(7);
  norm->eval();
  copy_module_state(*copy, *norm, std::nullopt);
  require_equal(copy->weight.detach(), at::arange(3, at::kDouble), "weight");
  require_equal(copy->num_batches_tracked, at::scalar_tensor(7, at::kLong), "batches");
  CHECK(copy->weight.requires_grad());
  CHECK_FALSE(copy->bias.requires_grad());
  CHECK_FALSE(copy->is_training());
  copy->running_mean.fill_(1);
  require_equal(norm->running_mean, at::full({3}, 5.0f), "running_mean");
}

TEST_CASE("the default dtype is as it was afterwards", "[module_state]") {
  {
    const DefaultDtypeGuard of_weights(at::kDouble);
    CHECK(at::ones({1}).scalar_type() == at::kDouble);
  }
  CHECK(at::ones({1}).scalar_type() == at::kFloat);
}

TEST_CASE("the head of a model is told by the name of its child", "[module_state]") {
  for (const char* name : {"head.linear.weight", "pool_head.u", "sample_head.sampler.score.weight", "head"}) {
    REQUIRE(is_of_head(name));
  }
  for (const char* name : {"embed.weight", "encoder.layers.0.head_weight", "heads.weight", "target_mean", ""}) {
    REQUIRE_FALSE(is_of_head(name));
  }
}

}  // namespace geosft::test::test_module_state
