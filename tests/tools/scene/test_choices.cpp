// SPDX-License-Identifier: Apache-2.0
#include "tools/scene/choices.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "tests/tools/scene/looked_at.h"
#include "tools/experiment/arguments.h"

namespace geosft::test::test_choices {
using namespace view;
namespace {

Subject explained_by(const ClassifySettings& settings) {
  return gallery_of(settings)->get(0, false);
}

bool has(const Subject& subject, Colouring colouring) {
  const std::vector<Colouring> all = colourings_of(subject);
  return std::find(all.begin(), all.end(), colouring) != all.end();
}

}  // namespace

TEST_CASE("layers that do not sample have attention, but no importance of their own") {
  ClassifySettings settings = small_settings();
  settings.model.attention = "softmax";
  Subject subject = explained_by(settings);
  CHECK(layers_of(subject, Colouring::attention) == std::vector<int64_t>{1, 2});
  CHECK(layers_of(subject, Colouring::diversity) == std::vector<int64_t>{1, 2});
  CHECK(layers_of(subject, Colouring::importance) == std::vector<int64_t>{0});  // of the head's sampler
  CHECK(usual_colouring(subject) == Colouring::importance);
  subject.trace->head = {};
  CHECK(layers_of(subject, Colouring::samples).empty());
  CHECK(usual_colouring(subject) == Colouring::attention);
  CHECK_THROWS_WITH(check_has(subject, Colouring::importance), Catch::Contains("does not sample"));
  subject.trace->layers.clear();
  CHECK_THROWS_WITH(check_has(subject, Colouring::attention),
                    Catch::Contains("has no attention") && Catch::Contains("--colour is one of height"));
  const Subject sampling = explained_by(small_settings());
  CHECK(layers_of(sampling, Colouring::importance) == std::vector<int64_t>{0, 1, 2});
}

TEST_CASE("one head has no diversity") {
  ClassifySettings settings = small_settings();
  settings.model.num_heads = 1;
  const Subject subject = explained_by(settings);
  CHECK_FALSE(has(subject, Colouring::diversity));
  CHECK_THROWS_WITH(check_has(subject, Colouring::diversity), Catch::Contains("one head"));
  CHECK(has(subject, Colouring::attention));
}

TEST_CASE("without a choice what says most is shown") {
  Subject subject = random_gallery(false)->get(0, false);
  CHECK(usual_colouring(subject) == Colouring::height);
  subject.encoding = at::rand({50, 4}, at::kDouble);
  CHECK(usual_colouring(subject) == Colouring::walks);
  subject.parts = PointLabels{at::zeros({50}, at::kLong), at::zeros({50, 3}, at::kDouble), {}};
  CHECK(usual_colouring(subject) == Colouring::parts);
}

TEST_CASE("a colouring takes its own options alone") {
  const std::vector<std::string> all = {"--layer", "--head", "--query", "--component", "--map"};
  const auto taken = [&](Colouring colouring) {
    std::vector<std::string> some;
    for (const std::string& option : all) {
      try {
        check_takes(colouring, [&](const std::string& one) { return one == option; });
        some.push_back(option);
      } catch (const UsageError& error) {
        CHECK_THAT(error.what(), Catch::StartsWith(option + " is for --colour ") &&
                                     Catch::EndsWith(std::string(", not for ") + colouring_name(colouring)));
      }
    }
    return some;
  };
  using Options = std::vector<std::string>;
  CHECK(taken(Colouring::height) == Options{"--map"});
  CHECK(taken(Colouring::normals).empty());
  CHECK(taken(Colouring::parts).empty());
  CHECK(taken(Colouring::importance) == Options{"--layer", "--map"});
  CHECK(taken(Colouring::samples) == Options{"--layer"});
  CHECK(taken(Colouring::attention) == Options{"--layer", "--head", "--query", "--map"});
  CHECK(taken(Colouring::diversity) == Options{"--layer", "--map"});
  CHECK(taken(Colouring::walks) == Options{"--component", "--map"});
  CHECK_NOTHROW(check_takes(Colouring::parts, [](const std::string&) { return false; }));
}

TEST_CASE("colourings have names") {
  for (const Colouring colouring : colourings_of(random_gallery(true)->get(0, false))) {
    CHECK(colouring_of(colouring_name(colouring)) == colouring);
  }
  CHECK_THROWS_AS(colouring_of("jet"), UsageError);
}

TEST_CASE("a background is a name or six digits") {
  CHECK(background_of("black") == Colour{0, 0, 0});
  CHECK(background_of("#ff0080") == Colour{1, 0, 128 / 255.0});
  for (const char* wrong : {"", "purple", "#ff008", "#ff00800", "ff0080", "#ff00g0"}) {
    CHECK_THROWS_WITH(background_of(wrong), Catch::Contains("--background") && Catch::Contains("#RRGGBB"));
  }
}

}  // namespace geosft::test::test_choices
