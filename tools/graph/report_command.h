// SPDX-License-Identifier: Apache-2.0
// The subcommand report of graphs and sequences: one HTML page on a run, with its worst mistakes.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <vector>

#include "tools/experiment/run_report.h"
#include "tools/graph/graph_experiment.h"

namespace geosft {

// Returns the `count` worst predictions of an evaluation, named by the numbers of the items and their SMILES or files,
// with pictures of molecules. Empty for tasks of nodes. The order is
//   classification  wrong classes, by their probability
//   multi_label     by the mean log loss of the known labels
//   regression      by the largest absolute error of a known target, standardised
Mistakes graph_mistakes(const GraphRun& trained, const PackedItems& graphs, const std::vector<int64_t>& items,
                        const GraphOutputs& outputs, int64_t count);

// Returns a table with one row per label or target: how many are known, and the metrics of the task.
ReportTable output_table(const GraphRun& trained, const GraphOutputs& outputs);

// Adds the metrics of an evaluation, and for classes their table, confusion matrix and calibration.
void add_figures(HtmlReport& page, const GraphReport& report, const GraphRun& trained);

template <class Experiment>
struct GraphReportCommand {
  ReportArguments given;
  typename Experiment::EvalOptions options;
  Overrides<Experiment> overrides;

  int execute() const {
    Mistakes mistakes;
    std::vector<ReportTable> tables;
    const auto observe = [&](GraphRun& trained) {
      return [&](const PackedItems& graphs, const std::vector<int64_t>& items, const GraphOutputs& outputs) {
        mistakes = graph_mistakes(trained, graphs, items, outputs, given.mistakes);
        if (!has_classes(trained.schema.task)) tables.push_back(output_table(trained, outputs));
      };
    };
    return write_report<Experiment>(
        given, overrides, [&](GraphRun& trained) { return Experiment::report(trained, options, observe(trained)); },
        [&](HtmlReport& page, const GraphReport& report, const GraphRun& trained) {
          add_figures(page, report, trained);
          page.more_tables.insert(page.more_tables.end(), tables.begin(), tables.end());
          page.mistakes = std::move(mistakes);
          if (given.mistakes > 0 && page.mistakes.worst.empty() && trained.schema.task == GraphTask::classification) {
            add_fact(page, "mistakes", "none: all " + report.items + " are right");
          }
        });
  }
};

template <class Experiment>
inline constexpr Subcommand graph_report_subcommand{
    "report", "one HTML page on a run: curves, tables, and its worst mistakes", [](CLI::App& subcommand) {
      auto command = std::make_shared<GraphReportCommand<Experiment>>();
      command->given.add_to(subcommand);
      command->options.add_data_to(subcommand, Experiment::items);
      command->overrides.add_to(subcommand);
      return Command([command] { return command->execute(); });
    }};

}  // namespace geosft
