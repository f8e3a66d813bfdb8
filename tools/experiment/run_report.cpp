// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/run_report.h"

#include <CLI/CLI.hpp>

#include "tools/experiment/arguments.h"
#include "tools/experiment/output_files.h"
#include "tools/experiment/zoo.h"

namespace geosft {

namespace fs = std::filesystem;

void ReportArguments::add_to(CLI::App& subcommand) {
  subcommand.add_option("RUN", run, "RUN folder, or the name of a pretrained model")->required();
  as_output_file(subcommand.add_option("--out", out,
                                       "HTML file to write (default: RUN/report.html; a pretrained model needs it)"));
  subcommand.add_option("--mistakes", mistakes, "how many of the worst predictions are shown")
      ->check(CLI::Range(0, 1000))
      ->capture_default_str();
}

ReportPlace report_place(const ReportArguments& given) {
  const fs::path found = resolve_run(given.run);
  if (fs::is_regular_file(found)) {
    throw UsageError("a report is of a whole run: expected a RUN folder, found the file " + given.run);
  }
  const RunFolder folder = RunFolder::open(found);
  const bool shipped = folder.path() != given.run;
  if (shipped && given.out.empty()) {
    throw UsageError("--out FILE is required: " + given.run + " is a pretrained model, whose folder stays as it is");
  }
  return {folder, given.out.empty() ? folder.path() / "report.html" : fs::path(given.out), shipped};
}

HtmlReport page_of_run(const ReportPlace& place, const std::string& title, const std::string& items,
                       const std::string& data, const std::string& outputs, const std::string& parameters) {
  const fs::path run = (fs::absolute(place.folder.path()) / "").lexically_normal().parent_path();
  HtmlReport page;
  page.title = title + ": " + run.filename().string();
  page.facts = {{"run", run.string()}, {"data", data}, {"outputs", outputs}, {"parameters", parameters}};
  add_fact(page, items + " of the training's splits", split_counts_text(split_counts(place.folder.split())));
  page.pictures = {{"Learning curves", place.folder.learning_curves() += ".svg"}};
  return page;
}

void add_fact(HtmlReport& page, const std::string& name, const std::string& value) {
  if (!value.empty()) page.facts.emplace_back(name, value);
}

void add_accuracy_interval(HtmlReport& page, double accuracy, int64_t count, const std::string& items) {
  const auto [low, high] = share_interval(accuracy, count);
  add_fact(page, "95 % interval of the accuracy",
           percent(low) + " to " + percent(high) + " (Wilson's score interval of a share of " + std::to_string(count) +
               " " + items + ")");
}

void add_calibration(HtmlReport& page, const std::vector<ReliabilityBin>& bins) {
  if (!bins.empty()) page.more_tables.push_back({"Calibration", calibration_note(bins), reliability_table(bins)});
}

}  // namespace geosft
