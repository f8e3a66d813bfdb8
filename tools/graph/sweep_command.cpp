// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <sstream>
#include <utility>

#include "data/atomic_file.h"
#include "tools/experiment/arguments.h"
#include "tools/experiment/graph_kernel.h"
#include "tools/experiment/graph_presets.h"
#include "tools/experiment/main_guard.h"
#include "tools/experiment/published_sets.h"
#include "tools/experiment/report_texts.h"
#include "tools/experiment/training_run.h"
#include "tools/graph/graph_experiment.h"
#include "tools/graph/sweep.h"

namespace geosft {
namespace {

// Returns the first line in which two configurations with the same keys differ.
std::pair<std::string, std::string> first_different_lines(const std::string& first, const std::string& second) {
  std::istringstream lines(first), others(second);
  std::string line, other;
  while (std::getline(lines, line) && std::getline(others, other) && line == other) continue;
  return {line, other};
}

// Throws UsageError for a key that the command line or a list gives and none of the configurations uses. `uses` has an
// element for each configuration.
void refuse_unused(const SweepList& plan, const std::vector<std::vector<KeyUse>>& uses) {
  for (const std::string& key : keys_of(plan)) {
    std::string reason;
    const auto unused = [&](const KeyUse& use) {
      if (use.used || std::ranges::find(use.keys, key) == use.keys.end()) return false;
      reason = use.unused_text(key);
      return true;
    };
    if (std::ranges::all_of(uses, [&](const auto& of_one) { return std::ranges::any_of(of_one, unused); })) {
      throw UsageError(reason);
    }
  }
}

// Throws UsageError for a key that is both varied and set: the values of `vary` would replace the other.
void refuse_set_and_varied(const std::vector<std::string>& set, const std::vector<std::string>& vary) {
  const auto key_of = [](const std::string& entry) { return current_key(entry.substr(0, entry.find('='))); };
  for (const std::string& varied : vary) {
    for (const std::string& one : set) {
      if (key_of(one) != key_of(varied)) continue;
      throw UsageError(key_of(one) + " is both varied and set: leave out " + varied + " or " + one);
    }
  }
}

// Leaves out configurations that differ from an earlier one in keys alone that neither uses, and says so.
void leave_out_repeated(std::vector<Variation>& all) {
  std::map<std::string, std::string> first;  // names by settings
  std::erase_if(all, [&](const Variation& variation) {
    const auto [known, is_new] = first.emplace(used_settings(variation.settings), variation.name);
    if (!is_new) {
      std::cerr << "left out: " << variation.name << " is the same training as " << known->second << '\n';
    }
    return !is_new;
  });
}

struct SweepCommand {
  SweepList given;  // from the command line
  std::filesystem::path list, out;
  std::string data;
  std::optional<uint64_t> seed;
  std::optional<double> seconds;
  bool csv = false, json = false, has_preset = false;
  RuntimeOptions runtime;

  // Merges the file with the command line; named changes are applied after `set`.
  SweepList planned() const {
    SweepList plan = list.empty() ? SweepList() : read_sweep_list(list);
    refuse_set_and_varied(plan.set, plan.vary);
    plan.configs.insert(plan.configs.end(), given.configs.begin(), given.configs.end());
    plan.vary.insert(plan.vary.end(), given.vary.begin(), given.vary.end());
    std::vector<std::string> set = given.set;
    if (!data.empty()) set.push_back("data=" + data);
    if (seed) set.push_back("seed=" + std::to_string(*seed));
    refuse_set_and_varied(set, plan.vary);
    plan.set.insert(plan.set.end(), set.begin(), set.end());
    if (has_preset && plan.configs.empty()) plan.preset = preset_of(plan);
    return plan;
  }

  // Returns what `train` begins with where it gets no configuration.
  static std::string preset_of(const SweepList& plan) {
    GraphReadOptions reading;
    std::string data;
    for (const std::string& entry : plan.set) {
      if (entry.starts_with("data=")) data = entry.substr(5);
      if (entry.starts_with("smiles_column=")) reading.smiles_column = entry.substr(14);
    }
    return small_preset(data, reading, keys_of(plan));
  }

  // Returns the number of epochs that take the given seconds, extrapolated from a trial epoch that is discarded.
  int64_t epochs_that_fit(const Variation& variation, at::Device device) const {
    const std::filesystem::path trial = out / (folder_name(variation.name) + ".trial");
    std::filesystem::remove_all(trial);
    std::cerr << "\nthe time of an epoch of " << variation.name << '\n';
    double one = 0;
    try {
      one = seconds_of_an_epoch(variation.settings, RunFolder::create(trial), device);
    } catch (...) {
      std::error_code kept;  // a folder with other runs
      std::filesystem::remove_all(trial, kept);
      std::filesystem::remove(out, kept);
      throw;
    }
    std::filesystem::remove_all(trial);
    return std::max<int64_t>(1, std::llround(*seconds / one));
  }

  // Continues the experiment if its folder exists. An earlier version may have begun it: keys that are not `named` are
  // then what that version did.
  std::vector<RunResult> results_of(const Variation& variation, const std::set<std::string>& named,
                                    at::Device device) const {
    const std::filesystem::path path = out / folder_name(variation.name);
    const bool begun = std::filesystem::exists(path / "config.toml");
    GraphSettings settings = variation.settings;
    if (seconds && !begun) settings.train.epochs = epochs_that_fit(variation, device);
    const RunFolder folder = begun ? RunFolder::resume(path) : RunFolder::create(path);
    settings.locate_data();
    if (begun) {
      GraphSettings before;
      before.config().load_run_toml(folder.config());
      before.locate_data();  // an earlier version kept a relative split_folder
      if (seconds) settings.train.epochs = before.train.epochs;
      settings.config().take_unnamed(before.config(), named);
      settings.config().take_automatic(before.config());
      const std::string then = before.config().to_toml(), now = settings.config().to_toml();
      if (then != now) {
        const auto [one, other] = first_different_lines(then, now);
        throw UsageError(path.string() + " holds a run of another configuration (\"" + one + "\", asked for is \"" +
                         other + "\"): name another folder");
      }
    }
    std::cerr << "\nconfiguration " << variation.name << '\n';
    try {
      std::vector<RunResult> results;
      train_or_clean(folder, one_process(), [&] {
        results = run_experiment(settings, folder, begun, device);
        return true;
      });
      return results;
    } catch (const Interrupted& stop) {
      throw Interrupted(std::string(stop.what()) + ": run the same command again to continue");
    } catch (...) {
      std::error_code kept;  // a folder with other runs
      std::filesystem::remove(out, kept);
      throw;
    }
  }

  // Throws the errors of configurations that do not fit their data, and UsageError for a key of `plan` that none of
  // them uses with these, unless their training has begun. The first one is checked only for such keys: its other
  // errors come with its training.
  void refuse_unfit(const SweepList& plan, const std::vector<Variation>& all) const {
    const std::set<std::string> named = keys_of(plan);
    const bool depends = std::ranges::any_of(keys_for_some_data, [&](const char* key) { return named.contains(key); });
    std::vector<std::vector<KeyUse>> uses(all.size());  // empty: all keys
    for (size_t i = depends ? 0 : 1; i < all.size(); ++i) {
      if (std::filesystem::exists(out / folder_name(all[i].name) / "config.toml")) continue;
      GraphSettings settings = all[i].settings;
      try {
        settings.locate_data();
        uses[i] = check_experiment(settings);
      } catch (const UsageError& error) {
        throw UsageError(i == 0 ? error.what() : all[i].name + ": " + error.what());
      }
    }
    refuse_unused(plan, uses);
  }

  int execute() const {
    const at::Device device = runtime.apply();
    const SweepList plan = planned();
    check_epochs(plan);
    std::vector<Variation> all = variations(plan);
    std::set<std::string> folders;
    for (const Variation& variation : all) {
      const GraphSettings& settings = variation.settings;
      if (settings.data.empty()) throw UsageError("--data DIR is required: the dataset");
      const std::string hint = fetch_hint("geosft-graph", settings.data);
      if (!hint.empty()) throw DataError(settings.data, "a dataset", "nothing of this name" + hint);
      check_replay(settings.train, settings.model, device, one_process());
      if (!folders.insert(folder_name(variation.name)).second) {
        throw UsageError("two configurations are called " + variation.name);
      }
    }
    std::vector<std::vector<KeyUse>> uses;
    for (const Variation& variation : all) uses.push_back(variation.settings.key_uses());
    refuse_unused(plan, uses);
    leave_out_repeated(all);
    refuse_unfit(plan, all);
    std::vector<ResultRow> rows;
    std::vector<RunResult> first;
    std::vector<Curve> curves;
    size_t with_regression = 0;
    std::set<std::string> named = keys_of(plan);
    for (const std::filesystem::path& config : plan.configs) named.merge(keys_of_toml(config));
    for (const Variation& variation : all) {
      const std::vector<RunResult> results = results_of(variation, named, device);
      const std::filesystem::path folder = out / folder_name(variation.name);
      const std::vector<std::filesystem::path> runs = run_folders(folder, results);
      if (std::any_of(runs.begin(), runs.end(), [](const auto& run) { return !GraphKernel::stored_in(run).empty(); })) {
        ++with_regression;
      }
      curves.push_back(mean_learning_curve(variation.name.empty() ? "run" : variation.name, metrics_files(runs)));
      ResultRow& row = rows.emplace_back(experiment_rows(results).back());
      row.name = variation.name;
      row.labels = cost_labels(results);
      if (rows.size() == 1) first = results;
      if (rows.size() > 1) row.differences = paired_differences(results, first);
      if (json) print(variation.name, results, row);
      write_file_atomically(out / "table.md", markdown_table(rows));
      write_file_atomically(out / "table.csv", csv_table(rows));
    }
    const PlotResult drawn = leave_learning_curves(
        curves, score_style(first.front().task, all.front().settings.train.metric), out / "curves");
    warn_unless_drawn(drawn);
    if (!json) std::cout << (csv ? csv_table(rows) : markdown_table(rows));
    if (with_regression == all.size()) {
      std::cerr << "figures are of networks averaged with a kernel ridge regression; --set kernel_ridge=false compares "
                   "the networks alone\n";
    } else if (with_regression > 0) {
      std::cerr << "figures of " << with_regression << " of the " << all.size()
                << " configurations are of networks averaged with a kernel ridge regression\n";
    }
    return 0;
  }

  // Returns the RUN folders of a configuration, whose folder this is.
  static std::vector<std::filesystem::path> run_folders(const std::filesystem::path& folder,
                                                        const std::vector<RunResult>& results) {
    std::vector<std::filesystem::path> runs;
    for (const RunResult& result : results) runs.push_back(results.size() > 1 ? folder / result.name : folder);
    return runs;
  }

  // Returns the metrics files of the runs; of those that were refitted, the files of the selection.
  static std::vector<std::filesystem::path> metrics_files(const std::vector<std::filesystem::path>& runs) {
    std::vector<std::filesystem::path> files;
    for (const std::filesystem::path& run : runs) {
      for (const std::filesystem::path& file : {run / "selection/metrics.csv", run / "metrics.csv"}) {
        if (!std::filesystem::exists(file)) continue;
        files.push_back(file);
        break;
      }
    }
    return files;
  }

  void check_epochs(const SweepList& plan) const {
    const auto with_epochs = [](const std::vector<std::string>& entries) {
      return std::any_of(entries.begin(), entries.end(), [](const auto& e) { return e.rfind("epochs=", 0) == 0; });
    };
    if (seconds && (with_epochs(plan.set) || with_epochs(plan.vary) ||
                    std::any_of(plan.variations.begin(), plan.variations.end(),
                                [&](const NamedChange& change) { return with_epochs(change.set); }))) {
      throw UsageError("either --seconds, which says how many epochs there are, or epochs, not both");
    }
  }

  // Prints one line per configuration.
  static void print(const std::string& name, const std::vector<RunResult>& results, const ResultRow& row) {
    nlohmann::json line = experiment_json(results);
    line["configuration"] = name;
    line["parameters"] = results.front().parameters;
    line["epochs"] = results.front().epochs;
    for (const RunResult& result : results) line["seconds"].push_back(result.seconds);
    for (const auto& [metric, value] : row.differences) {
      line["differences"][metric] = value.mean;
      if (!std::isnan(value.deviation)) line["difference_deviations"][metric] = value.deviation;
    }
    std::cout << line.dump() << '\n' << std::flush;
  }
};

}  // namespace

Command add_graph_sweep_command(CLI::App& subcommand, const std::string& example, bool has_preset) {
  auto command = std::make_shared<SweepCommand>();
  command->has_preset = has_preset;
  subcommand.add_option("CONFIG", command->given.configs,
                        "TOML files, an experiment each (default: one, as train has it without --config)");
  subcommand.add_option("--list", command->list,
                        "TOML file of what is compared (configs, set, vary, variations), to be added to");
  subcommand.add_option("--out", command->out, "folder for the runs and the table; one that is there is continued")
      ->required();
  subcommand.add_option("--data", command->data, "dataset: a folder (default: the configuration's)");
  subcommand.add_option("--set", command->given.set, "KEY=VALUE for all configurations; may be repeated")->take_all();
  subcommand
      .add_option("--vary", command->given.vary,
                  "KEY=VALUE,VALUE: every combination is run; may be repeated; a value may bring others along, as in "
                  "attention=sampling,none+local=gcn")
      ->take_all();
  subcommand
      .add_option("--seed", command->seed, "of the first run of every configuration (default: the configuration's)")
      ->check(CLI::NonNegativeNumber);
  subcommand
      .add_option("--seconds", command->seconds,
                  "of training a run: as many epochs as fit, found by training one; validations are included")
      ->check(CLI::Range(1e-3, 1e9));
  auto* csv = subcommand.add_flag("--csv", command->csv, "print the table as CSV instead of Markdown");
  subcommand.add_flag("--json", command->json, "print one JSON object a configuration instead")->excludes(csv);
  command->runtime.add_to(subcommand);
  subcommand.footer("For example: " + example);
  return [command] { return command->execute(); };
}

}  // namespace geosft
