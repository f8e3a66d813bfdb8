// SPDX-License-Identifier: Apache-2.0
// What moving clouds does to the logits of point_classifier.h.
#include <algorithm>
#include <catch2/catch.hpp>
#include <optional>
#include <vector>

#include "models/layers/forward_trace.h"
#include "models/ops/point_pair_features.h"
#include "models/ops/point_tokens.h"
#include "tests/models/classifier_clouds.h"

namespace geosft::test::test_point_classifier_invariance {
using namespace classifier_clouds;

namespace {

// A forward pass and the choices that it makes: the order of the points, their neighbours, for learned tokens which
// neighbours follow each other around the normal, and the samples.
struct Pass {
  at::Tensor logits;
  ForwardTrace trace;
  std::vector<at::Tensor> neighbourhoods, corners;

  Pass(PointClassifier& model, const Clouds& clouds, SamplingContext context) {
    context.trace_into(trace);
    const at::NoGradGuard guard;
    const at::Tensor normals = model->options.normals ? clouds.normals : at::Tensor();
    logits = model->forward(clouds.points, normals, clouds.ptr, context);
    const auto ordered = [&](const at::Tensor& rows) {
      return rows.defined() ? rows.index_select(0, trace.order) : rows;
    };
    point_tokens(model->options.tokens, ordered(clouds.points), ordered(normals), clouds.ptr, &neighbourhoods);
    if (model->options.tokens != PointTokens::ppf) return;
    const auto given = normals.defined() ? std::optional(ordered(normals)) : std::nullopt;
    for (const at::Tensor& index : neighbourhoods) {
      corners.push_back(point_pair_features(ordered(clouds.points), given, index, clouds.ptr).select(2, 4));
    }
  }
  // Returns what the samplers see and choose, in the order in which they sample.
  std::vector<SamplerTrace> samplers() const {
    std::vector<SamplerTrace> all;
    for (const AttentionTrace& layer : trace.layers) all.push_back({layer.score, layer.pairs});
    all.push_back(trace.head);
    return all;
  }
};

at::Tensor of_item(const at::Tensor& rows, const at::Tensor& ptr, int64_t item) {
  return rows.slice(0, ptr[item].item<int64_t>(), ptr[item + 1].item<int64_t>());
}

// Returns whether both passes make the same choices for a cloud. Choices are discontinuous: rounding may decide between
// distances or scores that are nearly equal. A sampler sees nothing but scores. If those of the passes differ by at
// most `tolerance` (of the largest one), the samples can differ only in tokens whose scores, with the noise, are within
// twice that. So the scores are compared up to the first sampler that chooses differently.
bool same_choices(const Pass& a, const Pass& b, const at::Tensor& ptr, int64_t cloud, double tolerance) {
  if (!at::equal(of_item(a.trace.order, ptr, cloud), of_item(b.trace.order, ptr, cloud))) return false;
  for (size_t i = 0; i < a.neighbourhoods.size(); ++i) {
    if (!at::equal(of_item(a.neighbourhoods[i], ptr, cloud), of_item(b.neighbourhoods[i], ptr, cloud))) return false;
  }
  for (size_t i = 0; i < a.corners.size(); ++i) {
    if (largest_change(of_item(a.corners[i], ptr, cloud), of_item(b.corners[i], ptr, cloud)) > tolerance) return false;
  }
  const std::vector<SamplerTrace> first = a.samplers(), second = b.samplers();
  for (size_t i = 0; i < first.size(); ++i) {
    INFO("sampler " << i);
    CHECK(largest_change(of_item(second[i].score, ptr, cloud), of_item(first[i].score, ptr, cloud)) <= tolerance);
    for (const auto member : {&Pairs::top, &Pairs::partner}) {
      const auto chosen = [&](const SamplerTrace& trace) {
        return of_item(trace.pairs.*member, trace.pairs.ptr, cloud);
      };
      if (!at::equal(chosen(first[i]), chosen(second[i]))) return false;
    }
  }
  return true;
}

// Returns whether a sampler scores two tokens of a cloud exactly alike.
bool scores_tie(const Pass& pass, const at::Tensor& ptr, int64_t cloud) {
  const std::vector<SamplerTrace> samplers = pass.samplers();
  return std::any_of(samplers.begin(), samplers.end(), [&](const SamplerTrace& sampler) {
    return at::diff(std::get<0>(of_item(sampler.score, ptr, cloud).sort())).eq(0).any().item<bool>();
  });
}

}  // namespace

TEST_CASE("rotating, translating and shuffling clouds leaves the logits of invariant models", "[point_classifier]") {
  const at::ScalarType dtype = GENERATE(at::kDouble, at::kFloat);
  const PointTokens tokens = GENERATE(PointTokens::ones, PointTokens::radial, PointTokens::local, PointTokens::ppf);
  const NormPlacement norm = GENERATE(NormPlacement::pre, NormPlacement::post);
  const bool normals = GENERATE(true, false);
  const Clouds clouds({60, 41, 100}, dtype);
  // Measured in float32 over 535 seeds, at most: 2.6e-5 where 1e-4 of the largest logit is allowed, and 1.8e-4 where
  // 1e-3 of the largest score is.
  const double tolerance = dtype == at::kDouble ? 1e-10 : 1e-4, score_tolerance = 10 * tolerance;
  int64_t all = 0, different = 0;  // clouds, and those with other choices
  int64_t untied = 0;              // those with other choices in which no scores are equal
  for (const uint64_t seed : {1, 2, 3}) {
    PointClassifier model = classifier(tokens, normals, dtype, norm, seed);
    for (const SamplingContext& context : {SamplingContext::seeded(), SamplingContext::greedy()}) {
      INFO("tokens " << static_cast<int>(tokens) << ", " << (norm == NormPlacement::pre ? "pre" : "post")
                     << "-norm, normals " << normals << ", seed " << seed << ", greedy "
                     << (context.mode() == SampleMode::greedy) << ", dtype " << dtype);
      const Pass before(model, clouds, context), shuffled(model, moved(clouds, 3 * seed, false), context);
      const Pass turned(model, moved(clouds, 3 * seed), context);
      CHECK(largest_change(shuffled.logits, before.logits) <= tolerance);
      for (int64_t cloud = 0; cloud + 1 < clouds.ptr.numel(); ++cloud) {
        INFO("cloud " << cloud);
        ++all;
        if (same_choices(shuffled, turned, clouds.ptr, cloud, score_tolerance)) {
          const at::Tensor change = (turned.logits[cloud] - before.logits[cloud]).abs().max();
          CHECK((change / before.logits.abs().max()).item<double>() <= tolerance);
        } else {
          ++different;
          untied += scores_tie(shuffled, clouds.ptr, cloud) ? 0 : 1;
        }
      }
    }
  }
  // In float64 only exact ties are near enough: of tokens that begin equal, two points that see none but each other
  // have the same score. In float32 at most 6 of 18 clouds, which are allowed, were found over 535 seeds:
  // two thirds are compared.
  INFO(different << " of " << all << " clouds have other choices");
  if (dtype == at::kDouble && tokens != PointTokens::ones) {
    CHECK(different == 0);
  } else {
    CHECK(3 * different <= all);
  }
  if (test_seed(1) == 1) CHECK(untied == 0);  // without another GEOSFT_GENERATOR_SEED, no near tie is on the way
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
