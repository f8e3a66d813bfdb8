// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/graph_evaluation.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "data/graphs/molecule_features.h"
#include "tests/data/files.h"
#include "tests/support.h"
#include "tests/tools/experiment/captured_stderr.h"
#include "tests/tools/experiment/small_graph_model.h"

namespace geosft::test::test_graph_evaluation {
namespace {

const std::vector<int64_t> some = {5, 0, 3};

}  // namespace

TEST_CASE("outputs of many graphs are the mean over the votes, in the order that was asked for") {
  const PackedItems graphs = small_graphs();
  GraphRun run = small_graph_run(graphs.schema);
  run.settings.evaluation.votes = 2;
  int64_t done = 0;
  const GraphOutputs found = graph_outputs(run.model, graphs, some, GraphSplit::test, run.settings.evaluation,
                                           std::nullopt, [&](int64_t graph) { done = graph; });
  CHECK(done == 3);
  require_equal(found.targets, at::tensor({2, 0, 0}, at::kLong), "targets");
  at::Tensor expected = at::zeros({3, 3});
  for (uint64_t vote = 0; vote < 2; ++vote) {
    SamplingContext context = SamplingContext::seeded(vote);
    expected += run.model->forward(items_of(graphs, some), context).detach() / 2;
  }
  require_close(found.outputs, expected, 1e-5, "outputs");
  CHECK(found.spread.count == 2);
  // The spread of an ensemble is over all votes of all networks.
  run.more_models.push_back(small_graph_run(graphs.schema).model);
  std::vector<at::Tensor> predictions;
  for (GraphModel* model : {&run.model, &run.more_models[0]}) {
    for (uint64_t vote = 0; vote < 2; ++vote) {
      SamplingContext context = SamplingContext::seeded(vote);
      predictions.push_back((*model)->forward(items_of(graphs, some), context).detach().to(at::kDouble).softmax(1));
    }
  }
  const GraphOutputs both = run_outputs(run, graphs, some, GraphSplit::test);
  CHECK(both.spread.count == 4);
  require_close(both.spread.mean, at::stack(predictions).mean(0), 1e-6, "mean of the predictions");
  // Probabilities are rounded to float32, by up to 6e-8, and their deviations are about 0.02.
  require_close(both.spread.deviation(), at::stack(predictions).std(0), 4e-6, "deviation of the predictions");
  require_error([&] { graph_outputs(run.model, graphs, {}, GraphSplit::test, run.settings.evaluation); },
                {"test split"});
}

TEST_CASE("predictions for renumbered nodes are in the order of the dataset") {
  const PackedItems graphs = small_graphs(GENERATE(GraphTask::node_classification, GraphTask::node_multi_label));
  GraphRun run = small_graph_run(graphs.schema);
  run.settings.evaluation.evaluation = SampleMode::greedy;
  const auto outputs = [&](std::optional<uint64_t> seed) {
    return graph_outputs(run.model, graphs, some, GraphSplit::test, run.settings.evaluation, seed).outputs;
  };
  require_close(outputs(7), outputs(std::nullopt), 1e-4, "greedy", 1.0);
}

TEST_CASE("targets are standardised for the model and errors are in the dataset's units") {
  const PackedItems graphs = small_graphs(GraphTask::regression);
  GraphRun run = small_graph_run(graphs.schema);
  run.model->standardize(graphs, graphs.target);
  const at::Tensor standard = standardized_targets(run.model, GraphTask::regression, graphs.target);
  require_close(standard.mean(0), at::zeros({3}), 1e-5, "mean");
  require_close(in_units(run.model, GraphTask::regression, standard), graphs.target, 1e-5, "units");
  const GraphOutputs shifted{standard + 0.5, graphs.target};
  const NamedValues values = evaluation_metrics(run.model, GraphTask::regression, shifted);
  CHECK(value_of(values, "loss") == Approx(0.5));
  CHECK(value_of(values, "mae") == Approx(0.5 * run.model->target_deviation.mean().item<double>()));
  const GraphOutputs unknown{standard, at::full_like(graphs.target, std::numeric_limits<double>::quiet_NaN())};
  CHECK(std::isnan(evaluation_loss(run.model, GraphTask::regression, unknown)));
  const at::Tensor classes = at::tensor({1, 2}, at::kLong);
  require_equal(standardized_targets(run.model, GraphTask::classification, classes), classes, "classes");
}

namespace {

ItemSchema schema(GraphTask task) {
  ItemSchema found;
  found.task = task;
  found.output_names = {"a", "b", "c"};
  return found;
}

const at::Tensor outputs() {
  return at::tensor({0.0f, 2.0f, -1.0f});
}

}  // namespace

TEST_CASE("a class is predicted with the most probable ones") {
  const nlohmann::json json = prediction_json(schema(GraphTask::classification), outputs(), 2);
  CHECK(json.at("class") == "b");
  CHECK(json.at("probability").get<double>() == Approx(outputs().softmax(0)[1].item<double>()));
  REQUIRE(json.at("top").size() == 2);
  CHECK(json.at("top")[1][0] == "a");
  CHECK(prediction_text(schema(GraphTask::classification), outputs(), 5) == "  b 84.4 %  a 11.4 %  c 4.2 %");
}

TEST_CASE("labels get probabilities, targets values, nodes classes") {
  const nlohmann::json labels = prediction_json(schema(GraphTask::multi_label), outputs(), 2);
  CHECK(labels.at("probabilities").at("a") == 0.5);
  CHECK(prediction_text(schema(GraphTask::multi_label), outputs(), 2) == "  a 50.0 %  b 88.1 %  c 26.9 %");
  const nlohmann::json values = prediction_json(schema(GraphTask::regression), outputs(), 2);
  CHECK(values.at("values").at("c") == -1.0);
  CHECK(prediction_text(schema(GraphTask::regression), outputs(), 2) == "  a 0  b 2  c -1");
  const at::Tensor nodes = at::stack({outputs(), -outputs()});
  CHECK(prediction_json(schema(GraphTask::node_classification), nodes, 2).at("classes") == nlohmann::json({"b", "c"}));
  CHECK(prediction_text(schema(GraphTask::node_classification), nodes, 2) == "  b  c");
}

TEST_CASE("nodes with labels get the probability of each, and as text those of at least a half") {
  const at::Tensor nodes = at::stack({outputs(), -outputs() - 0.5, -outputs()});
  const nlohmann::json json = prediction_json(schema(GraphTask::node_multi_label), nodes, 2);
  CHECK(json.at("labels") == nlohmann::json({"a", "b", "c"}));
  REQUIRE(json.at("probabilities").size() == 3);
  CHECK(json.at("probabilities")[0][0] == 0.5);
  CHECK(json.at("probabilities")[2][1].get<double>() == Approx(1 / (1 + std::exp(2.0))));
  CHECK(prediction_text(schema(GraphTask::node_multi_label), nodes, 2) == "  a+b  c  a+c");
  CHECK(prediction_text(schema(GraphTask::node_multi_label), nodes - 3, 2) == "  -  -  -");
}

TEST_CASE("the deviation of few or far numbers is that of all of them") {
  OutputSpread spread;
  CHECK_FALSE(spread.deviation().defined());
  const at::Tensor numbers = at::randn({5, 3}, generator(1), at::kDouble) + 1e6;
  for (int64_t i = 0; i < 5; ++i) {
    spread.add(numbers[i]);
    CHECK(spread.deviation().defined() == (i > 0));
  }
  require_close(spread.deviation(), numbers.std(0), 1e-6, "deviation");
  OutputSpread joined;
  joined.join(spread);
  joined.join({});
  require_equal(joined.squares, spread.squares, "as they were");
}

TEST_CASE("tables have the deviations of predictions and the known targets") {
  using Row = std::vector<std::string>;
  const at::Tensor deviation = at::tensor({0.25, 0.5, 0.125}, at::kDouble);
  CHECK(deviation_columns(schema(GraphTask::classification), 2) == Row{"deviation", "deviation_2"});
  CHECK(deviation_fields(schema(GraphTask::classification), outputs(), deviation, 2) == Row{"0.5", "0.25"});
  CHECK(deviation_columns(schema(GraphTask::regression), 2) == Row{"deviation_a", "deviation_b", "deviation_c"});
  CHECK(deviation_fields(schema(GraphTask::regression), outputs(), deviation, 2) == Row{"0.25", "0.5", "0.125"});
  CHECK(target_columns(schema(GraphTask::classification)) == Row{"target"});
  CHECK(target_fields(schema(GraphTask::classification), at::scalar_tensor(2, at::kLong)) == Row{"c"});
  CHECK(target_columns(schema(GraphTask::multi_label)) == Row{"target_a", "target_b", "target_c"});
  CHECK(target_fields(schema(GraphTask::multi_label), at::tensor({1.0F, NAN, 3.54F})) == Row{"1", "", "3.54"});
  ItemSchema one = schema(GraphTask::regression);
  one.output_names = {"lipo"};
  CHECK(target_columns(one) == Row{"target"});
  CHECK(deviation_columns(one, 3) == Row{"deviation"});
  one.output_names = {"target"};  // as those of series are called
  CHECK((target_columns(one) == Row{"target_target"} && deviation_columns(one, 3) == Row{"deviation"}));
}

TEST_CASE("predictions are rows of a table, one for each graph or node") {
  using Row = std::vector<std::string>;
  using Rows = std::vector<Row>;
  const at::Tensor nodes = at::stack({outputs(), -outputs()});
  CHECK(prediction_columns(schema(GraphTask::classification), 2) ==
        Row{"class", "probability", "class_2", "probability_2"});
  CHECK(prediction_columns(schema(GraphTask::classification), 9).size() == 6);
  const Rows ranked = prediction_rows(schema(GraphTask::classification), outputs(), 2);
  REQUIRE((ranked.size() == 1 && ranked[0].size() == 4));
  CHECK((ranked[0][0] == "b" && ranked[0][2] == "a"));
  CHECK(std::stod(ranked[0][1]) == Approx(outputs().softmax(0)[1].item<double>()));
  CHECK(prediction_columns(schema(GraphTask::multi_label), 2) == Row{"a", "b", "c"});
  CHECK(prediction_rows(schema(GraphTask::multi_label), outputs(), 2)[0][0] == "0.5");
  CHECK(prediction_rows(schema(GraphTask::regression), outputs(), 2) == Rows{{"0.0", "2.0", "-1.0"}});
  CHECK(prediction_columns(schema(GraphTask::node_classification), 2) == Row{"node", "class"});
  CHECK(prediction_rows(schema(GraphTask::node_classification), nodes, 2) == Rows{{"0", "b"}, {"1", "c"}});
  const at::Tensor ids = at::tensor({int64_t{7}, int64_t{5}});
  CHECK(prediction_columns(schema(GraphTask::node_multi_label), 2) == Row{"node", "a", "b", "c"});
  const Rows labels = prediction_rows(schema(GraphTask::node_multi_label), nodes, 2, ids);
  REQUIRE(labels.size() == 2);
  CHECK((labels[0][0] == "7" && labels[1][0] == "5" && labels[0][1] == "0.5" && labels[1].size() == 4));
}

TEST_CASE("molecules unlike the training data are told: unseen elements and other tags of chiral atoms") {
  ItemSchema schema;
  schema.task = GraphTask::regression;
  schema.node_vocabulary = atom_vocabulary;
  schema.output_names = {"energy"};
  GraphSettings settings = small_graph_settings();
  const TemporaryFolder folder;
  FeaturedGraphs molecules;
  molecules.node_categories = at::zeros({3, 9}, at::kLong);
  molecules.node_categories.select(1, 0).copy_(at::tensor({0, 16, 118}, at::kLong));  // H, Cl and an unknown atom
  const auto said = [&](const GraphRun& run, const std::filesystem::path& source) {
    const CapturedStderr heard;
    warn_of_unlike_molecules(run, molecules, source.string());
    return heard.text();
  };
  settings.molecules.chiral_tags = ChiralTags::canonical;
  const GraphRun of_table = small_graph_run(schema, settings);
  CHECK(said(of_table, folder.path()).empty());
  molecules.node_categories[0][1] = 2;
  CHECK_THAT(said(of_table, folder.path()), Catch::Contains(folder.path().string() + ": its chiral tags are written"));
  CHECK(said(of_table, folder / "table.csv").empty());
  settings.molecules.chiral_tags = ChiralTags::written;
  CHECK(said(small_graph_run(schema, settings), folder.path()).empty());
  schema.coordinates = true;
  settings.model.atom_references = true;
  settings.model.head = GraphHead::sum;
  GraphRun energies = small_graph_run(schema, settings);
  energies.model->target_reference.fill_(1.0);
  CHECK(said(energies, folder.path()).empty());
  energies.model->target_reference[16].zero_();
  CHECK(said(energies, "a.xyz") ==
        "a.xyz: the training data have no atom of Cl: predictions for molecules with such atoms are unreliable\n");
}

}  // namespace geosft::test::test_graph_evaluation
