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

// Returns whether the head's sampler scores two tokens of a cloud exactly alike.
bool scores_tie(PointClassifier& model, const Clouds& clouds, SamplingContext context) {
  at::NoGradGuard guard;
  const at::Tensor normals = model->options.normals ? clouds.normals : at::Tensor();
  const at::Tensor scores = model->explain(clouds.points, normals, clouds.ptr, context).importance;
  for (int64_t b = 0; b + 1 < clouds.ptr.numel(); ++b) {
    const at::Tensor cloud = scores.slice(0, clouds.ptr[b].item<int64_t>(), clouds.ptr[b + 1].item<int64_t>());
    if (at::diff(std::get<0>(cloud.sort())).eq(0).any().item<bool>()) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("rotating, translating and shuffling clouds leaves the logits of invariant models", "[point_classifier]") {
  const at::ScalarType dtype = GENERATE(at::kDouble, at::kFloat);
  const PointTokens tokens = GENERATE(PointTokens::ones, PointTokens::radial, PointTokens::local, PointTokens::ppf);
  const NormPlacement norm = GENERATE(NormPlacement::pre, NormPlacement::post);
  const bool normals = GENERATE(true, false);
  const Clouds clouds({60, 41, 100}, dtype);
  const double tolerance = dtype == at::kDouble ? 1e-10 : 1e-4;
  int compared = 0;  // greedily
  for (const uint64_t seed : {1, 2, 3}) {
    PointClassifier model = classifier(tokens, normals, dtype, norm, seed);
    for (const SamplingContext& context : {SamplingContext::seeded(), SamplingContext::greedy()}) {
      // The greedy choice is free of order where scores differ. Of tokens that begin equal, two points that see none
      // but each other have the same score: either may be chosen.
      const bool greedy = context.mode() == SampleMode::greedy;
      if (greedy && tokens == PointTokens::ones && scores_tie(model, clouds, context)) continue;
      INFO("tokens " << static_cast<int>(tokens) << ", " << (norm == NormPlacement::pre ? "pre" : "post")
                     << "-norm, normals " << normals << ", seed " << seed << ", greedy " << greedy << ", dtype "
                     << dtype);
      const Outputs before(model, clouds, context), shuffled(model, moved(clouds, 3 * seed, false), context);
      const Outputs turned(model, moved(clouds, 3 * seed), context);
      CHECK(largest_change(shuffled.logits, before.logits) <= tolerance);
      CHECK((turned.choices == shuffled.choices).all().item<bool>());
      CHECK(largest_change(turned.logits, before.logits) <= tolerance);
      compared += greedy;
    }
  }
  REQUIRE(compared > 0);
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
