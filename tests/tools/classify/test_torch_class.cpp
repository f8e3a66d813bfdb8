// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <limits>

#include "tests/data/points/utm_chair.h"
#include "tests/tools/classify/small_classifier.h"
#include "tests/tools/classify/tiny_shapes.h"
#include "tests/tools/experiment/served.h"
#include "tools/classify/prediction.h"
#include "tools/experiment/classification.h"

namespace geosft::test::test_torch_class {
namespace {

// A RUN of a small model that nobody has trained, and a cloud.
struct ServedRun {
  explicit ServedRun(bool normals = true) {
    ClassifySettings settings = small_settings();
    settings.clouds.normals = normals;
    write_run(run, describe_run<Classification>(settings, {{"a", "b", "c"}}), *small_model(settings));
    write_text(cloud, sphere_xyz(0.7, 60));
  }

  TemporaryFolder folder;
  std::string run = (folder / "run").string(), cloud = (folder / "cloud.xyz").string();
};

std::vector<std::pair<std::string, double>> ranking_of(const at::IValue& value) {
  std::vector<std::pair<std::string, double>> ranking;
  for (const at::IValue& entry : value.toListRef()) {
    const auto& pair = entry.toTupleRef().elements();
    ranking.emplace_back(pair[0].toStringRef(), pair[1].toDouble());
  }
  return ranking;
}

}  // namespace

TEST_CASE("a RUN is served by its class names and the ranking of a file") {
  const ServedRun made;
  const Served served("Classifier", made.run);
  CHECK(served.names("class_names") == std::vector<std::string>{"a", "b", "c"});
  RunModel run = load_run_model(made.run);
  const Prediction expected = predict(run, made.cloud, 3);
  const auto ranking = ranking_of(served.call("predict_file", {made.cloud, 3}));
  REQUIRE(ranking.size() == 3);
  for (size_t i = 0; i < 3; ++i) {
    CHECK(ranking[i].first == run.class_names[expected.ranking[i].first]);
    CHECK(ranking[i].second == expected.ranking[i].second);
  }
  CHECK(ranking_of(served.call("predict_file", {made.cloud, 1})).size() == 1);
}

TEST_CASE("a cloud that is handed over has the probabilities of its file") {
  const bool normals = GENERATE(true, false);
  const ServedRun made(normals);
  const Served served("Classifier", made.run);
  const Shape shape = read_shape(made.cloud);
  const at::IValue given = normals ? at::IValue(shape.normals) : at::IValue();
  const at::Tensor probabilities = served.call("predict", {shape.points, given}).toTensor();
  REQUIRE(probabilities.sizes() == at::IntArrayRef{3});
  const at::Tensor best = std::get<0>(probabilities.sort(0, true));
  const auto ranking = ranking_of(served.call("predict_file", {made.cloud, 3}));
  for (int64_t i = 0; i < 3; ++i) CHECK(best[i].item<double>() == Approx(ranking[static_cast<size_t>(i)].second));
}

TEST_CASE("a float64 tensor far from the origin is centred before it is cast") {
  const ServedRun made(/*normals=*/false);
  const Served served("Classifier", made.run);
  const at::Tensor near = served.call("predict", {chair_at_origin(60), at::IValue()}).toTensor();
  require_close(served.call("predict", {utm_chair(60), at::IValue()}).toTensor(), near, 1e-5, "probabilities");
}

TEST_CASE("a copy of a served RUN gives the same ranking without its folder") {
  const ServedRun made;
  const Served served("Classifier", made.run);
  const auto expected = ranking_of(served.call("predict_file", {made.cloud, 3}));
  std::filesystem::remove_all(made.run);
  const Served copy = served.copy();
  REQUIRE(copy.names("class_names") == std::vector<std::string>{"a", "b", "c"});
  REQUIRE(ranking_of(copy.call("predict_file", {made.cloud, 3})) == expected);
  REQUIRE(ranking_of(copy.copy().call("predict_file", {made.cloud, 3})) == expected);
}

TEST_CASE("what cannot be served is named") {
  const ServedRun made;
  const Served served("Classifier", made.run);
  const at::Tensor cloud = at::randn({20, 3}, generator(1));
  const auto refused = [&](const at::IValue& points, const at::IValue& normals, const std::vector<std::string>& words) {
    require_error([&] { served.call("predict", {points, normals}); }, words);
  };
  refused(cloud.slice(1, 0, 2), {}, {"points", "[20, 2]"});
  refused(cloud.slice(0, 0, 0), {}, {"points", "at least one row"});
  refused(cloud * std::numeric_limits<float>::infinity(), {}, {"points"});
  refused(cloud, cloud.slice(0, 0, 5), {"normals", "[20, 3]", "[5, 3]"});
  require_error([&] { served.call("predict_file", {made.cloud, 0}); }, {"top must be at least 1", "0"});
  require_error([&] { served.call("predict_file", {made.run + "/none.off", 1}); }, {"none.off"});
  require_error([&] { Served("Classifier", made.run + "/nowhere"); }, {"nowhere"});
}

}  // namespace geosft::test::test_torch_class
