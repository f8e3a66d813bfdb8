// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "data/read_file.h"
#include "tools/experiment/train_command.h"
#include "tools/graph/commands.h"
#include "tools/graph/graph_experiment.h"

namespace geosft {
namespace {

class GraphTrainCommand : public TrainCommand<GraphSettings> {
 protected:
  bool train(const RunFolder& folder) override;
  void report(const RunFolder& folder) override;

 private:
  std::vector<RunResult> results_;
};

// Trains and evaluates all runs of the experiment; each writes its report to its own folder.
bool GraphTrainCommand::train(const RunFolder& folder) {
  results_ = run_experiment(settings, folder, resume, device, processes());
  return true;
}

void GraphTrainCommand::report(const RunFolder& folder) {
  if (results_.size() > 1) {
    std::cout << (json ? experiment_json(results_).dump() + "\n" : markdown_table(experiment_rows(results_)));
  } else if (json) {
    std::cout << read_file(folder.result());
  } else {
    std::cout << metrics_text(results_.front().metrics) << " on the test part\n";
  }
}

}  // namespace

Command add_graph_train_command(CLI::App& subcommand, const ItemWords& words) {
  auto command = std::make_shared<GraphTrainCommand>();
  command->add_to(subcommand, words.graphs ? "--data DIR --epochs 50 --num-seeds 3 --cross-validation"
                                           : "--data DIR --attention bn_sh --epochs 50 --num-seeds 3");
  return [command] { return command->run(); };
}

}  // namespace geosft
