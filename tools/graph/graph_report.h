// SPDX-License-Identifier: Apache-2.0
// Evaluations as a person or a program reads them.
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
  std::string items = "graphs";  // what the dataset calls them
  int64_t count = 0;             // of the part
  NamedValues metrics;           // and the loss
  at::Tensor confusion;          // int64 [classes, classes], rows: true class; undefined where there are no classes
  int64_t renumberings = 0;
  double max_logit_difference = 0.0;  // between renumbered graphs and the originals
  double prediction_agreement = 1.0;  // share of equal predictions among them, where there are classes
  double items_per_second = 0.0;
  std::vector<PolynomialDegree> degrees = {};         // of layers with polynomial attention
  std::vector<MeanHeadDistance> head_distances = {};  // of layers whose heads were watched (watch_heads)
};

// Evaluates a part of a dataset, and again with all nodes renumbered, `renumberings` times. Throws Interrupted when a
// signal comes in the middle.
GraphReport evaluate_graphs(GraphRunModel& trained, const PackedItems& graphs, const DatasetSplit& split, Part part,
                            int64_t renumberings);

nlohmann::json report_json(const GraphReport& report);
// Overall figures, then, where there are classes, a table with a line a class.
std::string report_text(const GraphReport& report, const std::vector<std::string>& names);

// "accuracy 87.9 %  macro_f1 …".
std::string metrics_text(const NamedValues& metrics);

// Pictures in the RUN folder; a line on stderr where gnuplot is missing.
void draw_report(const GraphReport& report, const std::vector<std::string>& names, const RunFolder& folder);

}  // namespace geosft
