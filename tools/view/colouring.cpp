// SPDX-License-Identifier: Apache-2.0
#include "tools/view/colouring.h"

#include <sstream>

#include "tools/experiment/arguments.h"
#include "tools/view/surface.h"

namespace geosft::view {
namespace {

// Returns `wanted`, or `otherwise` if it is not set. Throws UsageError outside low … high.
int64_t within(std::optional<int64_t> wanted, int64_t otherwise, int64_t low, int64_t high, const std::string& option) {
  const int64_t number = wanted.value_or(otherwise);
  if (number < low || number > high) {
    throw UsageError(option + ": expected " + std::to_string(low) + " … " + std::to_string(high) + ", found " +
                     std::to_string(number));
  }
  return number;
}

at::Tensor painted(const Colour& colour, int64_t rows) {
  return at::tensor({colour[0], colour[1], colour[2]}, at::kDouble).expand({rows, 3}).contiguous();
}

// Returns the scores and pairs of the chosen sampler.
SamplerTrace chosen_sampler(const Subject& subject, const Choices& choices) {
  const int64_t layer = chosen_layer(subject, choices);
  if (layer == 0) return subject.trace->head;
  const AttentionTrace& trace = subject.trace->layers[static_cast<size_t>(layer - 1)];
  return {trace.score, trace.pairs};
}

const AttentionTrace& chosen_attention(const Subject& subject, const Choices& choices) {
  return subject.trace->layers[static_cast<size_t>(chosen_layer(subject, choices) - 1)];
}

int64_t chosen_head(const Subject& subject, const Choices& choices) {
  return within(choices.head, 0, 0, subject.heads(), "--head");
}

at::Tensor importance_of(const Subject& subject, const Choices& choices) {
  return subject.trace->in_input_order(chosen_sampler(subject, choices).score);
}

int64_t most_important(const Subject& subject) {
  Choices of_scores;
  of_scores.colouring = Colouring::importance;
  if (layers_of(subject, of_scores.colouring).empty()) return 0;
  return importance_of(subject, of_scores).argmax().item<int64_t>();
}

at::Tensor attention_of(const Subject& subject, const Choices& choices) {
  const int64_t query = chosen_query(subject, choices), head = chosen_head(subject, choices);
  const ForwardTrace& trace = *subject.trace;
  const int64_t row = trace.order.defined() ? (trace.order == query).nonzero().item<int64_t>() : query;
  const at::Tensor shares = attention_on_tokens(chosen_attention(subject, choices), row);
  return trace.in_input_order(head == 0 ? shares.mean(1) : shares.select(1, head - 1));
}

std::string layer_text(int64_t layer) {
  return layer == 0 ? "the head's sampler" : "layer " + std::to_string(layer);
}

// Returns the title of the legend.
std::string meaning(const Subject& subject, const Choices& choices) {
  switch (choices.colouring) {
    case Colouring::height:
      return "height";
    case Colouring::normals:
      return "direction of the normals";
    case Colouring::parts:
      return "predicted parts";
    case Colouring::elements:
      return "elements";
    case Colouring::importance:
      return "importance, " + layer_text(chosen_layer(subject, choices));
    case Colouring::samples:
      return "sample of " + layer_text(chosen_layer(subject, choices)) + ", sized by weight";
    case Colouring::attention: {
      const int64_t head = chosen_head(subject, choices);
      return "attention of " + std::string(subject.is_graph() ? "node " : "point ") +
             std::to_string(chosen_query(subject, choices)) + ", " + layer_text(chosen_layer(subject, choices)) + ", " +
             (head == 0 ? "mean of the heads" : "head " + std::to_string(head));
    }
    case Colouring::diversity:
      return "distance between heads, " + layer_text(chosen_layer(subject, choices));
    case Colouring::walks:
      break;
  }
  return "return after " + std::to_string(within(choices.component, 2, 1, subject.encoding.size(1), "--component")) +
         " steps";
}

// Creates balls at the given rows, sized by weights [m].
Balls balls_at(const Subject& subject, const at::Tensor& rows, const at::Tensor& weight, double radius,
               const Colour& colour) {
  return {subject.points.index_select(0, rows), radius * (0.6 + 0.9 * weight.to(at::kDouble).sqrt()),
          painted(colour, rows.size(0))};
}

Balls both_of(const Balls& a, const Balls& b) {
  return {at::cat({a.centres, b.centres}), at::cat({a.radii, b.radii}), at::cat({a.colours, b.colours})};
}

void paint_samples(const Subject& subject, const Choices& choices, Scene& scene) {
  const Pairs pairs = chosen_sampler(subject, choices).pairs;
  scene.colours = painted(other_colour, scene.points.size(0));
  scene.markers = both_of(
      balls_at(subject, subject.trace->input_rows(pairs.partner), 1 - pairs.weight, scene.radius, partner_colour),
      balls_at(subject, subject.trace->input_rows(pairs.top), pairs.weight, scene.radius, top_colour));
  scene.radius *= 0.6;
  scene.legend.names = {
      {"chosen by score", top_colour}, {"random partner", partner_colour}, {"not in the sample", other_colour}};
}

void paint_normals(const Subject& subject, Scene& scene) {
  scene.colours = 0.5 + 0.5 * subject.normals;
  scene.legend.names = {{"to +x", {1.0, 0.5, 0.5}}, {"to +y", {0.5, 1.0, 0.5}}, {"to +z", {0.5, 0.5, 1.0}}};
}

void paint_labels(const PointLabels& classes, const std::string& name, Scene& scene) {
  scene.colours = classes.colours;
  scene.values = classes.labels;
  scene.value_name = name;
  scene.legend.names = classes.names;
}

void paint_values(const Subject& subject, const Choices& choices, const ValueScale& scale, Scene& scene) {
  scene.values = values_of(subject, choices).to(at::kDouble);
  scene.colours = colours_of(choices.map, scene.values, scale);
  scene.legend.bar = {choices.map, scale};
  if (choices.colouring != Colouring::attention) return;
  const at::Tensor query = at::tensor({chosen_query(subject, choices)}, at::kLong);
  scene.markers = {subject.points.index_select(0, query), at::full({1}, 1.8 * scene.radius, at::kDouble),
                   painted(query_colour, 1)};
  scene.legend.names = {{"the query", query_colour}};
}

ValueScale common_scale(const Subject& subject, const Choices& choices) {
  at::Tensor values = values_of(subject, choices);
  if (subject.beside) values = at::cat({values, values_of(*subject.beside, choices)});
  return scale_of(values);
}

void check_surface(const Subject& subject) {
  if (!subject.surface) throw UsageError("--surface: " + subject.name + " has no faces");
  if (subject.beside) throw UsageError("--surface is for one shape, not for --beside");
}

void paint_surface(const Subject& subject, Scene& scene) {
  const Surface fine = fine_surface(*subject.surface, subject.points);
  scene.surface = ColouredMesh{fine.corners, fine.normals, scene.colours.index_select(0, fine.nearest),
                               at::arange(fine.corners.size(0), at::kLong).view({-1, 3})};
}

std::vector<std::string> texts_of(const Subject& subject) {
  std::vector<std::string> lines = {subject.name};
  if (!subject.truth.empty()) lines.push_back("is: " + subject.truth);
  if (!subject.prediction.empty()) lines.push_back("predicted: " + subject.prediction);
  if (!subject.beside) return lines;
  if (subject.prediction.empty()) {
    lines.push_back("right: the same, rotated");
    return lines;
  }
  std::ostringstream text;
  text << "largest difference of their logits: " << subject.logit_difference;
  lines.push_back("rotated copy: " + subject.beside->prediction);
  lines.push_back(text.str());
  return lines;
}

}  // namespace

int64_t chosen_query(const Subject& subject, const Choices& choices) {
  return within(choices.query, most_important(subject), 0, subject.points.size(0) - 1, "--query");
}

at::Tensor values_of(const Subject& subject, const Choices& choices) {
  switch (choices.colouring) {
    case Colouring::importance:
      return importance_of(subject, choices);
    case Colouring::attention:
      return attention_of(subject, choices);
    case Colouring::diversity:
      return subject.trace->in_input_order(head_diversity(chosen_attention(subject, choices)));
    case Colouring::walks:
      return subject.encoding.select(1, within(choices.component, 2, 1, subject.encoding.size(1), "--component") - 1);
    default:
      return subject.points.select(1, 1);
  }
}

bool has_values(Colouring colouring) {
  using enum Colouring;
  return colouring != normals && colouring != parts && colouring != elements && colouring != samples;
}

Scene scene_of(const Subject& subject, const Choices& choices) {
  check_has(subject, choices.colouring);
  if (choices.surface) check_surface(subject);
  const Colouring colouring = choices.colouring;
  const bool valued = has_values(colouring);
  const ValueScale scale = valued ? common_scale(subject, choices) : ValueScale{};
  const auto paint = [&](const Subject& one) {
    Scene scene;
    scene.points = one.points;
    scene.edges = one.edges;
    scene.edge_lines = one.edge_lines;
    scene.radius = fitting_radius(one.points);
    scene.legend.title = meaning(one, choices);
    if (valued) paint_values(one, choices, scale, scene);
    if (colouring == Colouring::normals) paint_normals(one, scene);
    if (colouring == Colouring::parts) paint_labels(*one.parts, "part", scene);
    if (colouring == Colouring::elements) paint_labels(*one.elements, "element", scene);
    if (colouring == Colouring::samples) paint_samples(one, choices, scene);
    if (choices.surface) paint_surface(one, scene);
    return scene;
  };
  Scene scene = paint(subject);
  scene.background = choices.background.value_or(Colour{1, 1, 1});
  if (subject.beside) scene = side_by_side(scene, paint(*subject.beside));
  scene.lines = texts_of(subject);
  for (const std::string& line : scene.lines) scene.title += (scene.title.empty() ? "" : " - ") + line;
  return scene;
}

}  // namespace geosft::view
