// SPDX-License-Identifier: Apache-2.0
#include "tools/analyze/ablation_table.h"

#include <map>
#include <set>

#include "tests/support.h"
#include "tests/tools/experiment/pictures.h"
#include "tools/experiment/arguments.h"

namespace geosft::test::test_ablation_table {

TEST_CASE("each change is a variant of its own, beside the configuration as it is") {
  ClassifySettings settings;
  settings.model.sampling.num_samples = 32;
  const std::vector<Ablation> all = ablations(settings, {"score=dot+num_samples=7", "hard=true"});
  REQUIRE(all.size() == 3);
  CHECK(all[0].settings.model.score == ScoreKind::maxout);
  CHECK(all[1].name == "score=dot+num_samples=7");
  CHECK(all[1].settings.model.score == ScoreKind::dot);
  CHECK(all[1].settings.model.sampling.num_samples == 7);
  CHECK(all[2].settings.model.sampling.hard);
  CHECK(all[2].settings.model.sampling.num_samples == 32);
  for (const char* wrong : {"score", "=dot", "score=euclid", "no_such_key=1"}) {
    CHECK_THROWS_AS(ablations(settings, {wrong}), UsageError);
  }
}

TEST_CASE("the usual changes vary score, probability, k and the sampler, each row in its own way") {
  for (const char* configured : {"score=maxout", "score=dot+hard=true", "weighting=gumbel_softmax", "noise=false",
                                 "with_replacement=true+probability=softmax"}) {
    INFO(configured);
    ClassifySettings settings = ablations({}, {configured}).back().settings;
    settings.clouds.points = 256;
    settings.model.sampling.num_samples = 32;
    const std::vector<Ablation> all = ablations(settings, usual_changes(settings));
    CHECK(all.size() == 10);
    std::set<std::string> rows;
    std::map<std::string, std::set<std::string>> values;
    for (const Ablation& one : all) {
      std::string row;
      for (const auto& [label, value] : ablation_labels(one.settings)) {
        row += value + "; ";
        values[label].insert(value);
      }
      CHECK(rows.insert(row).second);
    }
    CHECK(values["score"] == std::set<std::string>{"dot", "maxout"});
    CHECK(values["probability"] == std::set<std::string>{"leaky_relu", "softmax"});
    CHECK(values["k"] == std::set<std::string>{"32", "64", "8"});
    CHECK(values["sampler"] == std::set<std::string>{"Gumbel softmax", "hard", "two-way softplus",
                                                     "two-way softplus, without noise", "with replacement"});
  }
}

TEST_CASE("a sample is not made larger than the clouds permit, and models that do not sample have no usual changes") {
  ClassifySettings settings;
  settings.clouds.points = 64;
  settings.model.sampling.num_samples = 32;
  for (const std::string& change : usual_changes(settings)) CHECK(change != "num_samples=64");
  settings.model.attention = "softmax";
  require_error([&] { usual_changes(settings); }, {"attention = sampling", "softmax", "--change"});
}

TEST_CASE("a row is a bar") {
  const PictureFolder folder;
  const std::vector<ResultRow> rows = {summarized("as configured", {{{"accuracy", 0.8}}, {{"accuracy", 0.6}}}),
                                       summarized("score=dot", {{{"accuracy", 0.5}}})};
  if (!require_picture(plot_ablations(rows, "accuracy", folder.stem()), folder)) return;
  CHECK(folder.svg().find("score=dot") != std::string::npos);
}

}  // namespace geosft::test::test_ablation_table
