// SPDX-License-Identifier: Apache-2.0
#include "tools/scene/colouring.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "tests/tools/scene/looked_at.h"
#include "tools/experiment/arguments.h"

namespace geosft::test::test_colouring {
using namespace view;
namespace {

void require_refused(const Subject& subject, const Choices& choices, const std::string& words) {
  CHECK_THROWS_WITH(scene_of(subject, choices), Catch::Contains(words));
  CHECK_THROWS_AS(scene_of(subject, choices), UsageError);
}

}  // namespace

TEST_CASE("every colouring gives every point a colour, and a legend") {
  const Subject subject = random_gallery(true)->get(0, false);
  for (const Colouring colouring : colourings_of(subject)) {
    INFO(colouring_name(colouring));
    const Scene scene = scene_of(subject, choose(colouring));
    CHECK(scene.colours.sizes() == at::IntArrayRef({40, 3}));
    CHECK(scene.colours.min().item<double>() >= 0);
    CHECK(scene.colours.max().item<double>() <= 1);
    CHECK_FALSE(scene.legend.title.empty());
    CHECK((scene.legend.bar.has_value() || !scene.legend.names.empty()));
    CHECK(colouring_of(colouring_name(colouring)) == colouring);
  }
  CHECK(colourings_of(subject).size() == 6);
  CHECK(colourings_of(random_gallery(false)->get(0, false)).size() == 2);
}

TEST_CASE("importance is the score of the chosen sampler, in the order of the points") {
  const Subject subject = random_gallery(true)->get(0, false);
  Choices choices = choose(Colouring::importance);
  require_equal(values_of(subject, choices), subject.trace->in_input_order(subject.trace->head.score), "head");
  choices.layer = 2;
  require_equal(values_of(subject, choices), subject.trace->in_input_order(subject.trace->layers[1].score), "layer 2");
  CHECK_THAT(scene_of(subject, choices).legend.title, Catch::Contains("layer 2"));
  choices.layer = 1;
  CHECK_FALSE(at::equal(values_of(subject, choices), subject.trace->in_input_order(subject.trace->layers[1].score)));
}

TEST_CASE("hydrogens may be hidden, with their bonds, and nodes have symbols or numbers") {
  Subject water;
  water.name = "water and carbon";
  water.points = at::arange(12, at::kDouble).view({4, 3});
  water.edges = at::tensor({0, 1, 1, 2, 1, 3}, at::kLong).view({3, 2});
  water.edge_lines = at::tensor({1, 1, 2}, at::kLong);
  Choices choices = choose(Colouring::height);
  choices.labels = true;
  CHECK(scene_of(water, choices).labels == std::vector<std::string>{"0", "1", "2", "3"});
  choices.hydrogens = false;
  require_refused(water, choices, "--hydrogens is for molecules");
  water.elements = PointLabels{at::tensor({0, 7, 0, 5}, at::kLong), at::zeros({4, 3}, at::kDouble), {}};
  const Scene scene = scene_of(water, choices);
  CHECK(scene.labels == std::vector<std::string>{"O", "C"});
  require_equal(scene.rows, at::tensor({1, 3}, at::kLong), "rows");
  require_equal(scene.points, water.points.index_select(0, scene.rows), "points");
  require_equal(scene.edges, at::tensor({0, 1}, at::kLong).view({1, 2}), "edges");
  require_equal(scene.edge_lines, at::tensor({2}, at::kLong), "lines");
  CHECK(scene.values.size(0) == 2);
  choices.hydrogens = true;
  CHECK(scene_of(water, choices).labels == std::vector<std::string>{"H", "O", "H", "C"});
}

TEST_CASE("edges of a graph are as wide as the attention between their ends") {
  Subject subject = random_gallery(true)->get(0, false);
  Choices choices = choose(Colouring::attention);
  choices.layer = 1;
  // From each point to another one that it attends to.
  std::vector<int64_t> ends;
  for (int64_t query = 0; query < 39; ++query) {
    choices.query = query;
    const at::Tensor others = values_of(subject, choices).clone();
    others[query] = -1;
    ends.push_back(others.argmax().item<int64_t>());
  }
  subject.edges = at::stack({at::arange(39, at::kLong), at::tensor(ends, at::kLong)}, 1);
  const Scene scene = scene_of(subject, choices);
  std::vector<double> between;
  for (int64_t edge = 0; edge < 39; ++edge) {
    const auto from = subject.edges[edge][0].item<int64_t>(), to = subject.edges[edge][1].item<int64_t>();
    double both = 0;
    for (const auto& [query, key] : {std::pair{from, to}, {to, from}}) {
      choices.query = query;
      both += values_of(subject, choices)[key].item<double>();
    }
    between.push_back(both);
  }
  const at::Tensor expected = at::tensor(between, at::kDouble);
  REQUIRE(expected.max().item<double>() > 0);
  require_close(scene.edge_widths, 0.4 + 2.2 * expected / expected.max(), 1e-5, "widths");
  CHECK_FALSE(scene_of(subject, choose(Colouring::importance)).edge_widths.defined());
}

TEST_CASE("samples are marked at their points, larger where they weigh more") {
  const Subject subject = random_gallery(true)->get(0, false);
  Choices choices = choose(Colouring::samples);
  choices.layer = 1;
  const Scene scene = scene_of(subject, choices);
  const Pairs& pairs = subject.trace->layers[0].pairs;
  const int64_t samples = pairs.top.size(0);
  REQUIRE(scene.markers.centres.size(0) == 2 * samples);
  require_equal(scene.markers.centres.narrow(0, samples, samples),
                subject.points.index_select(0, subject.trace->input_rows(pairs.top)), "tops");
  const at::Tensor heavier = pairs.weight.argsort();
  CHECK((scene.markers.radii.narrow(0, samples, samples).index_select(0, heavier).diff() >= 0).all().item<bool>());
}

TEST_CASE("attention is that of the query, heads average to their mean") {
  const Subject subject = random_gallery(true)->get(0, false);
  Choices choices = choose(Colouring::attention);
  // Points that attend to something: without a positive score all rows are zero.
  std::vector<int64_t> attending;
  for (int64_t point = 0; point < 40; ++point) {
    choices.query = point;
    if (values_of(subject, choices).any().item<bool>()) attending.push_back(point);
  }
  REQUIRE(attending.size() >= 2);
  choices.query = attending[0];
  const at::Tensor mean = values_of(subject, choices);
  at::Tensor sum = at::zeros_like(mean);
  for (int64_t head = 1; head <= 4; ++head) {
    choices.head = head;
    sum = sum + values_of(subject, choices);
  }
  require_close(sum / 4, mean, 1e-5, "mean of heads");
  const int64_t row = (subject.trace->order == attending[0]).nonzero().item<int64_t>();
  const at::Tensor expected = attention_on_tokens(subject.trace->layers[1], row).mean(1);
  require_close(mean, subject.trace->in_input_order(expected), 1e-6, "of the query");
  choices.query = attending[1];
  choices.head.reset();
  CHECK_FALSE(at::allclose(values_of(subject, choices), mean));
  require_equal(scene_of(subject, choices).markers.centres[0], subject.points[attending[1]], "marker");
  // Without a query it is the most important point.
  choices.query.reset();
  const auto best = values_of(subject, choose(Colouring::importance)).argmax().item<int64_t>();
  require_equal(scene_of(subject, choices).markers.centres[0], subject.points[best], "the most important");
}

TEST_CASE("attention over all points is that of the query, too") {
  for (const char* attention : {"softmax", "linear", "bn_sh", "sparse", "polynomial"}) {
    INFO(attention);
    ClassifySettings settings = small_settings();
    settings.model.attention = attention;
    const Subject subject = gallery_of(settings)->get(0, false);
    Choices choices = choose(Colouring::attention);
    choices.query = 7;
    const at::Tensor mean = values_of(subject, choices);
    CHECK(mean.sum().item<double>() == Approx(1.0).margin(1e-4));
    const int64_t row = (subject.trace->order == 7).nonzero().item<int64_t>();
    const at::Tensor expected = attention_rows(subject.trace->layers[1], row, 1)[0].mean(1);
    require_close(mean, subject.trace->in_input_order(expected), 1e-6, "of the query");
    choices.layer = 1;
    CHECK_FALSE(at::allclose(values_of(subject, choices), mean));
    CHECK(values_of(subject, choose(Colouring::diversity)).min().item<double>() > 0);
  }
}

TEST_CASE("a rotated copy is coloured on the same scale, with the difference in the picture") {
  const Subject subject = random_gallery(true)->get(0, true);
  const Scene scene = scene_of(subject, choose(Colouring::height));
  CHECK(scene.points.size(0) == 80);
  CHECK(scene.legend.bar->second.high == Approx(std::max(subject.points.select(1, 1).max().item<double>(),
                                                         subject.beside->points.select(1, 1).max().item<double>())));
  CHECK_THAT(scene.lines.back(), Catch::Contains("difference of their logits"));
  CHECK_THAT(scene.title, Catch::Contains(subject.prediction));
}

TEST_CASE("points are discs where that is chosen, a copy beside them, too") {
  const Subject subject = random_gallery(false)->get(0, true);
  Choices choices = choose(Colouring::height);
  CHECK_FALSE(scene_of(subject, choices).normals.defined());
  choices.discs = true;
  const Scene scene = scene_of(subject, choices);
  require_equal(scene.normals, at::cat({subject.normals, subject.beside->normals}), "normals");
}

TEST_CASE("what is not there is refused, with what there is") {
  const Subject subject = random_gallery(true)->get(0, false);
  const auto with = [](Colouring colouring, auto&& change) {
    Choices choices = choose(colouring);
    change(choices);
    return choices;
  };
  require_refused(subject, with(Colouring::importance, [](Choices& c) { c.layer = 3; }), "0 … 2, found 3");
  require_refused(subject, with(Colouring::attention, [](Choices& c) { c.layer = 0; }), "1 … 2, found 0");
  require_refused(subject, with(Colouring::attention, [](Choices& c) { c.head = 5; }), "0 … 4, found 5");
  require_refused(subject, with(Colouring::attention, [](Choices& c) { c.query = 40; }), "0 … 39, found 40");
  require_refused(subject, with(Colouring::attention, [](Choices& c) { c.query = -1; }), "found -1");
  require_refused(subject, choose(Colouring::walks), "--graph");
  Subject bare = random_gallery(false)->get(0, false);
  for (const Colouring colouring :
       {Colouring::importance, Colouring::samples, Colouring::attention, Colouring::diversity}) {
    require_refused(bare, choose(colouring), "--run");
  }
  require_refused(subject, choose(Colouring::parts), "geosft-segment");
  bare.normals = at::Tensor();
  require_refused(bare, choose(Colouring::normals), "has none");
  require_refused(bare, with(Colouring::height, [](Choices& c) { c.discs = true; }), "--discs");
  CHECK_THROWS_WITH(colouring_of("jet"), Catch::Contains("importance") && Catch::Contains("'jet'"));
}

TEST_CASE("parts have their own colours and names, and are what files hold") {
  Subject subject = random_gallery(false)->get(0, false);
  const int64_t n = subject.points.size(0);
  const at::Tensor labels = at::arange(n, at::kLong) % 2 + 5;
  const at::Tensor colours = at::rand({n, 3}, generator(4), at::kDouble);
  subject.parts = PointLabels{labels, colours, {{"5 seat, 50.0 %", {1, 0, 0}}, {"6 leg, 50.0 %", {0, 0, 1}}}};
  const std::vector<Colouring> has = colourings_of(subject);
  CHECK(std::find(has.begin(), has.end(), Colouring::parts) != has.end());
  const Scene scene = scene_of(subject, choose(Colouring::parts));
  require_equal(scene.colours, colours, "colours");
  require_equal(scene.values, labels, "values");
  CHECK(scene.value_name == "part");
  CHECK(scene.legend.names.size() == 2);
  CHECK_FALSE(scene.legend.bar);
  subject.untraced = "seen in blocks";
  require_refused(subject, choose(Colouring::importance), "--colour importance: seen in blocks");
}

TEST_CASE("walks are the return probabilities of a component, which are counted from 1") {
  Subject graph;
  graph.name = "g";
  graph.points = at::rand({4, 3}, at::kDouble);
  graph.edges = at::tensor({0, 1}, at::kLong).view({1, 2});
  graph.encoding = at::rand({4, 6}, generator(3), at::kDouble);
  Choices choices = choose(Colouring::walks);
  require_equal(values_of(graph, choices), graph.encoding.select(1, 1), "second by default");
  choices.component = 6;
  require_equal(values_of(graph, choices), graph.encoding.select(1, 5), "last");
  choices.component = 7;
  require_refused(graph, choices, "1 … 6, found 7");
}

}  // namespace geosft::test::test_colouring
