// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/cloud_training_data.h"

#include <catch2/catch.hpp>

#include <map>
#include <set>

#include "data/points/array_dataset.h"
#include "geometry/normals.h"
#include "tests/data/files.h"
#include "tests/support.h"
#include "tests/tools/experiment/captured_stderr.h"

namespace geosft::test::test_cloud_training_data {
namespace {

std::unique_ptr<PointDataset> clouds(int64_t count, bool normals = true) {
  CloudArrays arrays;
  arrays.points = at::randn({count, 5, 3}, generator(1));
  if (normals) arrays.normals = at::randn({count, 5, 3}, generator(2));
  arrays.labels = at::arange(count, at::kLong) % 2;
  for (int64_t i = 0; i < count; ++i) arrays.names.push_back(std::to_string(i));
  return std::make_unique<ArrayDataset>(arrays, std::vector<std::string>{"a", "b"}, "clouds");
}

CloudTrainingData opened(const CloudSettings& settings, bool published = false) {
  return CloudTrainingData(clouds(8), published ? clouds(3) : nullptr, clouds(4), settings, 7, "here");
}

}  // namespace

TEST_CASE("without a validation split all clouds are trained on, and the test set is watched when asked") {
  CloudSettings settings;
  const CloudTrainingData plain = opened(settings);
  CHECK(plain.train().size() == 8);
  CHECK(plain.validation() == nullptr);
  CHECK_FALSE(plain.held_out());
  settings.monitor_test = true;
  const CloudTrainingData watched = opened(settings);
  CHECK(watched.validation()->size() == 4);
  CHECK_FALSE(watched.held_out());
}

TEST_CASE("a share is held out, of every class, a published part comes first") {
  CloudSettings settings;
  settings.validation_fraction = 0.25;
  const CloudTrainingData split = opened(settings);
  CHECK(split.train().size() == 6);
  REQUIRE(split.validation()->size() == 2);
  CHECK(split.validation()->label(0) != split.validation()->label(1));
  CHECK(split.held_out());
  const CloudTrainingData published = opened(settings, true);
  CHECK(published.train().size() == 8);
  CHECK(published.validation()->size() == 3);
  CHECK(published.held_out());
}

TEST_CASE("the clouds of each split are listed with their numbers in the data") {
  CloudSettings settings;
  settings.validation_fraction = 0.25;
  settings.max_per_class = 2;
  const CloudTrainingData data = opened(settings);
  const std::vector<SplitRow> rows = data.split_rows();
  std::map<std::string, std::set<int64_t>> found;
  for (const SplitRow& row : rows) {
    CHECK(row.name == std::to_string(row.item));
    CHECK(found[row.split].insert(row.item).second);
  }
  CHECK(found["train"].size() == 4);  // two of each class
  CHECK(found["validation"].size() == 2);
  CHECK(found["test"] == std::set<int64_t>{0, 1, 2, 3});
  for (const int64_t item : found["validation"]) CHECK_FALSE(found["train"].contains(item));
  const std::vector<SplitRow> published = opened(CloudSettings(), true).split_rows();
  REQUIRE(published.size() == 8 + 3 + 4);
  CHECK(published[8].split == "validation");
  CHECK(published[8].item == 0);
}

TEST_CASE("a tenth is held out where nothing is said and that is thirty clouds or more") {
  const auto split = [](int64_t count, double fraction) {
    CloudSettings settings;
    settings.validation_fraction = fraction;
    return CloudTrainingData(clouds(count), nullptr, clouds(4), settings, 7, "here");
  };
  const double automatic = CloudSettings().validation_fraction;
  REQUIRE(is_automatic(automatic));
  const CloudTrainingData few = split(280, automatic), many = split(300, automatic), all = split(300, 0.0);
  CHECK(few.train().size() == 280);
  CHECK((few.validation() == nullptr && few.validation_fraction() == 0.0));
  CHECK(many.train().size() == 270);
  CHECK((many.validation()->size() == 30 && many.validation_fraction() == 0.1 && many.held_out()));
  CHECK((all.train().size() == 300 && all.validation() == nullptr));
}

TEST_CASE("missing normals are estimated, and empty splits refused") {
  CloudSettings settings;
  settings.validation_fraction = 0.01;
  require_error([&] { opened(settings); }, {"validation_fraction", "0.01", "8 training clouds", "0"});
  settings.validation_fraction = 0;
  const auto bare = [&] {
    const CapturedStderr quiet;
    return CloudTrainingData(clouds(8, false), nullptr, clouds(4, false), settings, 7, "here");
  };
  const CloudTrainingData estimated = bare();
  CHECK_THAT(estimated.note(), Catch::Contains("here") && Catch::Contains("estimated"));
  CHECK(estimated.has_estimated_normals());
  const Shape shape = estimated.train().get(3);
  require_equal(shape.normals, estimate_normals(shape.points, 16, {}, NormalOrientation::outward), "normals");
  settings.normal_orientation = NormalOrientation::consistent;
  const CloudTrainingData consistent = bare();
  require_equal(consistent.train().get(3).normals, estimate_normals(shape.points), "consistent normals");
  const CapturedStderr quiet;
  AugmentSettings alone;
  alone.estimated_normals = 1.0;
  // All splits have the normals that a model of estimated ones alone knows.
  const CloudTrainingData asked(clouds(8, true), nullptr, clouds(4, true), settings, 7, "here", alone),
      others(clouds(8, false), clouds(4, true), clouds(4, true), settings, 7, "here");
  CHECK(asked.has_estimated_normals());
  CHECK_FALSE(at::equal(asked.train().get(3).normals, clouds(8, true)->get(3).normals));
  CHECK_FALSE(at::equal(others.validation()->get(3).normals, clouds(4, true)->get(3).normals));
  // Those of one split alone are estimated where the training clouds have their own, which is told.
  const CloudTrainingData mixed(clouds(8, true), nullptr, clouds(4, false), settings, 7, "here");
  CHECK(mixed.note() ==
        "here, test split: its 4 clouds have coordinates alone, so normals are estimated (--normals false: none). "
        "The training clouds have normals of their own, and estimated ones may differ (--estimated-normals 0.5 "
        "trains with both)");
  CHECK_FALSE(mixed.has_estimated_normals());
  const CloudTrainingData held_out(clouds(8, true), clouds(4, false), clouds(4, true), settings, 7, "here");
  CHECK_THAT(held_out.note(), Catch::StartsWith("here, validation split: its 4 clouds"));
  settings.normals = false;
  CHECK(bare().note().empty());
  CHECK_FALSE(bare().has_estimated_normals());
  CHECK_FALSE(bare().train().get(3).normals.defined());
}

TEST_CASE("a training on normals that point inward or do not fit is told, one on estimated or outward ones is not") {
  const auto note = [](double sign, double estimated, bool normals = true, bool reordered = false) {
    CloudArrays arrays;
    const at::Tensor sphere = at::randn({6, 300, 3}, generator(3));
    arrays.points = sphere / sphere.norm(2, 2, true);
    arrays.normals = sign * arrays.points;
    arrays.normals.slice(0, 4) *= -1.0;  // two of six are the other way round
    if (reordered) arrays.normals = arrays.normals.flip(1);
    arrays.labels = at::arange(6, at::kLong) % 2;
    for (int64_t i = 0; i < 6; ++i) arrays.names.push_back(std::to_string(i));
    CloudSettings settings;
    settings.normals = normals;
    AugmentSettings augment;
    augment.estimated_normals = estimated;
    const CapturedStderr quiet;
    return CloudTrainingData(std::make_unique<ArrayDataset>(arrays, std::vector<std::string>{"a", "b"}, "clouds"),
                             nullptr, clouds(4), settings, 7, "here", augment)
        .note();
  };
  const std::string inward = note(-1, 0);
  CHECK_THAT(inward, Catch::StartsWith("here: the normals of 4 of 6 clouds point inward on the whole (first: 0). The "
                                       "model learns these;"));
  CHECK_THAT(inward, Catch::Contains("--estimated-normals 1"));
  CHECK(note(1, 0).empty());
  CHECK_THAT(note(-1, 1), Catch::Contains("estimated") && !Catch::Contains("inward"));
  CHECK(note(-1, 0, /*normals=*/false).empty());
  CHECK_THAT(note(1, 0, /*normals=*/true, /*reordered=*/true),
             Catch::StartsWith("here: the normals of 6 of 6 clouds do not fit their points (first: 0). The model "
                               "learns these;") &&
                 !Catch::Contains("inward"));
}

TEST_CASE("a few clouds of each class are trained on, and the held-out ones stay") {
  CloudSettings settings;
  settings.max_per_class = 2;
  REQUIRE(opened(settings).train().size() == 4);
  settings.validation_fraction = 0.25;
  const CloudTrainingData split = opened(settings);
  REQUIRE(split.train().size() == 4);
  REQUIRE(split.train().label(0) + split.train().label(1) + split.train().label(2) + split.train().label(3) == 2);
  REQUIRE(split.validation()->size() == 2);
}

TEST_CASE("the clouds of a split are those that a run lists in it, and are compared with its rows") {
  CloudSettings settings;
  settings.validation_fraction = 0.25;
  const CloudTrainingData data = opened(settings);
  const TemporaryFolder folder;
  const std::filesystem::path file = folder / "split.csv";
  write_text(file, split_csv(data.split_rows()));
  using Splits = std::vector<std::string>;
  const auto recorded = [&](const std::filesystem::path& from, const Splits& splits, int64_t count,
                            const std::string& split, bool unlisted = false) {
    return recorded_clouds(from, splits, clouds(count), split, unlisted, "here");
  };
  const Splits together{"train", "validation"};
  const auto same = [&](const PointDataset& found, const PointDataset& expected) {
    REQUIRE(found.size() == expected.size());
    for (int64_t i = 0; i < found.size(); ++i) {
      CHECK((found.name(i) == expected.name(i) && number_in_data(found, i) == number_in_data(expected, i)));
    }
  };
  same(*recorded(file, together, 8, "train"), data.train());
  same(*recorded(file, together, 8, "validation"), *data.validation());
  CHECK(recorded(file, {"test"}, 4, "test")->size() == 4);
  settings.max_per_class = 2;
  const CloudTrainingData few = opened(settings);
  write_text(folder / "few.csv", split_csv(few.split_rows()));
  same(*recorded(folder / "few.csv", together, 8, "train", /*unlisted=*/true), few.train());
  same(*recorded(folder / "few.csv", together, 8, "validation", /*unlisted=*/true), *few.validation());
  require_error([&] { recorded(folder / "few.csv", together, 8, "train"); }, {"8 items in place of 6"});
  write_text(folder / "all.csv", split_csv(opened({}).split_rows()));
  CHECK(recorded(folder / "all.csv", together, 8, "train")->size() == 8);
  require_error([&] { recorded(folder / "all.csv", together, 8, "validation"); }, {"here", "none in ", "all.csv"});
  CHECK(recorded(folder / "absent.csv", together, 8, "train")->size() == 8);
  require_error([&] { recorded(folder / "absent.csv", together, 8, "validation"); },
                {"here", "held out", "--split validation", "no ", "absent.csv"});
  CHECK(recorded({}, together, 8, "validation")->size() == 8);  // of other data
  const Splits published{"train"};
  same(*recorded(folder / "few.csv", published, 8, "train", /*unlisted=*/true), few.train());
  std::vector<SplitRow> changed = data.split_rows();
  changed.back().label += "s";
  write_text(folder / "changed.csv", split_csv(changed));
  require_error([&] { recorded(folder / "changed.csv", {"test"}, 4, "test"); },
                {"here", "changed.csv", "had the label '" + changed.back().label + "' and has '", "--other-data"});
  require_error([&] { recorded(file, {"test"}, 5, "test"); },
                {"here", "split.csv", "5 items in place of 4", "--other-data"});
  require_error([&] { recorded(file, {"train"}, 8, "train"); }, {"8 items in place of 6"});
}

}  // namespace geosft::test::test_cloud_training_data
