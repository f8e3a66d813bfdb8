// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/trained_run.h"

#include <catch2/catch.hpp>

#include "models/training/training_loop.h"
#include "tests/data/files.h"
#include "tests/support.h"
#include "tools/experiment/classification.h"
#include "tools/experiment/run_folder.h"

namespace geosft::test::test_trained_run {

namespace {

const std::vector<std::string> names = {"a chair", "b", "c"};

Checkpoint example() {
  ClassifySettings settings;
  settings.seed = 11;
  settings.model.dim = 8;
  settings.model.num_heads = 2;
  settings.model.depth = 1;
  const PointClassifier model(settings.classifier(3));
  Checkpoint checkpoint{{}, describe_run<Classification>(settings, {names}).texts()};
  for (const auto& [name, tensor] : module_state(*model)) checkpoint.tensors.emplace("model." + name, tensor);
  return checkpoint;
}

}  // namespace

TEST_CASE("a model comes back from its checkpoint as it was") {
  const test::TemporaryFolder folder;
  const Checkpoint saved = example();
  save_checkpoint(folder / "best.ckpt", saved);
  RunFolder::create(folder / "run").write_config("");
  save_checkpoint(folder / "run" / "best.ckpt", saved);
  for (const char* where : {"best.ckpt", "run"}) {
    const RunModel loaded = load_run_model(folder / where);
    CHECK(loaded.class_names == names);
    CHECK(loaded.settings.seed == 11);
    CHECK(loaded.settings.model.dim == 8);
    CHECK_FALSE(loaded.model->is_training());
    for (const auto& [name, tensor] : module_state(*loaded.model)) {
      test::require_equal(tensor, saved.tensors.at("model." + name), name);
    }
  }
}

TEST_CASE("a run says what its predictions are averaged with") {
  RunModel run;
  CHECK(run.averaged_with().empty());
  run.more_models.assign(1, nullptr);
  CHECK(run.averaged_with() == "1 more model");
  const at::Tensor features = at::randn({20, 3}, test::generator(1));
  run.companion.regression = std::make_shared<const KernelRidge>(
      KernelRidge::fit(features, features.narrow(1, 0, 1), at::arange(20, at::kLong), KernelRidgeOptions()));
  run.more_models.assign(4, nullptr);
  CHECK(run.averaged_with() == "4 more models and a kernel ridge regression");
  run.more_models.clear();
  CHECK(run.averaged_with() == "a kernel ridge regression");
}

TEST_CASE("a run that was given other epochs has those, whatever its best checkpoint says") {
  const test::TemporaryFolder folder;
  const Checkpoint saved = example();
  const RunFolder run = RunFolder::create(folder / "run");
  run.write_config("[train]\nepochs = 7\n");
  save_checkpoint(run.best_checkpoint(), saved);
  CHECK(load_run_model(run.path()).settings.train.epochs == 7);
  CHECK(load_run_model(run.path()).settings.seed == 11);
  CHECK(load_run_model(run.best_checkpoint()).settings.train.epochs == ClassifySettings().train.epochs);
  run.write_config("[train]\nepochs = many\n");
  CHECK(load_run_model(run.path()).settings.train.epochs == ClassifySettings().train.epochs);
}

TEST_CASE("other checkpoints are refused by name") {
  const test::TemporaryFolder folder;
  const std::filesystem::path file = folder / "x.ckpt";
  const auto refused = [&](const Checkpoint& checkpoint, const std::vector<std::string>& words) {
    save_checkpoint(file, checkpoint);
    test::require_error([&] { load_run_model(file); }, words);
  };
  Checkpoint wrong = example();
  wrong.texts.erase("classes");
  refused(wrong, {file.string(), "geosft-classify", "classes"});
  wrong = example();
  wrong.texts.at("kind") = "another";
  refused(wrong, {file.string(), "another"});
  wrong = example();
  wrong.texts.at("classes") += "d\n";
  refused(wrong, {"shape"});
  wrong = example();
  wrong.tensors.erase(wrong.tensors.begin());
  refused(wrong, {"another configuration"});
}

}  // namespace geosft::test::test_trained_run
