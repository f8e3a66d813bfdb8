// SPDX-License-Identifier: Apache-2.0
#include "tools/graph/graph_prediction.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <nlohmann/json.hpp>

#include "tests/support.h"

namespace geosft::test::test_graph_prediction {
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

}  // namespace geosft::test::test_graph_prediction
