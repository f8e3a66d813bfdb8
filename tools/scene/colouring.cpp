// SPDX-License-Identifier: Apache-2.0
#include "tools/scene/colouring.h"

#include <sstream>

#include "data/formats/elements.h"
#include "tools/experiment/arguments.h"
#include "tools/scene/surface.h"

namespace geosft::view {
namespace {

constexpr int64_t max_nodes_with_widths = 1000;  // of graphs whose edges have widths by attention

// Returns `value`, or `otherwise` if it is not set. Throws UsageError outside low … high.
int64_t within(std::optional<int64_t> value, int64_t otherwise, int64_t low, int64_t high, const std::string& option) {
  const int64_t number = value.value_or(otherwise);
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
    case Colouring::true_parts:
      return "true parts";
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
  if (choices.scale) return *choices.scale;
  at::Tensor values = values_of(subject, choices);
  if (subject.beside) values = at::cat({values, values_of(*subject.beside, choices)});
  return scale_of(values);
}

// Returns the relative widths of the edges of a graph, by the attention between their ends in either direction.
at::Tensor edge_widths_of(const Subject& subject, const Choices& choices) {
  const AttentionTrace& layer = chosen_attention(subject, choices);
  const int64_t head = chosen_head(subject, choices);
  std::vector<at::Tensor> rows;
  for (int64_t row = 0; row < layer.tokens; ++row) {
    const at::Tensor shares = attention_on_tokens(layer, row);
    rows.push_back(subject.trace->in_input_order(head == 0 ? shares.mean(1) : shares.select(1, head - 1)));
  }
  const at::Tensor all = subject.trace->in_input_order(at::stack(rows)).to(at::kDouble);
  const at::Tensor from = subject.edges.select(1, 0), to = subject.edges.select(1, 1);
  const at::Tensor between = all.index({from, to}) + all.index({to, from});
  return between.size(0) == 0 ? between : 0.4 + 2.2 * between / between.max().clamp_min(1e-30);
}

// Returns the names of the nodes of a graph: symbols of the elements, or numbers.
std::vector<std::string> labels_of(const Subject& subject) {
  std::vector<std::string> labels;
  for (int64_t node = 0; node < subject.points.size(0); ++node) {
    const int64_t number = subject.elements ? subject.elements->labels[node].item<int64_t>() + 1 : 0;
    labels.push_back(!subject.elements        ? std::to_string(node)
                     : number > element_count ? "?"
                                              : std::string(element_symbol(static_cast<int>(number))));
  }
  return labels;
}

// Removes the hydrogens, their bonds and their markers.
void hide_hydrogens(const Subject& subject, Scene& scene) {
  if (!subject.elements) throw UsageError("--hydrogens is for molecules: " + subject.name + " has no atoms");
  const at::Tensor kept = subject.elements->labels != 0;  // labels are atomic numbers less 1
  scene.rows = kept.nonzero().squeeze(1);
  if (scene.rows.size(0) == 0) throw UsageError("--hydrogens false: " + subject.name + " has nothing else");
  const at::Tensor hidden = scene.points.index_select(0, kept.logical_not().nonzero().squeeze(1));
  const at::Tensor place = kept.to(at::kLong).cumsum(0) - 1;
  const at::Tensor edges = kept.index_select(0, scene.edges.flatten()).view({-1, 2}).all(1).nonzero().squeeze(1);
  scene.edges = place.index_select(0, scene.edges.index_select(0, edges).flatten()).view({-1, 2});
  for (at::Tensor* of_edges : {&scene.edge_lines, &scene.edge_widths}) {
    if (of_edges->defined()) *of_edges = of_edges->index_select(0, edges);
  }
  for (at::Tensor* of_points : {&scene.points, &scene.colours, &scene.values}) {
    if (of_points->defined()) *of_points = of_points->index_select(0, scene.rows);
  }
  if (!scene.markers.centres.defined() || hidden.size(0) == 0) return;
  const at::Tensor apart = std::get<0>(at::cdist(scene.markers.centres, hidden).min(1)) > 0;
  const at::Tensor markers = apart.nonzero().squeeze(1);
  for (at::Tensor* one : {&scene.markers.centres, &scene.markers.radii, &scene.markers.colours}) {
    *one = one->index_select(0, markers);
  }
}

void check_surface(const Subject& subject) {
  if (!subject.surface) throw UsageError("--surface: " + subject.name + " has no faces");
  if (subject.beside) throw UsageError("--surface is for one shape, not for --beside");
}

void check_discs(const Subject& subject) {
  if (!subject.normals.defined()) throw UsageError("--discs: " + subject.name + " has no normals");
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

bool has_labels(Colouring colouring) {
  return colouring == Colouring::parts || colouring == Colouring::true_parts || colouring == Colouring::elements;
}

bool has_values(Colouring colouring) {
  using enum Colouring;
  return colouring != normals && colouring != samples && !has_labels(colouring);
}

Scene scene_of(const Subject& subject, const Choices& choices) {
  check_has(subject, choices.colouring);
  if (choices.surface) check_surface(subject);
  if (choices.discs) check_discs(subject);
  const Colouring colouring = choices.colouring;
  const bool valued = has_values(colouring);
  const ValueScale scale = valued ? common_scale(subject, choices) : ValueScale{};
  const auto paint = [&](const Subject& one) {
    Scene scene;
    scene.points = one.points;
    scene.edges = one.edges;
    scene.edge_lines = one.edge_lines;
    scene.radius = fitting_radius(one.points);
    if (choices.discs) scene.normals = one.normals;
    scene.legend.title = meaning(one, choices);
    if (valued) paint_values(one, choices, scale, scene);
    if (colouring == Colouring::normals) paint_normals(one, scene);
    if (colouring == Colouring::parts) paint_labels(*one.parts, "part", scene);
    if (colouring == Colouring::true_parts) paint_labels(*one.true_parts, "part", scene);
    if (colouring == Colouring::elements) paint_labels(*one.elements, "element", scene);
    if (colouring == Colouring::samples) paint_samples(one, choices, scene);
    if (choices.surface) paint_surface(one, scene);
    if (one.is_graph() && colouring == Colouring::attention && one.points.size(0) <= max_nodes_with_widths)
      scene.edge_widths = edge_widths_of(one, choices);
    if (!choices.hydrogens) hide_hydrogens(one, scene);
    if (choices.labels && one.is_graph()) {
      const std::vector<std::string> labels = labels_of(one);
      for (int64_t row = 0; row < scene.points.size(0); ++row) {
        scene.labels.push_back(
            labels[static_cast<size_t>(scene.rows.defined() ? scene.rows[row].item<int64_t>() : row)]);
      }
    }
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
