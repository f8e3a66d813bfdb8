// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/catalogue.h"

#include <set>

#include "tests/support.h"
#include "tests/tools/bench/bench_sizes.h"
#include "tools/experiment/arguments.h"

namespace geosft::bench::test::test_catalogue {

TEST_CASE("all measurements have names and descriptions of their own", "[bench]") {
  std::set<std::string> names;
  for (const Entry& entry : all_entries(small_sizes())) {
    CHECK(names.insert(entry.name).second);
    CHECK_FALSE(entry.about.empty());
  }
  for (const char* name :
       {"maxout_attention/k9/forward", "point_attention_normals/k5/forward+backward",
        "point_attention_angles/k5/forward", "sequence_attention/k9/forward", "graph_attention/k9/forward",
        "polynomial_attention/g4/forward", "sample_pairs/k9/forward", "gather_pairs/k5/forward", "random_walk_pe",
        "laplacian_pe", "softmax_pool/forward", "layer/k9/forward", "model/sequence/k5", "knn/k16/100000",
        "estimate_normals", "farthest_point_sampling/100000to1024", "training/paper"}) {
    INFO(name);
    CHECK(names.count(name) == 1);
  }
}

TEST_CASE("names choose themselves and what begins with them", "[bench]") {
  const Entries all = all_entries(small_sizes());
  CHECK(chosen_entries(all, {}).size() == all.size());
  CHECK(chosen_entries(all, {"point_attention"}).size() == 4);
  CHECK(chosen_entries(all, {"point_attention/k9"}).size() == 2);
  CHECK(chosen_entries(all, {"point_attention/k9/forward", "point_attention/k9"}).size() == 2);
  CHECK_THROWS_AS(chosen_entries(all, {"point_att"}), UsageError);
  geosft::test::require_error([&] { chosen_entries(all, {"maxout_atention"}); },
                              {"'maxout_atention'", "'maxout_attention'", "--list"});
}

}  // namespace geosft::bench::test::test_catalogue
