// SPDX-License-Identifier: Apache-2.0
// What moving clouds does to the logits of point_classifier.h.
#include <catch2/catch.hpp>

#include "tests/models/classifier_clouds.h"

namespace geosft::test::test_point_classifier_invariance {
using namespace classifier_clouds;

namespace {

struct Outputs {
  at::Tensor logits, choices;

  Outputs(PointClassifier& model, const Clouds& clouds, SamplingContext context) {
    context.record_choices(clouds.ptr.numel() - 1);
    at::NoGradGuard guard;
    const at::Tensor normals = model->options.normals ? clouds.normals : at::Tensor();
    logits = model->forward(clouds.points, normals, clouds.ptr, context);
    choices = context.choices();
  }
};

}  // namespace

TEST_CASE("rotating, translating and shuffling clouds leaves the logits of invariant models", "[point_classifier]") {
  const at::ScalarType dtype = GENERATE(at::kDouble, at::kFloat);
  const PointTokens tokens = GENERATE(PointTokens::ones, PointTokens::radial, PointTokens::local, PointTokens::ppf);
  const NormPlacement norm = GENERATE(NormPlacement::pre, NormPlacement::post);
  const bool normals = GENERATE(true, false);
  const Clouds clouds({60, 41, 100}, dtype);
  const double tolerance = dtype == at::kDouble ? 1e-10 : 1e-4;
  int64_t items = 0, alike = 0;  // where rounding may change the choices: all, and those with the same choices
  for (const uint64_t seed : {1, 2, 3}) {
    PointClassifier model = classifier(tokens, normals, dtype, norm, seed);
    for (const SamplingContext& context : {SamplingContext::seeded(), SamplingContext::greedy()}) {
      const bool greedy = context.mode() == SampleMode::greedy;
      INFO("tokens " << static_cast<int>(tokens) << ", " << (norm == NormPlacement::pre ? "pre" : "post")
                     << "-norm, normals " << normals << ", seed " << seed << ", greedy " << greedy << ", dtype "
                     << dtype);
      const Outputs before(model, clouds, context), shuffled(model, moved(clouds, 3 * seed, false), context);
      const Outputs turned(model, moved(clouds, 3 * seed), context);
      CHECK(largest_change(shuffled.logits, before.logits) <= tolerance);
      const at::Tensor same = (turned.choices == shuffled.choices).nonzero().squeeze(1);
      // Choices are discontinuous: the rounding of a turned cloud decides those whose scores or distances differ by
      // less. In float64 only equal ones do: of tokens that begin equal, two points that see none but each other have
      // the same score.
      if (dtype == at::kDouble && !(greedy && tokens == PointTokens::ones)) {
        CHECK(same.numel() == turned.choices.numel());
      } else {
        items += turned.choices.numel();
        alike += same.numel();
      }
      if (same.numel() == 0) continue;
      const auto logits_of_same = [&](const Outputs& outputs) { return outputs.logits.index_select(0, same); };
      CHECK(largest_change(logits_of_same(turned), logits_of_same(before)) <= tolerance);
    }
  }
  REQUIRE(2 * alike >= items);  // measured over 25 seeds: at least 2/3
}

TEST_CASE("rotating and shuffling clouds leaves the logits of models that see angles", "[point_classifier]") {
  const bool chirality = GENERATE(false, true);
  const Clouds clouds({60, 41, 100});
  PointClassifier model =
      classifier(PointTokens::radial, true, at::kDouble, NormPlacement::pre, 1, PointRelative::angles, chirality);
  const SamplingContext context = SamplingContext::seeded();
  const at::Tensor before = logits(model, clouds, context);
  CHECK(largest_change(logits(model, moved(clouds, 3), context), before) <= 1e-10);
  Clouds mirrored = clouds;
  for (at::Tensor* rows : {&mirrored.points, &mirrored.normals}) {
    *rows = *rows * at::tensor({1.0, 1.0, -1.0}, at::kDouble);
  }
  const double change = largest_change(logits(model, mirrored, context), before);
  CHECK((chirality ? change > 1e-3 : change <= 1e-10));
}

TEST_CASE("rotating clouds changes the logits of an absolute model", "[point_classifier]") {
  const Clouds clouds({60, 41, 100});
  PointClassifier model = classifier(PointTokens::absolute, true);
  const SamplingContext context = SamplingContext::seeded();
  REQUIRE(largest_change(logits(model, moved(clouds, 3), context), logits(model, clouds, context)) > 1e-2);
}

}  // namespace geosft::test::test_point_classifier_invariance
