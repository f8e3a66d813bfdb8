// SPDX-License-Identifier: Apache-2.0
// Compares the kernel variants of the ladder with double precision, on every vector target.
#pragma once

#include <catch2/catch.hpp>
#include <functional>
#include <string>
#include <vector>

#include "models/ops/cpu/simd.h"
#include "tools/bench/attention_inputs.h"
#include "tools/bench/ladder/ladder.h"

namespace geosft::bench::test {

struct LadderCase {
  LadderCase(int64_t items, int64_t queries, int64_t keys, int64_t heads, int64_t c)
      : in(random_inputs({.batch = items, .tokens = queries, .width = heads * c, .heads = heads, .seed = 3}, keys)),
        out(at::full_like(in.q, NAN).detach()),
        problem{items,
                queries,
                keys,
                heads,
                c,
                in.q.const_data_ptr<float>(),
                in.k.const_data_ptr<float>(),
                in.v.const_data_ptr<float>(),
                in.leak.const_data_ptr<float>(),
                out.mutable_data_ptr<float>()} {}
  PackedInputs in;
  at::Tensor out;
  LadderProblem problem;
};

// Sizes around tiles of 4 and vectors of up to 16.
inline std::vector<LadderCase> ladder_cases() {
  return {{1, 1, 1, 1, 1}, {2, 37, 33, 3, 5}, {1, 64, 32, 2, 16}, {1, 70, 3, 1, 4}};
}

inline void require_variant(const std::function<void(const LadderProblem&)>& variant) {
  for (const std::string& target : simd_target_names()) {
    force_simd_target(target);
    for (LadderCase& one : ladder_cases()) {
      INFO(target << ", " << one.problem.queries << " queries, " << one.problem.keys << " keys");
      variant(one.problem);
      CHECK(ladder_error(one.problem, ladder_reference(one.problem)) < 1e-5);
    }
  }
  force_simd_target("");
}

}  // namespace geosft::bench::test
