// SPDX-License-Identifier: Apache-2.0
#include "data/graphs/encoding_cache.h"

#include <catch2/catch.hpp>
#include <set>

#include "data/formats/hdf5_file.h"
#include "graph/random_walk_pe_estimate.h"
#include "tests/data/files.h"
#include "tests/data/graphs/small_graphs.h"
#include "tests/support.h"

namespace geosft::test::test_encoding_cache {
namespace {

const NodeEncodingOptions walks{NodeEncoding::random_walk, 4}, vectors{NodeEncoding::laplacian, 3},
    estimate{NodeEncoding::random_walk, 4, 30, 7};

GraphBatch batch() {
  return small_graphs().graphs;
}

// Other numbers under the key that the file has.
void replace_values(const std::filesystem::path& file, const at::Tensor& values) {
  write_hdf5(file, {{"key", Hdf5File(file).read_int("key").to(at::kByte)}, {"values", values}});
}

}  // namespace

TEST_CASE("an encoding is computed once") {
  const TemporaryFolder folder;
  for (const NodeEncodingOptions& options : {walks, vectors, estimate}) {
    const EncodedNodes expected = encoded_nodes(batch(), options);
    for (int pass = 0; pass < 2; ++pass) {
      const EncodedNodes found = cached_encoding(folder / "cache", batch(), options);
      require_equal(found.values, expected.values, "values");
      REQUIRE(found.standard_error.defined() == (options.walks > 0));
      if (options.walks > 0) require_equal(found.standard_error, expected.standard_error, "standard error");
    }
  }
  const std::filesystem::path file = encoding_file(folder / "cache", batch(), walks);
  const at::Tensor others = at::ones({batch().graph.nodes(), 4});
  replace_values(file, others);
  require_equal(cached_encoding(folder / "cache", batch(), walks).values, others, "from the file");
  CHECK_FALSE(cached_encoding(folder / "cache", batch(), {}).values.defined());
}

TEST_CASE("encodings of other graphs, kinds and options lie in other files") {
  const GraphBatch one = batch();
  GraphBatch other = one, weighted = one, divided = one;
  other.graph.col = one.graph.col.flip(0);
  weighted.graph.weight = at::ones({one.graph.edges()});
  divided.ptr = at::tensor({int64_t{0}, one.graph.nodes()}, at::kLong);
  std::set<std::filesystem::path> files;
  for (const GraphBatch& graphs : {one, other, weighted}) {
    for (const NodeEncodingOptions& options : {walks, vectors, estimate}) {
      files.insert(encoding_file("/cache", graphs, options));
    }
  }
  files.insert(encoding_file("/cache", divided, vectors));
  files.insert(encoding_file("/cache", one, {NodeEncoding::random_walk, 5}));
  files.insert(encoding_file("/cache", one, {NodeEncoding::random_walk, 4, 31, 7}));
  files.insert(encoding_file("/cache", one, {NodeEncoding::random_walk, 4, 30, 8}));
  CHECK(files.size() == 9 + 4);
}

TEST_CASE("a damaged encoding, or one of another shape, is computed anew, as is what cannot be kept") {
  const TemporaryFolder folder;
  const at::Tensor expected = encoded_nodes(batch(), walks).values;
  const std::filesystem::path file = encoding_file(folder.path(), batch(), walks);
  const auto found = [&](const std::filesystem::path& cache) { return cached_encoding(cache, batch(), walks).values; };
  write_text(file, "text");
  require_equal(found(folder.path()), expected, "damaged");
  replace_values(file, at::ones({2, 4}));
  require_equal(found(folder.path()), expected, "of another shape");
  write_hdf5(file, {{"key", as_bytes("of others")}, {"values", at::ones_like(expected)}});
  require_equal(found(folder.path()), expected, "of another key");
  require_equal(found(""), expected, "no folder");
  require_equal(found("/proc/geosft"), expected, "a folder that cannot be made");
}

}  // namespace geosft::test::test_encoding_cache
