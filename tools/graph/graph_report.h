// SPDX-License-Identifier: Apache-2.0
// Evaluates trained graph models and formats the results as text and JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "models/layers/primal_head_distance.h"
#include "tools/experiment/run_folder.h"
#include "tools/graph/graph_evaluation.h"
#include "tools/graph/graph_run_model.h"

namespace geosft {

struct GraphReport {
  GraphTask task = GraphTask::classification;
  Part part = Part::test;
  std::string items = "graphs";  // item name of the dataset
  int64_t count = 0;             // items in the split
  NamedValues metrics;           // followed by the loss
  at::Tensor confusion;          // int64 [classes, classes], rows: true class; undefined without classes
  int64_t renumberings = 0;
  double max_logit_difference = 0.0;  // between renumbered graphs and the originals
  double prediction_agreement = 1.0;  // share of equal predictions among them, for classes
  double items_per_second = 0.0;
  std::vector<PolynomialDegree> degrees = {};         // one per layer with polynomial attention
  std::vector<MeanHeadDistance> head_distances = {};  // one per layer with recorded heads (watch_heads)
};

// Evaluates a split of a dataset, and `renumberings` times more with all nodes renumbered. Throws Interrupted if a
// signal arrives meanwhile.
GraphReport evaluate_graphs(GraphRunModel& trained, const PackedItems& graphs, const DatasetSplit& split, Part part,
                            int64_t renumberings);

nlohmann::json report_json(const GraphReport& report);
// Returns overall metrics, then, for classes, a table with one line per class.
std::string report_text(const GraphReport& report, const std::vector<std::string>& names);

// Returns "accuracy 87.9 %  macro_f1 …".
std::string metrics_text(const NamedValues& metrics);

// Draws pictures in the RUN folder; prints a line to stderr if gnuplot is missing.
void draw_report(const GraphReport& report, const std::vector<std::string>& names, const RunFolder& folder);

}  // namespace geosft
