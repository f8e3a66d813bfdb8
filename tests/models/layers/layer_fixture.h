// SPDX-License-Identifier: Apache-2.0
// A TransformerLayer that holds the parameters of a golden case, and the gradients it should have.
#pragma once

#include <ATen/core/grad_mode.h>
#include <catch2/catch.hpp>

#include "models/layers/transformer_layer.h"
#include "tests/support.h"

namespace geosft::test {

// A parameter and its key in the fixture, which stores the projections of the paper transposed.
struct NamedParameter {
  std::string key;
  at::Tensor parameter;
  bool transposed = false;
};

inline std::vector<NamedParameter> linear_parameters(const std::string& weight, const std::string& bias,
                                                     torch::nn::Linear& linear, bool transposed) {
  return {{weight, linear->weight, transposed}, {bias, linear->bias}};
}

inline std::vector<NamedParameter> layer_parameters(TransformerLayerImpl& layer, const std::string& prefix) {
  std::vector<NamedParameter> all;
  const auto add = [&](const std::string& weight, const std::string& bias, torch::nn::Linear& linear, bool transposed) {
    const auto more = linear_parameters(prefix + weight, prefix + bias, linear, transposed);
    all.insert(all.end(), more.begin(), more.end());
  };
  SamplingAttention& attention = layer.attention;
  add("W_S", "b_S", attention->sampler->projection, true);
  add("W_Q", "b_Q", attention->query, true);
  add("W_K", "b_K", attention->key, true);
  add("W_V", "b_V", attention->value, true);
  add("W_C", "b_C", attention->leak, true);
  add("W_O", "b_O", attention->output, true);
  add("ff.0.weight", "ff.0.bias", layer.expand, false);
  add("ff.2.weight", "ff.2.bias", layer.contract, false);
  for (auto& [name, norm] : {std::pair{"norm1", layer.norm1}, std::pair{"norm2", layer.norm2}}) {
    all.push_back({prefix + name + ".weight", norm->weight});
    all.push_back({prefix + name + ".bias", norm->bias});
  }
  if (attention->options.relative != RelativeEncodingKind::none) {
    all.push_back({prefix + "w_mul", attention->w_mul});
    all.push_back({prefix + "b_mul", attention->b_mul});
    all.push_back({prefix + "w_add", attention->w_add});
    all.push_back({prefix + "b_add", attention->b_add});
  }
  return all;
}

inline void load_parameters(const std::vector<NamedParameter>& parameters, const Fixture& fixture) {
  at::NoGradGuard guard;
  for (const NamedParameter& named : parameters) {
    const at::Tensor value = fixture.get(named.key);
    at::Tensor target = named.parameter;
    target.copy_(named.transposed ? value.t() : value);
  }
}

// The fixtures hold gradients that are zero but for rounding, hence the floor.
inline void require_gradients(const std::vector<NamedParameter>& parameters, const Fixture& fixture, double tolerance) {
  for (const NamedParameter& named : parameters) {
    const at::Tensor expected = fixture.get("grad." + named.key);
    const at::Tensor actual =
        named.parameter.grad().defined() ? named.parameter.grad() : at::zeros_like(named.parameter);
    require_close(actual, named.transposed ? expected.t() : expected, tolerance, "gradient of " + named.key, 0.01);
  }
}

}  // namespace geosft::test
