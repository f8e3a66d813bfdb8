// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/frame_proof.h"

#include <catch2/catch.hpp>

namespace geosft::bench::test::test_frame_proof {

TEST_CASE("attention reproduces the solved regressor for every member", "[bench]") {
  for (const uint64_t seed : {0, 1}) {
    const std::vector<FrameProof> proofs = prove_frame({.seed = seed});
    REQUIRE(proofs.size() == 11);
    for (const FrameProof& proof : proofs) {
      INFO(proof.name);
      const bool pooled = proof.name == "sh" || proof.name == "bn_sh", sparse = proof.name == "sparse";
      CHECK(proof.pairs == (pooled ? 15 : sparse ? 22 : 60));
      CHECK(proof.support_vectors > 0);
      CHECK(proof.support_vectors <= proof.pairs);
      CHECK(proof.spread > 0.01);
      CHECK(proof.by_frame < 1e-6);
      CHECK(proof.by_operator < 1e-6);
    }
  }
}

TEST_CASE("convolution on a grid leaves out an odd key, and needs two", "[bench]") {
  const std::vector<FrameProof> odd = prove_frame({.keys = 21, .queries = 7}),
                                single = prove_frame({.keys = 12, .queries = 1});
  REQUIRE((odd.size() == 11 && single.size() == 10));
  CHECK((odd[8].name == "conv2d" && odd[8].pairs == 20 && odd[8].by_operator < 1e-6));
}

}  // namespace geosft::bench::test::test_frame_proof
