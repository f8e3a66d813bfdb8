// SPDX-License-Identifier: Apache-2.0
#include "tools/graph/report_command.h"

#include <cmath>
#include <cstdio>
#include <limits>
#include <stdexcept>

#include "data/graphs/molecule_features.h"
#include "data/graphs/molecule_picture.h"
#include "tools/experiment/class_counts.h"

namespace geosft {
namespace {

constexpr int64_t max_shown_outputs = 5;  // of one mistake
constexpr int64_t max_drawn_atoms = 400;  // larger molecules are lines without details
constexpr size_t max_shown_letters = 80;  // of a SMILES
constexpr int picture_width = 300, picture_height = 220;

std::string number_text(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

// Cuts a SMILES that would fill the page, as that of a peptide; `predict` prints all of it.
std::string shortened(const std::string& smiles) {
  return smiles.size() <= max_shown_letters ? smiles : smiles.substr(0, max_shown_letters) + " …";
}

// Returns the picture of a molecule; empty for one that cannot be drawn, as in a build without RDKit.
std::string picture_of(const std::string& smiles) {
  if (written_atoms(smiles) > max_drawn_atoms) return "";
  try {
    return molecule_svg(smiles, picture_width, picture_height);
  } catch (const std::exception&) {
    return "";
  }
}

constexpr double unknown = -std::numeric_limits<double>::infinity();  // the loss of an unknown target

// Returns the rows by `cost`, double [n], the largest first, without those of an unknown cost. A NaN comes first.
std::vector<int64_t> ranked_rows(const at::Tensor& cost, int64_t count) {
  const at::Tensor order = cost.argsort(/*stable=*/true, /*dim=*/0, /*descending=*/true);
  std::vector<int64_t> rows;
  for (int64_t place = 0; place < order.size(0) && static_cast<int64_t>(rows.size()) < count; ++place) {
    const auto row = order[place].item<int64_t>();
    if (cost[row].item<double>() == unknown) break;
    rows.push_back(row);
  }
  return rows;
}

// Returns the loss of each target, double [n, outputs]: log loss of labels, absolute error of standardised targets.
at::Tensor target_losses(const GraphRun& trained, const GraphOutputs& outputs) {
  const GraphTask task = trained.schema.task;
  const at::Tensor given = outputs.outputs.to(at::kDouble);
  const at::Tensor targets = standardized_targets(trained.model, task, outputs.targets.to(at::kDouble));
  const at::Tensor losses = has_labels(task) ? at::softplus(given) - given * targets : (given - targets).abs();
  return losses.masked_fill(targets.isnan(), unknown);
}

// Returns "logS: predicted 1.25, is 0.5; mass: …", the targets of the largest losses first.
std::string targets_text(const ItemSchema& schema, const at::Tensor& predicted, const at::Tensor& target,
                         const at::Tensor& losses) {
  const bool labels = has_labels(schema.task);
  const std::vector<std::string> known = target_fields(schema, target);
  const std::vector<int64_t> worst = ranked_rows(losses, schema.outputs());
  std::string text;
  for (size_t place = 0; place < worst.size(); ++place) {
    if (place == max_shown_outputs) {
      return text + "; " + std::to_string(worst.size() - place) + " more";
    }
    const auto output = static_cast<size_t>(worst[place]);
    const auto value = predicted[worst[place]].item<double>();
    text += (place == 0 ? "" : "; ") + (schema.outputs() == 1 ? "" : schema.output_names[output] + ": ") +
            "predicted " + (labels ? percent(value) : number_text(value)) + ", is " + known[output];
  }
  return text;
}

struct RankedMistakes {
  std::string order;  // as in Mistakes
  std::vector<int64_t> rows;
  std::vector<std::string> texts;
};

RankedMistakes wrong_classes(const ItemSchema& schema, const GraphOutputs& outputs, int64_t count) {
  const at::Tensor shares = outputs.outputs.to(at::kDouble).softmax(1);
  const auto [confidence, guesses] = shares.max(1);
  const at::Tensor right = guesses == outputs.targets;
  RankedMistakes found{"Wrong classes, those that are predicted with the largest probability first", {}, {}};
  found.rows = ranked_rows(confidence.masked_fill(right, unknown), count);
  for (const int64_t row : found.rows) {
    const auto share = [&](int64_t label) {
      return schema.output_names[static_cast<size_t>(label)] + " (" + percent(shares[row][label].item<double>()) + ")";
    };
    found.texts.push_back("predicted " + share(guesses[row].item<int64_t>()) + ", is " +
                          share(outputs.targets[row].item<int64_t>()));
  }
  return found;
}

RankedMistakes wrong_targets(const GraphRun& trained, const GraphOutputs& outputs, int64_t count) {
  const ItemSchema& schema = trained.schema;
  const at::Tensor losses = target_losses(trained, outputs);
  const at::Tensor predicted = predicted_values(trained.model, schema.task, outputs.outputs.to(at::kDouble));
  const bool several = schema.outputs() > 1;
  RankedMistakes found;
  at::Tensor cost;
  if (has_labels(schema.task)) {
    found.order = several ? "By the mean log loss of the known labels, the largest first; those of an item too"
                          : "By the log loss, the largest first";
    const at::Tensor known = losses != unknown;
    cost = losses.masked_fill(~known, 0.0).sum(1) / known.sum(1);
    cost = cost.masked_fill(~known.any(1), unknown);
  } else {
    found.order = several ? "By the largest error of a standardised target, the largest first; of one item too"
                          : "By the absolute error, the largest first";
    cost = losses.amax(1);
  }
  found.rows = ranked_rows(cost, count);
  for (const int64_t row : found.rows) {
    found.texts.push_back(targets_text(schema, predicted[row], outputs.targets[row], losses[row]));
  }
  return found;
}

// Adds the table, the confusion matrix and the calibration of classes.
void add_classes(HtmlReport& page, const GraphReport& report, const GraphRun& trained) {
  const bool of_nodes = is_of_nodes(report.task);
  const std::string items = of_nodes ? "nodes" : report.items;
  // Nodes of one graph depend on each other, so that an interval of independent items would be too narrow.
  if (!of_nodes) add_accuracy_interval(page, value_of(report.metrics, "accuracy"), report.count, items);
  if (trained.names().size() <= max_shown_classes) {
    page.table = class_rows(class_counts(report.confusion, trained.names()), items);
    page.confusion = {trained.names(), report.confusion};
  }
  add_calibration(page, report.reliability);
}

}  // namespace

Mistakes graph_mistakes(const GraphRun& trained, const PackedItems& graphs, const std::vector<int64_t>& items,
                        const GraphOutputs& outputs, int64_t count) {
  if (count == 0 || is_of_nodes(trained.schema.task)) return {};
  const RankedMistakes ranked = trained.schema.task == GraphTask::classification
                                    ? wrong_classes(trained.schema, outputs, count)
                                    : wrong_targets(trained, outputs, count);
  Mistakes found{ranked.order, {}};
  for (size_t place = 0; place < ranked.rows.size(); ++place) {
    const int64_t item = items[static_cast<size_t>(ranked.rows[place])];
    const std::string name = graphs.smiles.empty() ? name_of_item(graphs, item) : shortened(name_of_item(graphs, item));
    Mistake& one = found.worst.emplace_back();
    one.name = "item " + std::to_string(item) + (name.empty() ? "" : ": " + name);
    one.text = ranked.texts[place];
    if (!graphs.smiles.empty()) one.svg = picture_of(graphs.smiles[static_cast<size_t>(item)]);
  }
  return found;
}

ReportTable output_table(const GraphRun& trained, const GraphOutputs& outputs) {
  const ItemSchema& schema = trained.schema;
  const bool labels = has_labels(schema.task);
  ReportTable table{labels ? "Labels" : "Targets", "", {}};
  table.note = "The metrics of each one, of the items of which it is known; - is a metric that is not defined.";
  const at::Tensor values = in_units(trained.model, schema.task, outputs.outputs);
  for (int64_t output = 0; output < schema.outputs(); ++output) {
    const at::Tensor target = outputs.targets.narrow(1, output, 1);
    const NamedValues metrics = graph_metrics(schema.task, values.narrow(1, output, 1), target);
    if (table.rows.empty()) {
      table.rows.push_back({labels ? "label" : "target", "known"});
      if (labels) table.rows.back().emplace_back("positive");
      for (const auto& [name, value] : metrics) table.rows.back().push_back(name);
    }
    table.rows.push_back(
        {schema.output_names[static_cast<size_t>(output)], std::to_string((~target.isnan()).sum().item<int64_t>())});
    if (labels) table.rows.back().push_back(std::to_string((target == 1).sum().item<int64_t>()));
    for (const auto& [name, value] : metrics) {
      const std::string text = style_of(name).share ? percent(value) : number_text(value);
      table.rows.back().push_back(std::isnan(value) ? "-" : text);
    }
  }
  return table;
}

void add_figures(HtmlReport& page, const GraphReport& report, const GraphRun& trained) {
  const std::string count = std::to_string(report.count) + " " + report.items;
  add_fact(page,
           report.split == "all" ? "all " + count + " that have a label" : count + " of the " + report.split + " split",
           with_commas(metrics_text(report.metrics)));
  if (report.confusion.defined()) add_classes(page, report, trained);
}

}  // namespace geosft
