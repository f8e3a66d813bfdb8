// SPDX-License-Identifier: Apache-2.0
#include "models/layers/primal_mixing.h"

#include "models/ops/primal_attention.h"
#include "tests/models/ops/attention_cases.h"

namespace geosft::test::test_primal_mixing {
namespace {

void require_scaled_heads(const std::string& name) {
  const Fixture fixture(name);
  Arguments arguments;
  Outcome expected{fixture.get("out"), {}};
  for (const char* argument : {"x", "w_q", "w_k", "w_v", "w_o", "b_k", "b_v", "beta"}) {
    if (!fixture.has(argument)) continue;
    arguments.tensors[argument] = fixture.get(argument);
    expected.gradients[argument] = fixture.get(std::string("grad.") + argument);
  }
  PrimalOptions options;
  options.linear = fixture.number("kernel", 0) != 0;
  options.eps = fixture.number("eps", 1e-6);
  options.pooling = fixture.number("mode", 0) == 0 ? PoolingKind::average : PoolingKind::max;
  const at::Tensor pool = fixture.get("pool");
  options.pool.assign(pool.const_data_ptr<int64_t>(), pool.const_data_ptr<int64_t>() + pool.size(0));
  const auto heads = static_cast<int64_t>(fixture.number("h", 0));
  const Attention layer = [&](const Arguments& a) {
    const PrimalWeights weights{
        a["w_q"].t(), {}, a["w_k"].t(), a["b_k"], a["w_v"].t(), a["b_v"], a.optional("beta").value_or(at::Tensor()),
        {},           {}};
    const at::Tensor mixed =
        mix_primal_heads(a["x"], heads, weights, options, fixture.get("ptr"), RelativeEncoding::none());
    return at::matmul(mixed.flatten(1), a["w_o"]);
  };
  // A bias of the keys moves all logits of a query: its gradient is 0 but for rounding.
  require_outcome(evaluate(layer, arguments, fixture.get("grad_out"), at::kDouble), expected, 1e-10, 1e-10, name, 1e-3);
}

}  // namespace

TEST_CASE("scaled heads reproduce the golden cases", "[primal_mixing]") {
  // Measured: 1.1e-12 where 1e-10 is allowed.
  for (const char* name : {"mean", "mean_bn", "mean_linear", "max"}) {
    require_scaled_heads(std::string("primal_layer_scaled_head_") + name);
  }
}

TEST_CASE("normalisation by the keys reproduces the golden case", "[primal_mixing]") {
  // Measured: 1.4e-15 where 1e-10 is allowed.
  const Fixture fixture("primal_layer_bn_full");
  Arguments arguments{{}, fixture.number("eps", 0)};
  Outcome expected{fixture.get("out"), {}};
  for (const char* argument : {"q", "k", "v"}) {
    arguments.tensors[argument] = fixture.get(argument);
    expected.gradients[argument] = fixture.get(std::string("grad.") + argument);
  }
  const at::Tensor ptr = fixture.get("q_ptr");
  const std::vector<int64_t> offsets = packed_offsets(ptr, arguments["q"].size(0), "q_ptr");
  const Attention attention = [&](const Arguments& a) {
    const NormalizedHeads heads = normalized_by_keys(a["q"], a["k"], a.eps, {offsets, offsets});
    return primal_attention(heads.q, heads.k, a["v"], {}, {}, "softmax", 1e-6, ptr, ptr);
  };
  require_outcome(evaluate(attention, arguments, fixture.get("grad_out"), at::kDouble), expected, 1e-10, 1e-10, "bn");
}

}  // namespace geosft::test::test_primal_mixing
