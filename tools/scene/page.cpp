// SPDX-License-Identifier: Apache-2.0
#include "tools/scene/page.h"

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>

#include "data/atomic_file.h"
#include "data/points/shape.h"
#include "tools/experiment/arguments.h"
#include "tools/scene/colouring.h"
#include "tools/scene/page_template.h"
#include "tools/scene/scene.h"
#include "tools/scene/surface.h"

namespace geosft::view {
namespace {

using Json = nlohmann::json;

constexpr int64_t query_chunk_elements = 1 << 22;  // elements of the largest tensor of a chunk of queries

// Collects arrays in one block of bytes, each at a multiple of four.
class ArrayBlock {
 public:
  // Appends a tensor and returns its entry in the scene: {type, offset, length}.
  Json add(const at::Tensor& values) {
    const at::Tensor stored = values.contiguous();
    bytes_.resize((bytes_.size() + 3) / 4 * 4);
    const Json entry = {{"type", type_of(stored)}, {"offset", bytes_.size()}, {"length", stored.numel()}};
    bytes_.append(static_cast<const char*>(stored.const_data_ptr()), static_cast<size_t>(stored.nbytes()));
    return entry;
  }
  // Rows as uint32.
  Json add_rows(const at::Tensor& rows) { return add(rows.to(at::kInt)); }
  Json add_values(const at::Tensor& values) { return add(values.to(at::kFloat)); }
  const std::string& bytes() const { return bytes_; }

 private:
  static const char* type_of(const at::Tensor& values) {
    switch (values.scalar_type()) {
      case at::kFloat:
        return "f32";
      case at::kInt:
        return "u32";
      case at::kByte:
        return "u8";
      default:
        TORCH_INTERNAL_ASSERT(values.scalar_type() == at::kChar);
        return "i8";
    }
  }
  std::string bytes_;
};

int64_t keys_of(const AttentionTrace& layer) {
  return layer.samples() ? layer.pairs.top.size(0) : layer.tokens;
}

// Returns the bytes that the attention of all layers takes in a page.
int64_t attention_bytes(const Subject& subject) {
  if (!subject.trace) return 0;
  int64_t bytes = 0;
  for (const AttentionTrace& layer : subject.trace->layers) bytes += layer.tokens * layer.heads * (keys_of(layer) + 4);
  return (subject.beside ? attention_bytes(*subject.beside) : 0) + bytes / 3 * 4;
}

[[noreturn]] void refuse_size(int64_t bytes, int64_t max_bytes, const std::string& what) {
  throw UsageError("--html: " + what + " would take " + std::to_string(bytes / 1'000'000) + " MB, more than " +
                   std::to_string(max_bytes / 1'000'000) +
                   " MB; show fewer points (--points), or a picture (--screenshot)");
}

void add_pairs(const ForwardTrace& trace, const Pairs& pairs, ArrayBlock& block, Json& entry) {
  entry["top"] = block.add_rows(trace.input_rows(pairs.top));
  entry["partner"] = block.add_rows(trace.input_rows(pairs.partner));
  entry["weight"] = block.add_values(pairs.weight.detach());
}

// Attention of all queries to the keys: rows uint8 [N, h, keys], multiples of scale [N, h] / 255.
Json attention_of(const ForwardTrace& trace, size_t number, ArrayBlock& block) {
  const AttentionTrace& layer = trace.layers[number];
  const int64_t keys = keys_of(layer),
                chunk = std::max<int64_t>(1, query_chunk_elements / std::max<int64_t>(1, layer.row_size));
  std::vector<at::Tensor> rows, scales;
  for (int64_t first = 0; first < layer.tokens; first += chunk) {
    const at::Tensor p =
        attention_rows(layer, first, std::min(chunk, layer.tokens - first)).transpose(1, 2).to(at::kFloat);
    scales.push_back(p.amax(2));
    rows.push_back((p * (255 / scales.back().clamp_min(1e-30)).unsqueeze(2)).round().clamp(0, 255).to(at::kByte));
  }
  at::Tensor all = trace.in_input_order(at::cat(rows));
  if (!layer.samples() && trace.order.defined()) all = at::empty_like(all).index_copy(2, trace.order, all);
  Json entry = {{"layer", number + 1}, {"heads", layer.heads}, {"keys", keys}};
  entry["rows"] = block.add(all);
  entry["scale"] = block.add_values(trace.in_input_order(at::cat(scales)));
  if (layer.samples()) add_pairs(trace, layer.pairs, block, entry);
  return entry;
}

Json sample_of(const ForwardTrace& trace, const Pairs& pairs, int64_t layer, ArrayBlock& block) {
  Json entry = {{"layer", layer}};
  add_pairs(trace, pairs, block, entry);
  return entry;
}

// The values of every colouring that has one per point, for all its layers or components.
Json fields_of(const Subject& subject, ArrayBlock& block) {
  Json fields = Json::array();
  const auto add = [&](Colouring colouring, int64_t number, const Choices& choices) {
    const at::Tensor values = values_of(subject, choices);
    fields.push_back({{"colour", colouring_name(colouring)}, {"number", number}, {"values", block.add_values(values)}});
  };
  for (const Colouring colouring : colourings_of(subject)) {
    Choices choices;
    choices.colouring = colouring;
    if (colouring == Colouring::height) add(colouring, 0, choices);
    if (colouring == Colouring::importance || colouring == Colouring::diversity) {
      for (const int64_t layer : layers_of(subject, colouring)) choices.layer = layer, add(colouring, layer, choices);
    }
    if (colouring == Colouring::walks) {
      for (int64_t component = 1; component <= subject.encoding.size(1); ++component) {
        choices.component = component, add(colouring, component, choices);
      }
    }
  }
  return fields;
}

// The affine map of the page: place = (coordinates - middle) / size + shift.
struct Placement {
  at::Tensor middle, shift;  // double [3]
  double size;

  at::Tensor operator()(const at::Tensor& coordinates) const {
    return ((coordinates.to(at::kDouble) - middle) / size + shift).to(at::kFloat);
  }
};

// Vectors of unit length as multiples of 1/127.
Json add_normals(const at::Tensor& normals, ArrayBlock& block) {
  return block.add((normals * 127).round().clamp(-127, 127).to(at::kChar));
}

Json surface_of(const Subject& subject, const Placement& place, ArrayBlock& block) {
  const Surface fine = fine_surface(*subject.surface, subject.points);
  return {{"corners", block.add(place(fine.corners))},
          {"normals", add_normals(fine.normals, block)},
          {"nearest", block.add_rows(fine.nearest)}};
}

// The labels of a subject, as rows of the page's list of their kind.
struct ClassRows {
  const char* kind;
  const PointLabels* found;
  at::Tensor rows;  // int64 [n]
};

// Returns those of each kind that the subject has. The first row of parts is of points without a label; an element is
// its own row.
std::vector<ClassRows> class_rows(const Subject& subject) {
  std::vector<ClassRows> all;
  const auto add = [&](const char* kind, const std::optional<PointLabels>& found, int64_t first_label) {
    if (found) all.push_back({kind, &*found, found->labels.to(at::kLong) - first_label});
  };
  add("parts", subject.parts, unlabelled_part);
  add("true_parts", subject.true_parts, unlabelled_part);
  add("elements", subject.elements, 0);
  return all;
}

Json body_of(const Subject& subject, const Placement& place, ArrayBlock& block, bool with_attention = true) {
  const at::Tensor middle = (place.middle - place.size * place.shift).contiguous();
  const double* origin = middle.const_data_ptr<double>();
  Json body = {{"points", block.add(place(subject.points))}, {"middle", {origin[0], origin[1], origin[2]}}};
  if (subject.normals.defined()) body["normals"] = add_normals(subject.normals, block);
  if (subject.is_graph()) body["edges"] = block.add_rows(subject.edges);
  if (subject.edge_lines.defined()) body["lines"] = block.add_rows(subject.edge_lines);
  for (const ClassRows& labels : class_rows(subject)) body["labels"][labels.kind] = block.add_rows(labels.rows);
  if (subject.surface) body["surface"] = surface_of(subject, place, block);
  body["fields"] = fields_of(subject, block);
  body["samples"] = body["attention"] = Json::array();
  for (const int64_t layer : layers_of(subject, Colouring::samples)) {
    const Pairs& pairs =
        layer == 0 ? subject.trace->head.pairs : subject.trace->layers[static_cast<size_t>(layer - 1)].pairs;
    body["samples"].push_back(sample_of(*subject.trace, pairs, layer, block));
  }
  const std::vector<int64_t> attending =
      with_attention ? layers_of(subject, Colouring::attention) : std::vector<int64_t>();
  for (const int64_t layer : attending) {
    body["attention"].push_back(attention_of(*subject.trace, static_cast<size_t>(layer - 1), block));
  }
  return body;
}

// Adds the names and colours of the labels to the list of their kind; `shown`: they are in the legend.
void add_classes(const ClassRows& of_points, bool shown, Json& classes) {
  const PointLabels& found = *of_points.found;
  const at::Tensor labels = of_points.rows.contiguous(), colours = found.colours.contiguous();
  std::map<int64_t, int64_t> rows;  // the first row of each label
  for (int64_t row = 0; row < labels.size(0); ++row) rows.try_emplace(labels.const_data_ptr<int64_t>()[row], row);
  size_t name = 0;  // names are in the order of the labels found
  for (const auto& [label, row] : rows) {
    const double* colour = colours.const_data_ptr<double>() + 3 * row;
    while (classes.size() <= static_cast<size_t>(label)) classes.push_back(nullptr);
    Json& one = classes[static_cast<size_t>(label)];
    if (one.is_null()) {
      one = {{"name", found.names[name].first}, {"colour", {colour[0], colour[1], colour[2]}}, {"shown", shown}};
    }
    ++name;
  }
}

// `shown`: the classes of all are in the legend; else those of the first alone.
Json classes_of(const std::vector<const Subject*>& subjects, bool shown) {
  Json classes = {{"parts", Json::array()}, {"true_parts", Json::array()}, {"elements", Json::array()}};
  for (size_t i = 0; i < subjects.size(); ++i) {
    for (const ClassRows& labels : class_rows(*subjects[i])) add_classes(labels, shown || i == 0, classes[labels.kind]);
  }
  return classes;
}

Json start_of(const Subject& subject, const Choices& choices, const Camera& camera) {
  return {{"colour", colouring_name(choices.colouring)},
          {"layer", choices.layer.value_or(-1)},
          {"head", choices.head.value_or(0)},
          {"query", chosen_query(subject, choices)},
          {"component", choices.component.value_or(2)},
          {"map", colour_map_name(choices.map)},
          {"azimuth", camera.azimuth},
          {"elevation", camera.elevation},
          {"zoom", camera.distance},
          {"orthographic", camera.orthographic},
          {"surface", choices.surface || subject.surface.has_value()},
          {"discs", choices.discs},
          {"hydrogens", choices.hydrogens},
          {"labels", choices.labels}};
}

Json colour_json(const Colour& colour) {
  return {colour[0], colour[1], colour[2]};
}

// Everything of a page but the bodies, of one subject or of several that are shown alike.
Json common_json(const std::vector<const Subject*>& subjects, const std::vector<std::string>& lines,
                 const Choices& choices, const Camera& camera, bool grid) {
  const Subject& subject = *subjects.front();
  Json json = {{"lines", lines},
               {"graph", subject.is_graph()},
               {"heads", subject.heads()},
               {"components", subject.encoding.defined() ? subject.encoding.size(1) : 0},
               {"start", start_of(subject, choices, camera)},
               {"classes", classes_of(subjects, grid)}};
  if (choices.background) json["background"] = colour_json(*choices.background);
  for (const Colouring colouring : colourings_of(subject)) json["colourings"].push_back(colouring_name(colouring));
  for (const Colouring colouring :
       {Colouring::importance, Colouring::samples, Colouring::attention, Colouring::diversity}) {
    json["layers"][colouring_name(colouring)] = layers_of(subject, colouring);
  }
  for (const ColourMap map : colour_maps) json["maps"][colour_map_name(map)] = colour_stops(map);
  json["palette"] = {{"top", colour_json(top_colour)},
                     {"partner", colour_json(partner_colour)},
                     {"query", colour_json(query_colour)},
                     {"other", colour_json(other_colour)}};
  return json;
}

// Returns the placement that centres points and gives them an extent of 1.
Placement placement_of(const at::Tensor& points) {
  const at::Tensor low = points.amin(0), high = points.amax(0);
  const double extent = (high - low).max().item<double>();
  return {low + (high - low) / 2, at::zeros({3}, at::kDouble), extent > 0 ? extent : 1.0};
}

Json scene_json(const Subject& subject, const Choices& choices, const Camera& camera, ArrayBlock& block,
                bool with_attention = true) {
  Choices checked = choices;
  checked.surface = false;  // the page draws both
  checked.hydrogens = true;
  const Scene scene = scene_of(subject, checked);
  const Placement place = placement_of(scene.points);
  std::vector<const Subject*> all = {&subject};
  if (subject.beside) all.push_back(subject.beside.get());
  Json json = common_json(all, scene.lines, choices, camera, /*grid=*/false);
  if (!with_attention) {
    json["layers"]["attention"] = Json::array();
    Json& all_colourings = json["colourings"];
    all_colourings.erase(std::find(all_colourings.begin(), all_colourings.end(), "attention"));
  }
  json["size"] = place.size;
  json["radius"] = scene.radius / place.size;
  json["bodies"].push_back(body_of(subject, place, block, with_attention));
  if (subject.beside) {
    // side_by_side has moved the rows of the copy.
    const at::Tensor moved = scene.points[subject.points.size(0)] - subject.beside->points[0].to(at::kDouble);
    Placement beside = place;
    beside.shift = moved / place.size;
    json["bodies"].push_back(body_of(*subject.beside, beside, block));
  }
  return json;
}

// Each body of a sheet has a size, a radius, a query and a caption of its own.
Json sheet_json(const ContactSheet& sheet, const Camera& camera, ArrayBlock& block) {
  std::vector<const Subject*> all;
  for (const Subject& subject : sheet.subjects) all.push_back(&subject);
  Json json = common_json(all, sheet.key.lines, sheet.choices, camera, /*grid=*/true);
  json["grid"] = sheet.grid.columns;
  for (size_t i = 0; i < all.size(); ++i) {
    const Subject& subject = *all[i];
    const Placement place = placement_of(subject.points);
    Json body = body_of(subject, place, block);
    body["size"] = place.size;
    body["radius"] = fitting_radius(subject.points) / place.size;
    body["query"] = chosen_query(subject, sheet.choices);
    body["caption"] = sheet.scenes[i].lines;
    body["wrong"] = subject.right == false;
    if (i == 0) json["size"] = body["size"], json["radius"] = body["radius"];
    json["bodies"].push_back(std::move(body));
  }
  return json;
}

PageScene page_scene(const Json& scene, const ArrayBlock& block, const std::string& title) {
  const std::filesystem::path path = title;  // of a file its name says enough
  return {html_text(path.is_absolute() ? path.filename().string() : title), script_json(scene), base64(block.bytes())};
}

int64_t bytes_of(const PageScene& scene) {
  return static_cast<int64_t>(scene.scene.size() + scene.arrays.size());
}

void write_scene(const PageScene& scene, const std::filesystem::path& file, int64_t max_bytes) {
  const int64_t bytes = bytes_of(scene) + static_cast<int64_t>(sizeof(page_template));
  if (bytes > max_bytes) refuse_size(bytes, max_bytes, "the page");
  const std::array<std::pair<std::string_view, std::string_view>, 3> values = {
      {{"%TITLE%", scene.title}, {"%SCENE%", scene.scene}, {"%ARRAYS%", scene.arrays}}};
  AtomicFile page(file);
  std::string_view rest = page_template;
  for (const auto& [mark, value] : values) {
    const size_t place = rest.find(mark);
    TORCH_INTERNAL_ASSERT(place != std::string_view::npos);
    page.write(rest.data(), place);
    page.write(value.data(), value.size());
    rest.remove_prefix(place + mark.size());
  }
  page.write(rest.data(), rest.size());
  page.commit();
}

void check_attention(int64_t bytes, int64_t max_bytes) {
  if (bytes > max_bytes) refuse_size(bytes, max_bytes, "the attention of all points in all layers and heads");
}

}  // namespace

void write_page(const Subject& subject, const Choices& choices, const Camera& camera, const std::filesystem::path& file,
                int64_t max_bytes) {
  check_attention(attention_bytes(subject), max_bytes);
  ArrayBlock block;
  const Json scene = scene_json(subject, choices, camera, block);
  write_scene(page_scene(scene, block, subject.name), file, max_bytes);
}

void write_sheet_page(const ContactSheet& sheet, const Camera& camera, const std::filesystem::path& file,
                      int64_t max_bytes) {
  int64_t bytes = 0;
  for (const Subject& subject : sheet.subjects) bytes += attention_bytes(subject);
  check_attention(bytes, max_bytes);
  ArrayBlock block;
  const Json scene = sheet_json(sheet, camera, block);
  write_scene(page_scene(scene, block, sheet.key.lines.front()), file, max_bytes);
}

std::optional<PageScene> report_scene(const Subject& subject, int64_t count, int64_t max_bytes) {
  const int64_t place = max_bytes / std::max<int64_t>(count, 1), attention = attention_bytes(subject);
  Choices choices;
  choices.colouring = usual_colouring(subject);
  // Tries the scene with its attention, then without it.
  for (const bool with_attention : {true, false}) {
    if (with_attention && (attention == 0 || attention > place)) continue;
    ArrayBlock block;
    const Json scene = scene_json(subject, choices, {}, block, with_attention || attention == 0);
    const PageScene found = page_scene(scene, block, subject.name);
    if (bytes_of(found) <= place) return found;
  }
  return std::nullopt;
}

std::string empty_page() {
  return page_template;
}

}  // namespace geosft::view
