// SPDX-License-Identifier: Apache-2.0
#include "models/kernel_ridge.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "models/training/metrics.h"
#include "tests/support.h"

namespace geosft::test::test_kernel_ridge {
namespace {

constexpr int64_t rows = 60, bits = 24;

// Counts of two fingerprints, some rows without any.
at::Tensor example_counts(int64_t count, uint64_t seed) {
  const at::Tensor drawn = at::rand({count, 2 * bits}, generator(seed), at::TensorOptions(at::kDouble));
  at::Tensor counts = (drawn * 8 - 4).clamp_min(0).floor();
  counts[0].zero_();
  return counts;
}

at::Tensor example_descriptors(int64_t count, uint64_t seed) {
  at::Tensor drawn = at::randn({count, 5}, generator(seed), at::TensorOptions(at::kDouble));
  drawn.select(1, 2).exp_();      // heavy tail
  drawn.select(1, 3).fill_(4.0);  // constant
  drawn.select(1, 4).round_();    // ties
  drawn[1][0] = std::numeric_limits<double>::quiet_NaN();
  return drawn;
}

// A large group of 20 rows, and 20 of two rows each.
at::Tensor example_groups() {
  return (at::arange(rows, at::kLong) - 18).clamp_min(0).div(2, "floor");
}

// The definition, entry by entry.
at::Tensor slow_min_max(const at::Tensor& a, const at::Tensor& b) {
  at::Tensor out = at::zeros({a.size(0), b.size(0)}, at::kDouble);
  for (int64_t block = 0; block < 2; ++block) {
    const at::Tensor left = a.narrow(1, block * bits, bits), right = b.narrow(1, block * bits, bits);
    for (int64_t i = 0; i < a.size(0); ++i) {
      for (int64_t j = 0; j < b.size(0); ++j) {
        const double all = at::maximum(left[i], right[j]).sum().item<double>();
        out[i][j] += all > 0 ? at::minimum(left[i], right[j]).sum().item<double>() / all / 2 : 0.5;
      }
    }
  }
  return out;
}

KernelRidgeOptions options_of(int64_t fingerprints, bool labels = false) {
  KernelRidgeOptions options;
  options.fingerprints = fingerprints;
  options.fingerprint_bits = bits;
  options.labels = labels;
  return options;
}

}  // namespace

TEST_CASE("the min-max kernel is the ratio of shared and all counts, averaged over fingerprints") {
  // Measured over 1,000 seeds, at most: 8.5e-8 where 1e-6 is allowed.
  const at::Tensor a = example_counts(7, 1), b = example_counts(9, 2);
  require_close(min_max_kernel(a.to(at::kByte), b.to(at::kByte), bits).to(at::kDouble), slow_min_max(a, b), 1e-6,
                "kernel");
  require_close(min_max_kernel(a.to(at::kByte), b.to(at::kByte), bits, /*logarithms=*/true).to(at::kDouble),
                slow_min_max(a.log1p(), b.log1p()), 1e-6, "kernel of logarithms");
  require_error([&] { min_max_kernel(a.to(at::kByte), b.to(at::kByte), 23); }, {"min_max_kernel", "23"});
  require_error([&] { min_max_kernel(a, b, bits); }, {"uint8"});
}

TEST_CASE("parts keep small groups together, divide large ones, and are of like size") {
  const at::Tensor groups = example_groups();
  REQUIRE((groups == 0).sum().item<int64_t>() == 20);
  const std::vector<at::Tensor> parts = left_out_parts(groups);
  REQUIRE(parts.size() == 5);
  require_equal(std::get<0>(at::cat(parts).sort()), at::arange(rows, at::kLong), "rows");
  for (size_t i = 0; i < parts.size(); ++i) {
    CHECK(parts[i].numel() == rows / 5);
    CHECK((groups.index_select(0, parts[i]) == 0).any().item<bool>());
    for (size_t j = 0; j < i; ++j) {
      const at::Tensor one = groups.index_select(0, parts[i]), other = groups.index_select(0, parts[j]);
      CHECK_FALSE(((one.unsqueeze(1) == other) & (other > 0)).any().item<bool>());
    }
  }
  require_error([] { left_out_parts(at::zeros({4})); }, {"groups", "int64"});
}

TEST_CASE("the ridge is where the error of regressions that were fitted without each part stops falling") {
  // Measured over 1,000 seeds, at most: 1.4e-7 where 1e-5 is allowed.
  const at::Tensor counts = example_counts(rows, 3), groups = example_groups();
  const at::Tensor kernel = slow_min_max(counts.log1p(), counts.log1p());
  const at::Tensor noise = at::randn({rows}, generator(4), at::TensorOptions(at::kDouble));
  at::Tensor target = counts.narrow(1, 0, 6).sum(1) + noise;
  target[5] = std::numeric_limits<double>::quiet_NaN();
  const KernelRidge found = KernelRidge::fit(at::log1p(counts), target.unsqueeze(1), groups, options_of(2));
  REQUIRE(found.targets() == 1);
  REQUIRE(found.columns() == 2 * bits);
  require_equal(found.mixture(), at::tensor({0.0, 0.0, 1.0}, at::kDouble).unsqueeze(1), "mixture");

  const at::Tensor known = target.isfinite().nonzero().flatten(), of_known = groups.index_select(0, known);
  const at::Tensor values = target.index_select(0, known);
  const at::Tensor mean = values.mean(), deviation = values.std(0, /*unbiased=*/false);
  const at::Tensor scaled = (values - mean) / deviation;
  const at::Tensor own = kernel.index_select(0, known).index_select(1, known);
  const auto predicted = [&](const at::Tensor& from, const at::Tensor& to, double ridge) {
    const at::Tensor matrix =
        own.index_select(0, from).index_select(1, from) + ridge * at::eye(from.numel(), at::kDouble);
    return own.index_select(0, to).index_select(1, from).mv(
        at::linalg_solve(matrix, scaled.index_select(0, from).unsqueeze(1)).squeeze(1));
  };
  const std::vector<double> ridges = {0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0};
  std::vector<double> errors;
  for (const double ridge : ridges) {
    double& error = errors.emplace_back(0.0);
    for (const at::Tensor& left_out : left_out_parts(of_known)) {
      const at::Tensor is_kept = at::ones({known.numel()}, at::kBool).index_fill_(0, left_out, false);
      const at::Tensor kept = is_kept.nonzero().flatten();
      error += (predicted(kept, left_out, ridge) - scaled.index_select(0, left_out)).square().sum().item<double>();
    }
  }
  // From the middle up, or else down: there may be a smaller error beyond.
  size_t place = 3;
  while (place + 1 < ridges.size() && errors[place + 1] < errors[place]) ++place;
  while (place <= 3 && place > 0 && errors[place - 1] < errors[place]) --place;
  const double chosen = ridges[place];
  REQUIRE(found.ridge()[0].item<double>() == chosen);
  KernelRidgeOptions of_few = options_of(2);
  of_few.selection_rows = 15;
  const KernelRidge again = KernelRidge::fit(at::log1p(counts), target.unsqueeze(1), groups, of_few);
  // A search from the ridge of few rows ends where the error of all rows stops falling, too.
  const auto end = std::find(ridges.begin(), ridges.end(), again.ridge()[0].item<double>());
  REQUIRE(end != ridges.end());
  const auto last = static_cast<size_t>(end - ridges.begin());
  REQUIRE((last == 0 || errors[last] <= errors[last - 1]));
  REQUIRE((last + 1 == ridges.size() || errors[last] <= errors[last + 1]));
  const at::Tensor all = at::arange(known.numel(), at::kLong);
  require_close(found.predict(at::log1p(counts)).index_select(0, known).squeeze(1),
                predicted(all, all, chosen) * deviation + mean, 1e-5, "predictions");
}

TEST_CASE("labels that are known for the same rows share the kernel, whose errors are those of all of them") {
  // Measured over 1,000 seeds, at most: 2.6e-15 of 1e-12, 2.4e-15 of 1e-8, 7.6e-7 of 0.0001 that are allowed.
  const at::Tensor counts = example_counts(rows, 13), groups = example_groups();
  const at::Tensor noise = at::randn({rows, 2}, generator(14), at::TensorOptions(at::kDouble));
  at::Tensor labels = (counts.narrow(1, 0, 2) + noise > 1).to(at::kDouble);
  labels.narrow(0, 7, 2).fill_(std::numeric_limits<double>::quiet_NaN());
  at::Tensor third = labels.select(1, 0).clone();
  third[20] = std::numeric_limits<double>::quiet_NaN();
  const KernelRidgeOptions options = options_of(2, /*labels=*/true);
  const KernelRidge found =
      KernelRidge::fit(at::log1p(counts), at::cat({labels, third.unsqueeze(1)}, 1), groups, options);
  REQUIRE(found.ridge()[0].item<double>() == found.ridge()[1].item<double>());
  // The weights of each are those of a regression of its standardised label.
  const at::Tensor kernel = slow_min_max(counts.log1p(), counts.log1p());
  for (int64_t t = 0; t < 3; ++t) {
    const at::Tensor target = t < 2 ? labels.select(1, t) : third;
    const at::Tensor known = target.isfinite().nonzero().flatten(), values = target.index_select(0, known);
    at::Tensor matrix = kernel.index_select(0, known).index_select(1, known);
    matrix.diagonal().add_(found.ridge()[t]);
    const at::Tensor scaled = (values - values.mean()) / values.std(0, /*unbiased=*/false);
    const at::Tensor weights = found.state().at("weights").select(1, t);
    require_close(weights.index_select(0, known), at::linalg_solve(matrix, scaled.unsqueeze(1)).squeeze(1), 1e-4,
                  "weights");
    const at::Tensor unknown = weights.index_fill(0, known, 0.0);
    require_close(unknown, at::zeros_like(unknown), 1e-12, "unknown rows", weights.abs().max().item<double>());
  }
  // A third label that is known for other rows changes nothing, and neither does the order.
  const KernelRidge both = KernelRidge::fit(at::log1p(counts), labels.flip({1}), groups, options);
  require_close(both.predict(at::log1p(counts)).flip({1}), found.predict(at::log1p(counts)).narrow(1, 0, 2), 1e-8,
                "predictions");
}

TEST_CASE("of many targets, the mixture with the smallest mean error is that of all") {
  const at::Tensor features = at::cat({example_descriptors(rows, 31), at::log1p(example_counts(rows, 32))}, 1);
  const at::Tensor noise = at::randn({rows}, generator(33), at::TensorOptions(at::kDouble));
  const at::Tensor of_descriptors = features.select(1, 1) + 0.1 * noise;
  const at::Tensor of_fingerprints = features.narrow(1, 5, bits).sum(1);
  const auto fit = [&](const std::vector<at::Tensor>& targets, int64_t own_choices) {
    KernelRidgeOptions options = options_of(2);
    options.own_choices = own_choices;
    return KernelRidge::fit(features, at::stack(targets, 1), example_groups(), options);
  };
  // Targets that are alike choose what each chooses alone.
  const std::vector<at::Tensor> alike(14, of_descriptors);
  const KernelRidge alone = fit({of_descriptors}, 1), together = fit(alike, 13);
  require_close(together.predict(features), alone.predict(features).expand({-1, 14}), 1e-12, "predictions");
  // The first is of another kind: it has its own choice beside so few, and beside more does not decide alone.
  std::vector<at::Tensor> mixed = alike;
  mixed.front() = of_fingerprints;
  const KernelRidge own = fit(mixed, 14), shared = fit(mixed, 13);
  REQUIRE_FALSE(at::equal(own.mixture().select(1, 0), own.mixture().select(1, 1)));
  CHECK(at::equal(shared.mixture(), shared.mixture().narrow(1, 1, 1).expand({3, 14})));
  CHECK_FALSE(at::equal(shared.mixture().select(1, 0), own.mixture().select(1, 0)));
  CHECK(at::equal(shared.ridge(), shared.ridge().narrow(0, 0, 1).expand({14})));
}

TEST_CASE("a regression of a checkpoint from before logarithms has the kernel of counts") {
  // Measured over 1,000 seeds, at most: 5.8e-8 where 0.0001 is allowed.
  const at::Tensor counts = example_counts(rows, 15), groups = example_groups();
  const at::Tensor target = counts.narrow(1, 0, 6).sum(1, /*keepdim=*/true);
  std::map<std::string, at::Tensor> state = KernelRidge::fit(at::log1p(counts), target, groups, options_of(2)).state();
  state.erase("logarithms");
  const KernelRidge old = KernelRidge::from_state(state);
  const at::Tensor expected =
      slow_min_max(counts, counts).matmul(state.at("weights")) * state.at("slope") + state.at("offset");
  require_close(old.predict(at::log1p(counts)), expected, 1e-4, "predictions");
}

TEST_CASE("with all rows as landmarks the Nystroem approximation is the exact regression") {
  // Measured over 1,000 seeds, at most: 9.5e-8 where 0.01 is allowed.
  const at::Tensor features = at::cat({example_descriptors(rows, 5), at::log1p(example_counts(rows, 6))}, 1);
  const at::Tensor target =
      at::stack({features.select(1, 0).nan_to_num() + features.select(1, 8), features.select(1, 1)}, 1);
  KernelRidgeOptions options = options_of(2);
  const KernelRidge exact = KernelRidge::fit(features, target, example_groups(), options);
  options.max_exact = 10;
  options.landmarks = rows;
  const KernelRidge approximate = KernelRidge::fit(features, target, example_groups(), options);
  require_close(approximate.predict(features), exact.predict(features), 1e-2, "predictions");
  options.landmarks = 30;
  options.selection_rows = 20;
  const at::Tensor rough = KernelRidge::fit(features, target, example_groups(), options).predict(features);
  CHECK(r2_score(rough, target) > 0.3);
  require_equal(KernelRidge::fit(features, target, example_groups(), options).predict(features), rough, "again");
}

TEST_CASE("landmarks have the rare label, and probabilities its share") {
  constexpr int64_t many = 400;
  const at::Tensor features = at::randn({many, 3}, generator(12), at::TensorOptions(at::kDouble));
  const at::Tensor label = (features.select(1, 0) > 1.6).to(at::kDouble);  // of about one in twenty
  KernelRidgeOptions options = options_of(0, /*labels=*/true);
  options.max_exact = 100;
  options.landmarks = 80;
  const KernelRidge found = KernelRidge::fit(features, label.unsqueeze(1), at::arange(many, at::kLong), options);
  REQUIRE(found.state().at("scores").size(0) == 80);
  const at::Tensor logits = found.predict(features).select(1, 0);
  CHECK(roc_auc_score(logits, label.to(at::kBool)) > 0.95);
  const double share = (label.sum().item<double>() + 1) / (many + 2);
  CHECK(logits.sigmoid().mean().item<double>() == Approx(share).epsilon(1e-3));
}

TEST_CASE("regressions have features of either kind alone, unknown ones too, and come back from their state") {
  const at::Tensor descriptors = example_descriptors(rows, 7), counts = at::log1p(example_counts(rows, 8));
  const at::Tensor target = (descriptors.select(1, 1) + counts.select(1, 3)).unsqueeze(1);
  for (const at::Tensor& features : {descriptors, counts, at::cat({descriptors, counts}, 1)}) {
    const bool counted = features.size(1) > 5;
    const KernelRidge found = KernelRidge::fit(features, target, example_groups(), options_of(counted ? 2 : 0));
    if (!counted) REQUIRE(found.mixture()[2][0].item<double>() == 0.0);
    REQUIRE(found.mixture().sum().item<double>() == Approx(1));
    CHECK(r2_score(found.predict(features), target) > 0.4);
    require_equal(KernelRidge::from_state(found.state()).predict(features), found.predict(features), "from its state");
    const at::Tensor none = at::full({2, features.size(1)}, std::numeric_limits<double>::quiet_NaN());
    CHECK(found.predict(none).isfinite().all().item<bool>());
    require_error([&] { found.predict(features.narrow(1, 1, 4)); }, {"features"});
  }
  std::map<std::string, at::Tensor> state = KernelRidge::fit(counts, target, example_groups(), options_of(2)).state();
  for (const auto& [name, broken] :
       std::map<std::string, at::Tensor>{{"knot_ptr", at::tensor({int64_t{0}, int64_t{9}})},
                                         {"weights", at::zeros({1, 1}, at::kDouble)},
                                         {"slope", at::zeros({2}, at::kDouble)},
                                         {"scores", at::zeros({1, 1}, at::kDouble)},
                                         {"bits", at::scalar_tensor(0, at::kLong)},
                                         {"logarithms", at::zeros({2}, at::kLong)}}) {
    std::map<std::string, at::Tensor> damaged = state;
    damaged[name] = broken;
    require_error([&] { KernelRidge::from_state(damaged); }, {"wrong " + name});
  }
  state.erase("weights");
  require_error([&] { KernelRidge::from_state(state); }, {"weights"});
  require_error([&] { KernelRidge::fit(counts, target, example_groups().slice(0, 1), options_of(2)); }, {"groups"});
  require_error([&] { KernelRidge::fit(descriptors, target, example_groups(), options_of(2)); }, {"features"});
}

TEST_CASE("predictions for labels are logits, of the share of ones where there is nothing to learn") {
  // Measured: the same bits where 1e-12 is allowed.
  const at::Tensor features = at::cat({example_descriptors(rows, 9), at::log1p(example_counts(rows, 10))}, 1);
  const at::Tensor noise = at::randn({rows}, generator(11), at::TensorOptions(at::kDouble));
  const at::Tensor label = (features.select(1, 1) + 0.5 * noise > 0.4).to(at::kDouble);
  const at::Tensor unknown = at::full({rows}, std::numeric_limits<double>::quiet_NaN(), at::kDouble);
  const at::Tensor targets = at::stack({label, at::ones_like(label), unknown}, 1);
  const at::Tensor logits =
      KernelRidge::fit(features, targets, example_groups(), options_of(2, /*labels=*/true)).predict(features);
  REQUIRE(logits.isfinite().all().item<bool>());
  CHECK(roc_auc_score(logits.select(1, 0), label.to(at::kBool)) > 0.8);
  // The rows are those of the training: their mean probability is near the share of ones.
  CHECK(std::abs((logits.select(1, 0).sigmoid().mean() - label.mean()).item<double>()) < 0.15);
  require_close(logits.select(1, 1), at::full({rows}, std::log(61.0), at::kDouble), 1e-12, "all ones");
  require_close(logits.select(1, 2), at::zeros({rows}, at::kDouble), 1e-12, "unknown");
}

TEST_CASE("wide counts tell apart what counts up to 255 do not") {
  const at::Tensor large = at::arange(30, at::kDouble).mul(40).add(300).unsqueeze(1), target = large.log1p();
  const at::Tensor counts = at::cat({large, at::zeros({30, 2 * bits - 1}, at::kDouble)}, 1),
                   groups = at::arange(30, at::kLong);
  KernelRidgeOptions options = options_of(2);
  const auto error = [&] {
    const KernelRidge found = KernelRidge::fit(counts.log1p(), target, groups, options);
    const KernelRidge again = KernelRidge::from_state(found.state());
    require_equal(again.predict(counts.log1p()), found.predict(counts.log1p()), "from its state");
    return (found.predict(counts.log1p()) - target).abs().max().item<double>();
  };
  CHECK(error() > 0.3);
  options.wide_counts = true;
  CHECK(error() < 0.1);
  const at::Tensor some = counts.narrow(0, 0, 4).to(at::kShort), others = counts.narrow(0, 2, 5).to(at::kShort);
  require_close(min_max_kernel(some, others, bits, /*logarithms=*/true).to(at::kDouble),
                slow_min_max(some.to(at::kDouble).log1p(), others.to(at::kDouble).log1p()), 1e-6, "kernel");
  require_error([&] { min_max_kernel(some, others.to(at::kByte), bits); }, {"int16", "alike"});
}

TEST_CASE("of several widths of the Gaussian kernel, the one with the smallest error of left-out rows is taken") {
  // A function that varies within a deviation of the descriptors, and one that is nearly quadratic.
  const at::Tensor x = at::randn({200, 2}, generator(31), at::TensorOptions(at::kDouble));
  const at::Tensor rough = (x * 4).sin().sum(1, true), smooth = x.prod(1, true);
  const at::Tensor groups = at::arange(200, at::kLong);
  const auto fitted = [&](const at::Tensor& targets, std::vector<double> factors) {
    KernelRidgeOptions options;
    options.gaussian_factors = std::move(factors);
    return KernelRidge::fit(x, targets, groups, options);
  };
  // Widths far apart, one of which fits the function.
  const auto require_chosen = [&](const at::Tensor& targets, const std::vector<double>& factors, double factor) {
    const KernelRidge found = fitted(targets, factors), alone = fitted(targets, {factor});
    require_equal(found.state().at("gaussian"), alone.state().at("gaussian"), "width");
    require_equal(found.predict(x), alone.predict(x), "predictions");
  };
  require_chosen(rough, {0.05, 0.01, 8.0}, 8.0);
  require_chosen(smooth, {8.0, 0.05, 30.0}, 0.05);
  require_chosen(at::cat({rough, smooth}, 1), {0.05, 8.0}, 8.0);  // the first target chooses
  require_error([&] { fitted(smooth, {}); }, {"gaussian_factors"});
}

TEST_CASE("few rows whose classes are all told apart have no certain class") {
  const at::Tensor label = at::arange(24, at::kLong) % 2;
  at::Tensor counts = at::zeros({24, 48});
  for (int64_t row = 0; row < 24; ++row) {
    counts[row].view({3, 16}).narrow(1, 8 * label[row].item<int64_t>(), 8).add_(3 + row % 3);
  }
  KernelRidgeOptions options = options_of(2);
  options.classes = true;
  const KernelRidge found =
      KernelRidge::fit(at::log1p(counts), at::one_hot(label, 2).to(at::kDouble), at::arange(24, at::kLong), options);
  const at::Tensor shares = found.predict(at::log1p(counts)).softmax(1).gather(1, label.unsqueeze(1));
  CHECK(shares.min().item<double>() > 0.9);
  CHECK(shares.max().item<double>() < 0.999);
}

TEST_CASE("classes share the kernel and the factor of their logits, which makes left-out rows most probable") {
  const int64_t count = 90;
  at::Tensor counts = example_counts(count, 15);
  const at::Tensor label = at::arange(count, at::kLong) % 3;  // and a fourth class without rows
  const at::Tensor noise = at::rand({count}, generator(16), at::TensorOptions(at::kDouble));
  for (int64_t row = 0; row < count; ++row) {
    if (noise[row].item<double>() < 0.8) counts[row].narrow(0, 8 * label[row].item<int64_t>(), 4).add_(3);
  }
  const at::Tensor targets = at::one_hot(label, 4).to(at::kDouble), groups = at::arange(count, at::kLong);
  KernelRidgeOptions options = options_of(2);
  options.classes = true;
  const KernelRidge found = KernelRidge::fit(at::log1p(counts), targets, groups, options);
  const double factor = found.state().at("slope")[0].item<double>(), ridge = found.ridge()[0].item<double>();
  require_close(found.state().at("slope").slice(0, 0, 3), at::full({3}, factor, at::kDouble), 1e-12, "slopes");
  require_close(found.state().at("offset").slice(0, 0, 3), at::full({3}, factor / 3, at::kDouble), 1e-12, "offsets");

  const at::Tensor kernel = slow_min_max(counts.log1p(), counts.log1p()), mean = targets.mean(0);
  const auto predicted = [&](const at::Tensor& from, const at::Tensor& to) {
    const at::Tensor matrix =
        kernel.index_select(0, from).index_select(1, from) + ridge * at::eye(from.numel(), at::kDouble);
    const at::Tensor weights = at::linalg_solve(matrix, targets.index_select(0, from) - mean);
    return kernel.index_select(0, to).index_select(1, from).matmul(weights) + mean;
  };
  at::Tensor left_out = at::zeros_like(targets);
  for (const at::Tensor& part : left_out_parts(groups)) {
    const at::Tensor kept = at::ones({count}, at::kBool).index_fill_(0, part, false).nonzero().flatten();
    left_out.index_copy_(0, part, predicted(kept, part));
  }
  // Counts one row more, which is of every known class alike.
  const double alike = 1.0 / (static_cast<double>(count) + 1);
  const at::Tensor shares = targets.slice(1, 0, 3) * (1 - alike) + alike / 3;
  const auto loss = [&](double with) {
    return -((left_out.slice(1, 0, 3) * with).log_softmax(1) * shares).sum(1).mean().item<double>();
  };
  CHECK(loss(factor) < loss(1.02 * factor));
  CHECK(loss(factor) < loss(factor / 1.02));
  const at::Tensor logits = found.predict(at::log1p(counts));
  const at::Tensor all = at::arange(count, at::kLong);
  require_close(logits.slice(1, 0, 3), factor * predicted(all, all).slice(1, 0, 3), 1e-4, "logits");
  CHECK(logits.argmax(1).eq(label).to(at::kDouble).mean().item<double>() > 0.7);
  require_close(logits.select(1, 3), at::zeros({count}, at::kDouble), 1e-12, "a class without rows");
  require_equal(KernelRidge::from_state(found.state()).predict(at::log1p(counts)), logits, "from its state");
}

}  // namespace geosft::test::test_kernel_ridge
