// SPDX-License-Identifier: Apache-2.0
#include "tools/analyze/ablation_table.h"

#include "tests/support.h"
#include "tests/tools/common/pictures.h"
#include "tools/common/arguments.h"

namespace geosft::test::test_ablation_table {

TEST_CASE("each change is a variant of its own, beside the configuration as it is") {
  ClassifySettings settings;
  settings.model.bins = 32;
  const std::vector<Ablation> all = ablations(settings, {"score=dot+bins=7", "hard=true"});
  REQUIRE(all.size() == 3);
  CHECK(all[0].settings.model.score == "maxout");
  CHECK(all[1].name == "score=dot+bins=7");
  CHECK(all[1].settings.model.score == "dot");
  CHECK(all[1].settings.model.bins == 7);
  CHECK(all[2].settings.model.hard);
  CHECK(all[2].settings.model.bins == 32);
  for (const char* wrong : {"score", "=dot", "score=euclid", "no_such_key=1"}) {
    CHECK_THROWS_AS(ablations(settings, {wrong}), UsageError);
  }
}

TEST_CASE("the usual changes are permitted and change something") {
  for (const char* score : {"maxout", "dot"}) {
    ClassifySettings settings;
    settings.model.score = score;
    ClassifySettings plain = settings;
    const std::vector<Ablation> all = ablations(settings, usual_changes(settings));
    CHECK(all.size() == 10);
    for (size_t i = 1; i < all.size(); ++i) {
      ClassifySettings changed = all[i].settings;
      CHECK(changed.config().to_toml() != plain.config().to_toml());
    }
  }
}

TEST_CASE("a row is a bar") {
  const PictureFolder folder;
  const std::vector<ResultRow> rows = {summarized("as configured", {{{"accuracy", 0.8}}, {{"accuracy", 0.6}}}),
                                       summarized("score=dot", {{{"accuracy", 0.5}}})};
  if (!require_picture(plot_ablations(rows, "accuracy", folder.stem()), folder)) return;
  CHECK(folder.svg().find("score=dot") != std::string::npos);
}

}  // namespace geosft::test::test_ablation_table
