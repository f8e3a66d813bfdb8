// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/run_kernel.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <sstream>

#include "tests/data/files.h"
#include "tests/support.h"
#include "tools/experiment/random_forest_training.h"

namespace geosft::test::test_run_kernel {

TEST_CASE("the weight of a regression has the smallest loss on the validation split, of a small one near the middle") {
  const auto loss_around = [](double best) { return [best](double weight) { return std::abs(weight - best) + 1; }; };
  std::ostringstream text;
  CHECK(chosen_weight(loss_around(0.33), 50, text) == 0.3);
  CHECK_THAT(text.str(), Catch::Contains("1.33 of the networks, 1.67 of the regression, 1.03 of both"));
  CHECK(chosen_weight(loss_around(0), 999, text) == 0.2);
  CHECK(chosen_weight(loss_around(1), 999, text) == 0.8);
  CHECK(chosen_weight(loss_around(0), 1000, text) == 0.0);
  CHECK(chosen_weight(loss_around(1), 1000, text) == 1.0);
  CHECK(chosen_weight([](double) { return 2.0; }, 1000, text) == 0.5);
}

TEST_CASE("a regression comes back from the RUN folder of its program, and is refused by another") {
  const TemporaryFolder folder;
  const at::Tensor features = at::randn({20, 3}, generator(1)), target = features.narrow(1, 0, 1);
  RunKernel kernel("geosft-graph", 0.5);
  kernel.regression = std::make_shared<const KernelRidge>(
      KernelRidge::fit(features, target, at::arange(20, at::kLong), KernelRidgeOptions()));
  kernel.weight = 0.25;
  CHECK(RunKernel::stored_in(folder.path()).empty());
  CHECK(kernel.text() == "kernel ridge regression");
  CHECK(RunKernel("geosft-graph", 0.5).text().empty());
  kernel.save(folder.path());
  CHECK(RunKernel::stored_in(folder.path()) == "kernel ridge regression");
  RunKernel loaded("geosft-graph", 0.5), other("geosft-classify", 0.5);
  loaded.load(folder.path());
  CHECK(loaded.weight == 0.25);
  require_equal(loaded.regression->predict(features), kernel.regression->predict(features), "predictions");
  require_error([&] { other.load(folder.path()); }, {"kernel.ckpt", "another checkpoint"});
}

TEST_CASE("logits of a regression and a random forest are averaged, and both come back from the RUN folder") {
  const TemporaryFolder folder;
  const at::Tensor features = at::randn({20, 3}, generator(1)), target = features.narrow(1, 0, 1).gt(0).to(at::kDouble);
  KernelRidgeOptions labels;
  labels.labels = true;
  RunKernel kernel("geosft-graph", 0.5), loaded("geosft-graph", 0.5);
  kernel.regression =
      std::make_shared<const KernelRidge>(KernelRidge::fit(features, target, at::arange(20, at::kLong), labels));
  RandomForestOptions few;
  few.trees = 3;
  kernel.forest_share = 0.25;
  kernel.forest = std::make_shared<const RandomForest>(fit_random_forest(features, target, few));
  const at::Tensor expected = 0.75 * kernel.regression->predict(features) + 0.25 * kernel.forest->predict(features);
  require_close(kernel.predict(features), expected, 1e-12, "average");
  kernel.save(folder.path());
  CHECK(RunKernel::stored_in(folder.path()) == "kernel ridge regression and random forest");
  loaded.load(folder.path());
  CHECK(loaded.text() == "kernel ridge regression and random forest");
  CHECK(loaded.forest_share == 0.25);
  RunKernel forest_alone = kernel;
  forest_alone.forest_share = 1;
  const TemporaryFolder another;
  forest_alone.save(another.path());
  CHECK(forest_alone.text() == "random forest");
  CHECK(RunKernel::stored_in(another.path()) == "random forest");
  write_text(kernel_file(another.path()), "damaged");
  CHECK(RunKernel::stored_in(another.path()) == "kernel ridge regression");
  require_equal(loaded.predict(features), kernel.predict(features), "predictions");
  // Takes the share whose predictions are near those of the one given, where the split is large.
  const auto chosen = [&](double share, int64_t items) {
    RunKernel one = kernel;
    one.forest_share = 0.5;
    const at::Tensor split = features.repeat({items / 20, 1});
    const at::Tensor wanted = kernel.regression->predict(split).lerp(kernel.forest->predict(split), share);
    std::ostringstream text;
    one.choose_weights(
        split,
        [&](double weight, const at::Tensor& predictions) {
          return (predictions - wanted).abs().mean().item<double>() + std::abs(weight - 0.7);
        },
        text);
    CHECK(one.weight == 0.7);
    CHECK_THAT(text.str(), Catch::Contains("; share of the random forest beside it "));
    CHECK((one.forest == nullptr) == (one.forest_share == 0));
    return one.forest_share;
  };
  for (const double share : {0.0, 0.25, 0.5, 0.75, 1.0}) CHECK(chosen(share, 1000) == share);
  CHECK(chosen(0.0, 980) == 0.5);
  kernel.forest = std::make_shared<const RandomForest>(fit_random_forest(features.narrow(1, 0, 2), target, few));
  kernel.save(folder.path());
  require_error([&] { loaded.load(folder.path()); }, {"kernel.ckpt", "columns and labels"});
}

}  // namespace geosft::test::test_run_kernel
