// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "data/read_file.h"
#include "tools/common/arguments.h"
#include "tools/common/training_run.h"
#include "tools/graph/commands.h"
#include "tools/graph/graph_experiment.h"

namespace geosft {
namespace {

struct GraphTrainCommand : TrainArguments {
  GraphSettings settings;
  Config config = settings.config();

  // What the steps of a run do not depend on may change: where the data lies, how often it is looked at, and the number
  // of epochs, along whose new curve a cosine schedule goes on.
  void load_resumed_settings(const RunFolder& folder) {
    const auto keep = [](GraphSettings& before, const GraphSettings& after) {
      before.data = after.data;
      before.evaluation = after.evaluation;
      before.train.take_resumable(after.train);
    };
    load_resumed<GraphSettings>(
        settings, config, folder, keep,
        "--data, --epochs, --validate-every, --checkpoint-every, --on-non-finite and the keys of "
        "[evaluation]");
  }

  int run();
  void print(const std::vector<RunResult>& results, const RunFolder& folder) const;
};

// The mean of several runs in the form of one, with the deviation and every run beside it.
nlohmann::json experiment_json(const std::vector<RunResult>& results) {
  const ResultRow mean = experiment_rows(results).back();
  nlohmann::json json{{"split", "test"}, {"repeats", mean.runs}, {"runs", nlohmann::json::array()}};
  for (const auto& [metric, value] : mean.values) {
    json["metrics"][metric] = value.mean;
    json["deviations"][metric] = value.deviation;
  }
  for (const RunResult& result : results) {
    nlohmann::json run{{"name", result.name}};
    for (const auto& [metric, value] : result.metrics) run["metrics"][metric] = value;
    json["runs"].push_back(run);
  }
  return json;
}

void GraphTrainCommand::print(const std::vector<RunResult>& results, const RunFolder& folder) const {
  if (results.size() > 1) {
    std::cout << (json ? experiment_json(results).dump() + "\n" : markdown_table(experiment_rows(results)));
  } else if (json) {
    std::cout << read_file(folder.result());
  } else {
    std::cout << metrics_text(results.front().metrics) << " on the test part\n";
  }
}

int GraphTrainCommand::run() {
  if (list_keys) {
    std::cout << config.help();
    return 0;
  }
  if (out.empty()) throw UsageError("--out RUN is required: the folder to leave the run in");
  const at::Device device = runtime.apply();
  if (!resume) load_new(config);
  settings.check();
  if (!resume && settings.data.empty()) throw UsageError("--data DIR is required: the dataset");
  const RunFolder folder = resume ? RunFolder::open(out) : RunFolder::create(out);
  if (resume) load_resumed_settings(folder);
  settings.data = std::filesystem::absolute(settings.data).lexically_normal().string();
  std::vector<RunResult> results;
  train_or_clean(folder, [&] {
    results = run_experiment(settings, folder, resume, device);
    return true;
  });
  print(results, folder);
  return 0;
}

}  // namespace

Command add_graph_train_command(CLI::App& verb) {
  auto command = std::make_shared<GraphTrainCommand>();
  command->add_to(verb);
  command->config.add_options(verb, /*listed=*/false);
  verb.footer(
      "Every key of the configuration is an option too, for example --data DIR --epochs 50 --repeats 3 --every-fold.");
  return [command] { return command->run(); };
}

}  // namespace geosft
