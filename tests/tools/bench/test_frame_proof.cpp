// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/frame_proof.h"

#include <catch2/catch.hpp>

namespace geosft::bench::test::test_frame_proof {

TEST_CASE("attention reproduces the solved regressor for every member", "[bench]") {
  for (const uint64_t seed : {0, 1}) {
    const std::vector<FrameProof> proofs = prove_frame({.seed = seed});
    REQUIRE(proofs.size() == 6);
    for (const FrameProof& proof : proofs) {
      INFO(proof.name);
      CHECK(proof.pairs == (proof.name == "sh" || proof.name == "bn_sh" ? 15 : 60));
      CHECK(proof.support_vectors > 0);
      CHECK(proof.support_vectors <= proof.pairs);
      CHECK(proof.spread > 0.01);
      CHECK(proof.by_frame < 1e-6);
      CHECK(proof.by_operator < 1e-6);
    }
  }
}

}  // namespace geosft::bench::test::test_frame_proof
