// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "tests/tools/analyze/analyze_tool.h"
#include "tools/analyze/projection.h"
#include "tools/analyze/traced_run.h"

namespace geosft::test::test_embedding_command {

TEST_CASE("embeddings are those of the model's tokens, a row for each, with their classes") {
  const AnalysisShop shop;
  TracedRun traced;
  traced.run = shop.trained();
  traced.items = 6;
  const std::string said = shop.analyze_well({"embedding", traced.run, "--items", "6", "--perplexity", "2"});
  CHECK_THAT(said, Catch::StartsWith("6 means of tokens of 6 clouds"));
  const Words lines = shop.csv();
  REQUIRE(lines.size() == 7);
  CHECK(lines[0] == "class,pca_x,pca_y,tsne_x,tsne_y");
  std::vector<at::Tensor> means;
  Words names;
  const EnvironmentVariable cache("XDG_CACHE_HOME", shop.cache().string());
  traced.look_at_classes([&](const ShapeExplanation& one, const std::string& name) {
    means.push_back(one.trace.tokens.back().mean(0));
    names.push_back(name);
  });
  const at::Tensor plane = principal_components(at::stack(means));
  for (size_t row = 0; row < 6; ++row) {
    const Words fields = fields_of(lines[row + 1]);
    REQUIRE(fields.size() == 5);
    CHECK(fields[0] == names[row]);
    for (size_t axis = 0; axis < 2; ++axis) {
      const auto expected = plane[static_cast<int64_t>(row)][static_cast<int64_t>(axis)].item<double>();
      CHECK(std::stod(fields[1 + axis]) == Approx(expected).margin(1e-4));
    }
  }
  CHECK_THAT(shop.analyze_well({"embedding", traced.run, "--items", "3", "--tokens", "5", "--layer", "1"}),
             Catch::StartsWith("15 tokens of 3 clouds"));
  CHECK(shop.csv().size() == 16);
  const ProcessResult wrong = shop.analyze({"embedding", traced.run, "--layer", "2"});
  require_one_line_failure("geosft-analyze", wrong, 2, {"--layer", "1 … 1", "found 2"});
}

}  // namespace geosft::test::test_embedding_command
