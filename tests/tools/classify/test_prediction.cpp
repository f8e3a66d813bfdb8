// SPDX-License-Identifier: Apache-2.0
#include "tools/classify/prediction.h"

#include <catch2/catch.hpp>

#include <limits>
#include <thread>

#include "data/seeds.h"
#include "tests/data/points/utm_chair.h"
#include "tests/tools/classify/small_classifier.h"
#include "tests/tools/classify/tiny_shapes.h"
#include "tools/experiment/classification.h"
#include "tools/experiment/input_cloud.h"

namespace geosft::test::test_prediction {

namespace {

RunModel small_run(const ClassifySettings& settings) {
  RunModel run{{{"a", "b", "c"}}, settings, small_model(settings)};
  run.model->eval();
  return run;
}

std::filesystem::path write_sphere(const TemporaryFolder& folder, int count, bool normals = true) {
  const std::filesystem::path file = folder / (std::to_string(count) + (normals ? "n.xyz" : ".xyz"));
  write_text(file, sphere_xyz(0.7, count, normals));
  return file;
}

double total(const Prediction& prediction) {
  double sum = 0.0;
  for (const auto& [label, probability] : prediction.ranking) sum += probability;
  return sum;
}

}  // namespace

TEST_CASE("classes are ranked by probabilities that add up to 1") {
  const TemporaryFolder folder;
  const std::filesystem::path file = write_sphere(folder, 60);
  RunModel run = small_run(small_settings());
  const Prediction all = predict(run, file, 10);
  REQUIRE(all.ranking.size() == 3);
  CHECK(total(all) == Approx(1.0));
  for (size_t i = 0; i + 1 < 3; ++i) CHECK(all.ranking[i].second >= all.ranking[i + 1].second);
  const Prediction best = predict(run, file, 1);
  REQUIRE(best.ranking.size() == 1);
  CHECK(best.ranking[0] == all.ranking[0]);
  CHECK(all.warnings.empty());
}

TEST_CASE("eight threads that share a model predict what one does") {
  const TemporaryFolder folder;
  RunModel run = small_run(small_settings());
  std::vector<std::filesystem::path> files;
  std::vector<Prediction> alone;
  for (int count : {50, 60, 70, 80}) {
    files.push_back(write_sphere(folder, count));
    alone.push_back(predict(run, files.back(), 3));
  }
  std::vector<std::vector<Prediction>> together(8);
  std::vector<std::thread> threads;
  for (size_t t = 0; t < together.size(); ++t) {
    threads.emplace_back([&, t] {
      for (size_t i = 0; i < 2 * files.size(); ++i) {
        together[t].push_back(predict(run, files[(i + t) % files.size()], 3));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (size_t t = 0; t < together.size(); ++t) {
    for (size_t i = 0; i < together[t].size(); ++i) {
      CHECK(together[t][i].ranking == alone[(i + t) % files.size()].ranking);
    }
  }
}

TEST_CASE("a prediction is the softmax of the logits averaged over the votes") {
  const TemporaryFolder folder;
  const std::filesystem::path file = write_sphere(folder, 60);
  ClassifySettings settings = small_settings();
  settings.evaluation.votes = 3;
  RunModel run = small_run(settings);
  at::Tensor logits = at::zeros({1, 3});
  {
    at::NoGradGuard guard;
    for (uint64_t vote = 0; vote < 3; ++vote) {
      at::Generator unused = generator(0);
      const Shape seen = model_input_transform(settings, Rotation::none, vote)(read_shape(file), unused);
      SamplingContext context = SamplingContext::seeded(vote);
      logits += run.model->forward(seen.points, seen.normals, std::nullopt, context);
    }
  }
  const at::Tensor expected = (logits / 3).softmax(1)[0];
  for (const auto& [label, probability] : predict(run, file, 3).ranking) {
    CHECK(probability == Approx(expected[static_cast<int64_t>(label)].item<double>()));
  }
}

TEST_CASE("a prediction shows the points that the model saw and their importance") {
  const TemporaryFolder folder;
  RunModel run = small_run(small_settings());
  for (const int count : {30, 60}) {
    const Prediction prediction = predict(run, write_sphere(folder, count), 1);
    CHECK(prediction.points.sizes() == at::IntArrayRef{std::min(count, 40), 3});
    CHECK(prediction.importance.sizes() == at::IntArrayRef{std::min(count, 40)});
    CHECK(prediction.points.norm(2, 1).max().item<double>() == Approx(1.0));
    CHECK(at::isfinite(prediction.importance).all().item<bool>());
  }
}

TEST_CASE("a prediction has the normals of the file at the points that the model saw, whichever it was given") {
  const TemporaryFolder folder;
  const std::filesystem::path file = write_sphere(folder, 60);
  ClassifySettings settings = small_settings();
  for (const bool normals : {true, false}) {
    settings.clouds.normals = normals;
    RunModel run = small_run(settings);
    for (const bool estimated : {false, true}) {
      FileOptions options;
      options.estimated_normals = estimated;
      const Prediction prediction = predict(run, file, 1, options);
      REQUIRE(prediction.file_normals.sizes() == at::IntArrayRef{40, 3});
      // These are the normals of the sphere; the file holds an ellipsoid.
      const at::Tensor stretched = prediction.file_normals * at::tensor({1.2F, 1.0F, 0.7F});
      require_close(stretched, prediction.file_points.to(at::kFloat), 1e-5, "normals");
    }
    CHECK_FALSE(predict(run, write_sphere(folder, 60, /*normals=*/false), 1).file_normals.defined());
  }
}

TEST_CASE("a run without a model is refused by name") {
  RunModel none;
  require_error([&] { predict(none, at::ones({30, 3}), at::ones({30, 3})); }, {"trained has no model"});
}

TEST_CASE("a chair in UTM coordinates is predicted as it is at the origin") {
  const TemporaryFolder folder;
  ClassifySettings settings = small_settings();
  for (const bool normals : {false, true}) {
    settings.clouds.normals = normals;
    RunModel run = small_run(settings);
    for (const std::string format : {"ply", "xyz", "pcd", "obj"}) {
      CAPTURE(format, normals);
      const std::filesystem::path near = folder / ("near/chair." + format), far = folder / ("far/chair." + format);
      write_text(near, double_cloud_text(format, chair_at_origin(60)));
      write_text(far, double_cloud_text(format, utm_chair(60)));
      const Prediction expected = predict(run, near, 3), found = predict(run, far, 3);
      require_close(found.points, expected.points, 1e-6, "points");
      for (size_t i = 0; i < 3; ++i) {
        CHECK(found.ranking[i].first == expected.ranking[i].first);
        CHECK(found.ranking[i].second == Approx(expected.ranking[i].second).epsilon(1e-4));
      }
    }
  }
}

TEST_CASE("normals that some points lack are estimated, said once, and nothing to a model without normals") {
  const TemporaryFolder folder;
  const std::string head =
      "ply\nformat ascii 1.0\nelement vertex 60\nproperty float x\nproperty float y\n"
      "property float z\nproperty float nx\nproperty float ny\nproperty float nz\nend_header\n";
  const std::string rows = sphere_xyz(0.7, 60);
  std::string some = head, none = head;
  std::istringstream lines(rows);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string x, y, z;
    words >> x >> y >> z;
    const bool first = some == head;
    some += first ? x + " " + y + " " + z + " nan nan nan\n" : line + "\n";
    none += x + " " + y + " " + z + " 0 0 0\n";
  }
  write_text(folder / "some.ply", some);
  write_text(folder / "none.ply", none);
  ClassifySettings settings = small_settings();
  RunModel with = small_run(settings);
  const Prediction partly = predict(with, folder / "some.ply", 3);
  REQUIRE(partly.warnings.size() == 1);
  CHECK_THAT(partly.warnings[0], Catch::Contains("1 of its 60 points has no normal: it is estimated"));
  CHECK(total(partly) == Approx(1.0));
  const Prediction splats = predict(with, folder / "none.ply", 3);
  REQUIRE(splats.warnings.size() == 1);
  CHECK_THAT(splats.warnings[0], Catch::Contains("has no normals: they are estimated"));
  const at::Tensor points = at::randn({30, 3}, generator(6)), zeros = at::zeros_like(points);
  REQUIRE(settings.clouds.normal_orientation == NormalOrientation::outward);
  CHECK(predict(with, points, zeros, 3).ranking == predict(with, points, {}, 3).ranking);
  settings.clouds.normals = false;
  RunModel without = small_run(settings);
  for (const char* file : {"some.ply", "none.ply"}) CHECK(predict(without, folder / file, 3).warnings.empty());
}

TEST_CASE("points without finite coordinates are dropped and that is said, unless they are to be an error") {
  const TemporaryFolder folder;
  write_text(folder / "scan.xyz", sphere_xyz(0.7, 60) + "nan nan nan nan nan nan\n");
  RunModel run = small_run(small_settings());
  const Prediction dropped = predict(run, folder / "scan.xyz", 3);
  REQUIRE(dropped.warnings.size() == 1);
  CHECK_THAT(dropped.warnings[0], Catch::Contains("1 of its 61 points has no finite coordinates"));
  require_error([&] { predict(run, folder / "scan.xyz", 3, {.drop_invalid = false}); },
                {"scan.xyz:61", "--drop-invalid"});
}

TEST_CASE("offset and scale of the model's input lead back to the file") {
  const TemporaryFolder folder;
  const ClassifySettings settings = small_settings();
  Shape shape;
  set_points(shape, utm_chair(30));
  shape.normals = at::ones({30, 3});
  at::Generator source = generator(4);
  const Shape seen = evaluation_transform(settings, Rotation::none, 0)(shape, source);
  require_close(file_coordinates(seen), utm_chair(30), 1e-6, "coordinates");
  const Shape turned = evaluation_transform(settings, Rotation::so3, 0)(shape, source);
  require_close(file_coordinates(turned).mean(0), utm_chair(30).mean(0), 1e-6, "centroid");
}

TEST_CASE("a cloud of a few points, or of equal ones, is a warning; votes are checked") {
  ClassifySettings settings = small_settings();
  settings.clouds.points = 64;
  RunModel run = small_run(settings);
  const at::Tensor points = at::randn({60, 3}, generator(5)), normals = at::ones({60, 3});
  CHECK(predict(run, points, normals).warnings.empty());
  const auto warning = [&](const at::Tensor& some) {
    const std::vector<std::string> warnings = predict(run, some, at::ones_like(some)).warnings;
    return warnings.size() == 1 ? warnings[0] : std::to_string(warnings.size()) + " warnings";
  };
  CHECK(predict(run, points.slice(0, 0, 4), normals.slice(0, 0, 4)).warnings.empty());
  CHECK(warning(points.slice(0, 0, 3)) == "the cloud: 3 points only, where the model sees 64 of each shape");
  CHECK(warning(points.slice(0, 0, 1)) == "the cloud: 1 point only, where the model sees 64 of each shape");
  CHECK(warning(at::ones({60, 3})) == "the cloud: all of its 60 points are equal");
  const at::Tensor along = at::linspace(-1, 1, 60).unsqueeze(1) * at::tensor({1.0F, 2.0F, 3.0F});
  CHECK(warning(along + 5) == "the cloud: all of its 60 points lie on one line");
  run.settings.evaluation.votes = 0;
  require_error([&] { predict(run, points, normals); }, {"settings.evaluation.votes", "at least 1", "0"});
  const TemporaryFolder folder;
  write_text(folder / "sphere.xyz", sphere_xyz(1.0));
  require_error([&] { predict(run, folder / "sphere.xyz", 0); }, {"top must be at least 1", "0"});
  require_error([&] { predict(run, points, normals, -5); }, {"top must be at least 1", "-5"});
}

TEST_CASE("normals are estimated where the model needs them, and that is said") {
  const TemporaryFolder folder;
  const std::filesystem::path file = write_sphere(folder, 60, /*normals=*/false);
  ClassifySettings settings = small_settings();
  RunModel with = small_run(settings);
  const Prediction estimated = predict(with, file, 3);
  REQUIRE(estimated.warnings.size() == 1);
  CHECK_THAT(estimated.warnings[0], Catch::Contains(file.string()) && Catch::Contains("normals"));
  CHECK(total(estimated) == Approx(1.0));
  settings.clouds.normals = false;
  RunModel without = small_run(settings);
  CHECK(predict(without, file, 3).warnings.empty());
}

TEST_CASE("a cloud of more points than a mesh gets is thinned to as many, and that is said") {
  const TemporaryFolder folder;
  ClassifySettings settings = small_settings();
  settings.clouds.points_per_mesh = 100;
  RunModel run = small_run(settings);
  CHECK(predict(run, write_sphere(folder, 100), 1).warnings.empty());
  const Prediction thinned = predict(run, write_sphere(folder, 101), 1);
  REQUIRE(thinned.warnings.size() == 1);
  CHECK_THAT(thinned.warnings[0], Catch::Contains("of its 101 points 100"));
  const Prediction both = predict(run, write_sphere(folder, 101, /*normals=*/false), 1);
  REQUIRE(both.warnings.size() == 2);
  CHECK(predict(run, write_sphere(folder, 101), 3).ranking == predict(run, write_sphere(folder, 101), 3).ranking);
  run.settings.clouds.points = 101;  // asked for explicitly
  CHECK(predict(run, write_sphere(folder, 101), 1).warnings.empty());
}

TEST_CASE("a cloud in memory has the prediction of its file, of any precision and with normals of any length") {
  const TemporaryFolder folder;
  const std::filesystem::path file = write_sphere(folder, 60);
  const Shape shape = read_shape(file);
  RunModel run = small_run(small_settings());
  run.model->train();  // predict sets eval()
  const Prediction expected = predict(run, file, 3);
  const auto require_same = [&](const Prediction& found) {
    REQUIRE(found.ranking.size() == 3);
    for (size_t i = 0; i < 3; ++i) {
      CHECK(found.ranking[i].first == expected.ranking[i].first);
      CHECK(found.ranking[i].second == Approx(expected.ranking[i].second).epsilon(1e-4));
    }
    CHECK(found.warnings.empty());
    require_close(found.file_points.to(at::kFloat), expected.file_points, 1e-5, "points");
  };
  require_same(predict(run, shape.points, shape.normals, 3));
  require_same(predict(run, shape.points.to(at::kDouble), shape.normals * 7, 3));
  const at::Tensor wide = at::cat({shape.points, at::zeros({60, 1})}, 1).requires_grad_(true);
  const Prediction strided = predict(run, wide.slice(1, 0, 3), shape.normals, 3);
  require_same(strided);
  CHECK_FALSE(strided.importance.requires_grad());
  CHECK(predict(run, shape.points, shape.normals).ranking == std::vector{predict(run, file, 1).ranking.at(0)});
}

TEST_CASE("normals that a cloud in memory lacks are estimated, and that is said") {
  const TemporaryFolder folder;
  const Shape shape = read_shape(write_sphere(folder, 60));
  ClassifySettings settings = small_settings();
  RunModel run = small_run(settings);
  const Prediction bare = predict(run, shape.points, {}, 3);
  REQUIRE(bare.warnings.size() == 1);
  CHECK_THAT(bare.warnings[0], Catch::Equals("the cloud: it has no normals: they are estimated"));
  at::Tensor some = shape.normals.clone();
  some[3][1] = std::numeric_limits<float>::quiet_NaN();
  const Prediction partly = predict(run, shape.points, some, 3);
  REQUIRE(partly.warnings.size() == 1);
  CHECK_THAT(partly.warnings[0], Catch::Contains("1 of its 60 points has no normal: it is estimated"));
  settings.clouds.normals = false;
  RunModel without = small_run(settings);
  CHECK(predict(without, shape.points).ranking == predict(without, shape.points, shape.normals).ranking);
}

TEST_CASE("a batch of clouds from memory has the probabilities that predict has with one vote") {
  const TemporaryFolder folder;
  const at::Tensor sphere = read_shape(write_sphere(folder, 300)).points;
  RunModel run = small_run(small_settings());
  run.settings.evaluation.votes = 1;
  const std::vector<at::Tensor> clouds = {sphere * 3 + 1, sphere.slice(0, 0, 50) * at::tensor({1.0F, 2.0F, 0.5F})};
  const ShapeTransform view = model_input_transform(run.settings, Rotation::none, 0);
  at::Generator generator = make_generator(1);
  std::vector<std::string> warnings;
  std::vector<at::Tensor> rows, normals;
  std::vector<int64_t> offsets = {0};
  for (const at::Tensor& cloud : clouds) {
    Shape shape = input_cloud(cloud, {}, warnings);
    prepare(run.settings, shape, warnings);
    shape = view(std::move(shape), generator);
    rows.push_back(shape.points);
    normals.push_back(shape.normals);
    offsets.push_back(offsets.back() + shape.points.size(0));
  }
  const at::NoGradGuard guard;
  SamplingContext context = run.settings.evaluation.context(0);
  const at::Tensor found =
      run.model->forward(at::cat(rows), at::cat(normals), at::tensor(offsets, at::kLong), context).softmax(1);
  for (size_t i = 0; i < clouds.size(); ++i) {
    for (const auto& [label, probability] : predict(run, clouds[i], {}, 3).ranking) {
      CHECK(found[static_cast<int64_t>(i)][static_cast<int64_t>(label)].item<double>() ==
            Approx(probability).margin(1e-5));
    }
  }
}

TEST_CASE("a tensor that is no cloud is refused by predict and explain_shape, which name what is wrong") {
  const TemporaryFolder folder;
  const Shape shape = read_shape(write_sphere(folder, 60));
  const at::Tensor points = shape.points, normals = shape.normals;
  RunModel run = small_run(small_settings());
  require_error([&] { predict(run, points.slice(0, 0, 0)); }, {"points", "at least one row"});
  require_error([&] { predict(run, points.slice(1, 0, 2)); }, {"points", "[60, 2]"});
  require_error([&] { predict(run, points / 0.0); }, {"points", "finite"});
  require_error([&] { predict(run, points, normals.slice(0, 0, 7)); }, {"normals", "[60, 3]", "[7, 3]"});
  require_error([&] { predict(run, points, normals, 0); }, {"top", "0"});
  const auto refused = [&](const at::Tensor& rows, const at::Tensor& directions,
                           const std::vector<std::string>& words) {
    const Shape given{.points = rows, .normals = directions, .name = ""};
    require_error([&] { explain_shape(run, given, Rotation::none, 0); }, words);
  };
  refused(points.slice(0, 0, 0), {}, {"the cloud: ", "at least one row"});
  refused(points, normals.slice(0, 0, 7), {"the cloud: ", "normals", "[7, 3]"});
  refused(points, normals / 0.0, {"the cloud: ", "finite normals"});
  refused(points, {}, {"the cloud: ", "normals", "prepare()"});
  const Shape longer{.points = points, .normals = normals * 7, .name = ""};
  require_close(explain_shape(run, longer, Rotation::none, 0).logits,
                explain_shape(run, shape, Rotation::none, 0).logits, 1e-4, "logits");
}

TEST_CASE("the votes of a prediction, computed together, are those computed one by one") {
  const auto mode = GENERATE(SampleMode::seeded, SampleMode::greedy);
  const TemporaryFolder folder;
  const Shape shape = read_shape(write_sphere(folder, 60));
  ClassifySettings settings = small_settings();
  settings.clouds.points = 40;
  settings.evaluation.evaluation = mode;
  settings.evaluation.votes = 6;
  settings.evaluation.evaluation_batch = 2;
  RunModel run = small_run(settings);
  const at::NoGradGuard guard;
  at::Tensor sum;
  for (uint64_t vote = 0; vote < 6; ++vote) {
    at::Generator turns = make_generator(3);
    const Shape input = model_input_transform(settings, Rotation::so3, vote)(shape, turns);
    SamplingContext context = settings.evaluation.context(vote);
    const at::Tensor logits = run.model->forward(input.points, input.normals, std::nullopt, context)[0];
    sum = vote == 0 ? logits : sum + logits;
  }
  require_close(explain_shape(run, shape, Rotation::so3, 3).logits, sum / 6, 1e-5, "logits");
}

TEST_CASE("threads that share a model predict clouds in memory as one does") {
  const TemporaryFolder folder;
  RunModel run = small_run(small_settings());
  const Shape shape = read_shape(write_sphere(folder, 60));
  const auto alone = predict(run, shape.points, shape.normals, 3).ranking;
  std::vector<std::vector<std::pair<size_t, double>>> together(4);
  std::vector<std::thread> threads;
  for (auto& ranking : together) {
    threads.emplace_back([&] { ranking = predict(run, shape.points, shape.normals, 3).ranking; });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& ranking : together) CHECK(ranking == alone);
}

}  // namespace geosft::test::test_prediction
