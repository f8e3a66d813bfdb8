// SPDX-License-Identifier: Apache-2.0
#include "data/graphs/encoding_cache.h"

#include "tests/fuzz/target.h"

namespace geosft::fuzz {
namespace {

GraphBatch triangle() {
  const at::Tensor from = at::tensor({0, 0, 1, 1, 2, 2}, at::kLong), to = at::tensor({1, 2, 0, 2, 0, 1}, at::kLong);
  return {graph_from_edges(from, to, 3), at::tensor({0, 3}, at::kLong)};
}

constexpr NodeEncodingOptions two_steps{.encoding = NodeEncoding::random_walk, .columns = 2};

// What a cache gives back has a row a node; what has not is no answer.
void read_encoding_cache(const std::string& input) {
  static const InputFolder folder({});
  test::write_text(encoding_file(folder.fill(""), triangle(), two_steps), input);
  const std::optional<EncodedNodes> found = stored_encoding(folder.fill(""), triangle(), two_steps);
  TORCH_CHECK(!found || found->values.sizes() == at::IntArrayRef({3, 2}), "a row a node");
}

Inputs encoding_seeds() {
  const test::TemporaryFolder folder;
  cached_encoding(folder.path(), triangle(), two_steps);
  return {test::read_text(encoding_file(folder.path(), triangle(), two_steps))};
}

const Registration encoding_cache({"encoding_cache", read_encoding_cache, encoding_seeds});

}  // namespace
}  // namespace geosft::fuzz
