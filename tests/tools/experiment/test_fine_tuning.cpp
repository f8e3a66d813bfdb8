// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/fine_tuning.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "tests/data/files.h"
#include "tests/tools/classify/small_classifier.h"
#include "tests/tools/experiment/small_graph_model.h"
#include "tests/tools/segment/small_segmenter.h"
#include "tools/experiment/classification.h"
#include "tools/experiment/graph_settings.h"

namespace geosft::test::test_fine_tuning {
namespace {

const std::vector<std::string> letters = {"a", "b", "c"};

RunDescription run_of(const ClassifySettings& settings, const std::vector<std::string>& names) {
  return describe_run<Classification>(settings, ClassNames{names});
}

// Saves a model as a checkpoint of a run.
std::string saved(const TemporaryFolder& folder, const torch::nn::Module& model, const RunDescription& run) {
  Checkpoint checkpoint{{}, run.texts()};
  for (const auto& [name, tensor] : module_state(model)) checkpoint.tensors.emplace("model." + name, tensor);
  const std::string file = (folder / "first.ckpt").string();
  save_checkpoint(file, checkpoint);
  return file;
}

std::string saved(const TemporaryFolder& folder, const PointClassifier& model, const ClassifySettings& settings) {
  return saved(folder, *model, run_of(settings, letters));
}

std::map<std::string, at::Tensor> copied_state(const PointClassifier& model) {
  std::map<std::string, at::Tensor> copy;
  for (const auto& [name, tensor] : module_state(*model)) copy.emplace(name, tensor.clone());
  return copy;
}

bool is_output(const std::string& name) {
  return name.starts_with("head.linear.");
}

}  // namespace

TEST_CASE("a model starts from the weights of a run, its output layer only for classes of the same names") {
  const TemporaryFolder folder;
  ClassifySettings settings = small_settings();
  const PointClassifier first = small_model(settings, 5);
  settings.train.init_from = saved(folder, first, settings);
  const auto expected = module_state(*first);
  for (const bool same : {true, false}) {
    PointClassifier model = small_model(settings, 6);
    const auto before = copied_state(model);
    const auto run = run_of(settings, same ? letters : std::vector<std::string>{"d", "e", "f"});
    const std::string text = start_from_run(*model, settings.train, run, /*resumes=*/false);
    REQUIRE((text.find("new output layer") != std::string::npos) == !same);
    for (const auto& [name, tensor] : module_state(*model)) {
      require_equal(tensor, !same && is_output(name) ? before.at(name) : expected.at(name), name);
      REQUIRE(tensor.data_ptr() != expected.at(name).data_ptr());
    }
  }
}

TEST_CASE("another number of classes keeps a new output layer, and a resumed run keeps its weights") {
  const TemporaryFolder folder;
  ClassifySettings settings = small_settings();
  const PointClassifier first = small_model(settings, 5);
  settings.train.init_from = saved(folder, first, settings);
  at::manual_seed(6);
  PointClassifier model(settings.classifier(7));
  const auto before = copied_state(model);
  const auto run = run_of(settings, {"1", "2", "3", "4", "5", "6", "7"});
  start_from_run(*model, settings.train, run, /*resumes=*/true);
  for (const auto& [name, tensor] : module_state(*model)) require_equal(tensor, before.at(name), name);
  start_from_run(*model, settings.train, run, /*resumes=*/false);
  require_equal(model->head->linear->weight, before.at("head.linear.weight"), "output layer");
  require_equal(model->embed->weight, first->embed->weight, "embed");
  require_equal(model->head->sampler->parameters().front(), first->head->sampler->parameters().front(), "sampler");
}

TEST_CASE("new outputs are drawn apart from those of the run, and of a run that began with it, with one seed for all") {
  const TemporaryFolder folder;
  ClassifySettings settings = small_settings();
  const auto draw = [&](const std::vector<std::string>& classes) {
    const RunDescription run = run_of(settings, classes);
    at::manual_seed(initial_seed(5, settings.train, run, /*resumes=*/false));
    PointClassifier model(settings.classifier(3));
    start_from_run(*model, settings.train, run, /*resumes=*/false);
    settings.train.init_from = saved(folder, *model, run);
    return at::Tensor(model->head->linear->weight);
  };
  const at::Tensor first = draw(letters), second = draw({"d", "e", "f"}), third = draw({"g", "h", "i"});
  require_equal(first, small_model(settings, 5)->head->linear->weight, "without a run the seed is the given one");
  CHECK_FALSE(at::allclose(second, first));
  CHECK_FALSE(at::allclose(third, first));
  CHECK_FALSE(at::allclose(third, second));
  CHECK(initial_seed(5, settings.train, run_of(settings, letters), /*resumes=*/true) == 5);
}

TEST_CASE("the output layer keeps the rows of classes that both have, in any order, and others are new") {
  const TemporaryFolder folder;
  ClassifySettings settings = small_settings();
  const PointClassifier first = small_model(settings, 5);
  settings.train.init_from = saved(folder, first, settings);
  const auto expected = module_state(*first);
  const auto check = [&](const std::vector<std::string>& classes, const std::string& said) {
    at::manual_seed(6);
    PointClassifier model(settings.classifier(static_cast<int64_t>(classes.size())));
    const auto before = copied_state(model);
    const std::string text = start_from_run(*model, settings.train, run_of(settings, classes), /*resumes=*/false);
    CHECK_THAT(text, Catch::EndsWith(said));
    for (const auto& [name, tensor] : module_state(*model)) {
      if (!is_output(name)) require_equal(tensor, expected.at(name), name);
      if (!is_output(name)) continue;
      for (int64_t row = 0; row < tensor.size(0); ++row) {
        const int64_t known = std::ranges::find(letters, classes[static_cast<size_t>(row)]) - letters.begin();
        require_equal(tensor[row], known < 3 ? expected.at(name)[known] : before.at(name)[row], name);
      }
    }
  };
  check({"c", "a", "b"}, " with the outputs of 3 of its 3 classes");
  check({"c", "b"}, " with the outputs of 2 of its 2 classes");
  check({"x", "c", "a", "y"}, " with the outputs of 2 of its 4 classes");
  check({"x", "y"}, " with a new output layer");
}

TEST_CASE("the output layer keeps the rows of parts that both have in classes of the same names") {
  const TemporaryFolder folder;
  SegmentSettings settings = small_segment_settings();
  const std::vector<std::string> classes = {"lamp", "mug"}, turned = {"mug", "lamp"};
  const PartList parts = {{"top", 0}, {"foot", 0}, {"foot", 1}, {"cup", 1}};
  const PartList own_parts = {{"foot", 0}, {"foot", 1}, {"top", 0}, {"top", 1}};
  at::manual_seed(5);
  const PointSegmenter first(settings.segmenter(4, 2));
  settings.train.init_from = saved(folder, *first, describe_run<Segmentation>(settings, {{classes}, parts}));
  PointSegmenter model(settings.segmenter(4, 2));
  const at::Tensor weight = model->head->linear->weight, own = weight.detach().clone(),
                   from = first->head->linear->weight;
  const RunDescription run = describe_run<Segmentation>(settings, {{turned}, own_parts});
  const std::string text = start_from_run(*model, settings.train, run, /*resumes=*/false);
  CHECK_THAT(text, Catch::EndsWith(" with the outputs of 3 of its 4 parts"));
  require_equal(weight[0], from[2], "the foot of a mug");
  require_equal(weight[1], from[1], "the foot of a lamp");
  require_equal(weight[2], own[2], "the top of a mug, which is new");
  require_equal(weight[3], from[0], "the top of a lamp");
}

TEST_CASE("the output layer keeps the rows of regression targets in the same units, and of no other task") {
  const TemporaryFolder folder;
  GraphSettings settings = small_graph_settings();
  const ItemSchema schema = small_graphs(GraphTask::regression).schema;
  const GraphRun first = small_graph_run(schema, settings);
  first.model->target_mean.copy_(at::tensor({1.0F, 2.0F, 3.0F}));
  settings.train.init_from = saved(folder, *first.model, describe_run<GraphLearning>(settings, {schema}));
  ItemSchema other = schema;
  other.output_names = {"c", "b"};
  const at::Tensor from = first.model->pool_head->linear->weight, mean = at::tensor({3.0F, 2.5F});
  GraphModel model(settings.graph_model(other));
  model->target_mean.copy_(mean);
  const at::Tensor weight = model->pool_head->linear->weight, own = weight.detach().clone();
  const auto start = [&] {
    return start_from_run(*model, settings.train, describe_run<GraphLearning>(settings, {other}), /*resumes=*/false);
  };
  CHECK_THAT(start(), Catch::EndsWith(" with the outputs of 1 of its 2 targets"));
  require_equal(weight[0], from[2], "c");
  require_equal(weight[1], own[1], "b, in other units");
  require_equal(model->target_mean, mean, "units");
  other.task = GraphTask::multi_label;
  CHECK_THAT(start(), Catch::EndsWith(" with a new output layer"));
}

TEST_CASE("where the class is an input, the columns of the classes that both have are copied, and others are new") {
  const TemporaryFolder folder;
  SegmentSettings settings = small_segment_settings();
  at::manual_seed(5);
  const PointSegmenter first(settings.segmenter(4, 3));
  const PartList parts = {{"top", 0}, {"foot", 0}, {"cup", 1}, {"seat", 2}};
  settings.train.init_from =
      saved(folder, *first, describe_run<Segmentation>(settings, {{{"lamp", "mug", "chair"}}, parts}));
  const auto start = [&](PointSegmenter& model, const std::vector<std::string>& classes) {
    PartList own;
    for (size_t i = 0; i < classes.size(); ++i) own.push_back({"part", static_cast<int64_t>(i)});
    own.push_back({"more", 0});
    return start_from_run(*model, settings.train, describe_run<Segmentation>(settings, {{classes}, own}), false);
  };
  PointSegmenter model(settings.segmenter(3, 2));
  const at::Tensor own = model->embed->weight.detach().clone(), from = first->embed->weight;
  const int64_t shared = from.size(1) - 3;
  CHECK_THAT(start(model, {"mug", "torus"}), Catch::EndsWith("new output layer and new inputs for 1 of its 2 classes"));
  require_equal(model->embed->weight.narrow(1, 0, shared), from.narrow(1, 0, shared), "other inputs");
  require_equal(model->embed->weight.select(1, shared), from.select(1, shared + 1), "mug");
  require_equal(model->embed->weight.select(1, shared + 1), own.select(1, shared + 1), "torus");
  settings.model.category = false;
  PointSegmenter untold(settings.segmenter(3, 2));
  CHECK_THAT(start(untold, {"a", "b"}), Catch::EndsWith(" with a new output layer"));
  require_equal(untold->embed->weight, from.narrow(1, 0, shared), "inputs without classes");
}

TEST_CASE("a frozen encoder leaves the head alone to be trained") {
  const TemporaryFolder folder;
  ClassifySettings settings = small_settings();
  PointClassifier model = small_model(settings);
  settings.train.init_from = saved(folder, model, settings);
  settings.train.freeze_encoder = true;
  start_from_run(*model, settings.train, run_of(settings, letters), /*resumes=*/false);
  for (const auto& item : model->named_parameters()) {
    INFO(item.key());
    REQUIRE(item.value().requires_grad() == item.key().starts_with("head."));
  }
  settings.train.init_from.clear();
  require_error([&] { start_from_run(*model, settings.train, run_of(settings, letters), false); },
                {"freeze_encoder", "init_from"});
}

TEST_CASE("weights of another architecture or tool are refused by name") {
  const TemporaryFolder folder;
  ClassifySettings settings = small_settings(), wider = settings;
  wider.model.dim *= 2;
  settings.train.init_from = saved(folder, small_model(wider), wider);
  PointClassifier model = small_model(settings);
  RunDescription run = run_of(settings, letters);
  require_error([&] { start_from_run(*model, settings.train, run, false); }, {"first.ckpt", "--init-from", "shape ["});
  run.kind = "geosft-graph";
  require_error([&] { start_from_run(*model, settings.train, run, false); }, {"geosft-graph", "geosft-classify"});
}

TEST_CASE("an architecture on the command line must be that of the run to begin with") {
  ClassifySettings settings = small_settings(), wider = settings;
  wider.model.dim *= 2;
  wider.model.sampling.num_samples += 1;
  const std::string of_run = settings.config().to_toml(), asked = wider.config().to_toml();
  require_error([&] { check_architecture({"dim", "num_samples"}, "RUN", of_run, asked); }, {"--dim", "RUN has dim = "});
  CHECK_NOTHROW(check_architecture({"num_samples"}, "RUN", of_run, asked));
  CHECK_NOTHROW(check_architecture({"dim"}, "RUN", of_run, of_run));
}

TEST_CASE("the features of molecules come from the run, those of an earlier version as it made them") {
  const TemporaryFolder folder;
  GraphSettings settings, other;
  settings.molecules.descriptors = true;
  Config config = other.config();
  const auto take = [&](const std::string& text) {
    Checkpoint checkpoint;
    checkpoint.texts["config"] = text;
    save_checkpoint(folder / "run.ckpt", checkpoint);
    take_model_keys(config, (folder / "run.ckpt").string());
  };
  take(settings.config().to_toml());
  CHECK(other.molecules.descriptors);
  CHECK(other.molecules.chiral_tags == ChiralTags::canonical);
  std::string earlier = settings.config().to_toml();
  const size_t line = earlier.find("chiral_tags");
  earlier.erase(line, earlier.find('\n', line) + 1 - line);
  take(earlier);
  CHECK(other.molecules.chiral_tags == ChiralTags::written);
}

TEST_CASE("the size of patches comes from the run") {
  const TemporaryFolder folder;
  GraphSettings settings, other;
  settings.patch_size = 4;
  settings.max_length = 9;
  Checkpoint checkpoint;
  checkpoint.texts["config"] = settings.config().to_toml();
  save_checkpoint(folder / "run.ckpt", checkpoint);
  Config config = other.config();
  take_model_keys(config, (folder / "run.ckpt").string());
  CHECK(other.patch_size == 4);
  CHECK(other.max_length == 0);
  const std::string of_run = config.to_toml();
  other.patch_size = 2;
  require_error([&] { check_architecture({"patch_size"}, "RUN", of_run, config.to_toml()); },
                {"--patch-size", "RUN has patch_size = 4"});
}

TEST_CASE("the keys of the model, the points and the normals come from the run") {
  const TemporaryFolder folder;
  ClassifySettings settings = small_settings(), other;
  settings.clouds.points = 77;
  settings.clouds.points_per_mesh = 78;
  settings.train.epochs = 79;
  const std::string file = saved(folder, small_model(settings), settings);
  Config config = other.config();
  take_model_keys(config, file);
  REQUIRE(other.model.dim == settings.model.dim);
  REQUIRE(other.model.tokens == settings.model.tokens);
  REQUIRE(other.clouds.points == 77);
  REQUIRE(other.clouds.normals == settings.clouds.normals);
  REQUIRE(other.clouds.points_per_mesh == ClassifySettings().clouds.points_per_mesh);
  REQUIRE(other.train.epochs == ClassifySettings().train.epochs);
  save_checkpoint(folder / "bare.ckpt", {});
  require_error([&] { take_model_keys(config, (folder / "bare.ckpt").string()); }, {"bare.ckpt", "config"});
}

}  // namespace geosft::test::test_fine_tuning
