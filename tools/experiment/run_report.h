// SPDX-License-Identifier: Apache-2.0
// Writes the HTML page of an evaluated run: the options, facts and files that the reports of all experiments share.
#pragma once

#include <filesystem>
#include <iostream>
#include <string>

#include "data/atomic_file.h"
#include "data/read_file.h"
#include "models/summary.h"
#include "tools/experiment/eval_options.h"
#include "tools/experiment/experiment_commands.h"
#include "tools/experiment/html_report.h"
#include "tools/experiment/report_texts.h"
#include "tools/experiment/run_folder.h"
#include "tools/experiment/split_table.h"

namespace CLI {
class App;
}

namespace geosft {

struct ReportArguments {
  std::string run, out;
  int64_t mistakes = 12;

  // Adds RUN, --out and --mistakes.
  void add_to(CLI::App& subcommand);
};

// Holds the run that a report is of, and the file of its page.
struct ReportPlace {
  RunFolder folder;
  std::filesystem::path file;
  bool shipped;  // a pretrained model, whose folder stays as it is
};

// Throws UsageError if RUN is no run folder, and for a pretrained model without --out.
ReportPlace report_place(const ReportArguments& given);

// Returns the page with what is known of a run before its evaluation: title, facts, learning curves. `title` says what
// the model does, `items` what its data are called.
HtmlReport page_of_run(const ReportPlace& place, const std::string& title, const std::string& items,
                       const std::string& data, const std::string& outputs, const std::string& parameters);

// Adds a fact, unless its value is empty.
void add_fact(HtmlReport& page, const std::string& name, const std::string& value);

// Adds the 95 % interval of an accuracy that was measured on `count` items.
void add_accuracy_interval(HtmlReport& page, double accuracy, int64_t count, const std::string& items);

// Adds the table of the calibration, if there are bins.
void add_calibration(HtmlReport& page, const std::vector<ReliabilityBin>& bins);

// Evaluates a run by evaluate(trained), writes its page and prints the path of the file. fill(page, report, trained)
// adds what the evaluation found. An experiment has title(outputs) and item_words(outputs) besides the members that
// experiment_commands.h lists. Returns the exit code.
template <class Experiment, class Evaluate, class Fill>
int write_report(const ReportArguments& given, const Overrides<Experiment>& overrides, const Evaluate& evaluate,
                 const Fill& fill) {
  const ReportPlace place = report_place(given);
  const std::string config =
      read_file(place.folder.config());  // of the training, whatever the options of this evaluation
  auto trained = overrides.load(given.run);
  overrides.require_data(trained, given.run);
  const auto report = evaluate(trained);
  if (!place.shipped) {
    Experiment::draw(report, trained, place.folder);
    draw_curves(place.folder, Experiment::Task::score(trained.settings, trained));
  }
  std::string parameters = std::to_string(parameter_count(*trained.model));
  if (const size_t more = trained.more_models.size(); more > 0) {
    parameters += " in each of " + std::to_string(1 + more) + " models";
  }
  HtmlReport page = page_of_run(place, Experiment::title(trained), Experiment::item_words(trained),
                                trained.settings.data, trained.size_text(), parameters);
  fill(page, report, trained);
  add_fact(page, "the figures are of",
           "best.ckpt" + checkpoint_note(place.folder.path(), trained.settings.train.epochs, trained.averaged_with()));
  page.config = config;
  write_file_atomically(place.file, html_page(page));
  std::cout << place.file.string() << '\n';
  return 0;
}

}  // namespace geosft
