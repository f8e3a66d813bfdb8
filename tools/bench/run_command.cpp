// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <filesystem>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "data/atomic_file.h"
#include "tools/bench/bench_options.h"
#include "tools/bench/catalogue.h"
#include "tools/bench/commands.h"
#include "tools/bench/measurement.h"
#include "tools/bench/scaling.h"
#include "tools/bench/table.h"
#include "tools/experiment/arguments.h"
#include "tools/experiment/main_guard.h"
#include "tools/experiment/progress.h"

namespace geosft::bench {
namespace {

void stop_if_interrupted() {
  if (interrupted()) throw Interrupted("nothing was written");
}

struct RunCommand {
  MachineOptions machine;
  Sizes sizes;
  TimingOptions timing;
  std::vector<std::string> only;
  std::string out, compare, roofline;
  int64_t scaling_to = int64_t{1} << 20, scaling_degree = 0;
  std::string scaling_of = "maxout_attention";
  bool list = false, json = false, scaling = false;

  int execute() const {
    check_sizes(sizes);
    if (scaling_degree > 0 && scaling_of != "maxout_attention") {
      throw UsageError("--scaling-degree is of polynomial_attention, not of " + scaling_of);
    }
    const Entries entries = chosen_entries(all_entries(sizes), only);
    if (list) {
      for (const Entry& entry : entries) std::cout << entry.name << "  (" << entry.about << ")\n";
      return 0;
    }
    const std::optional<Results> before = compare.empty() ? std::nullopt : std::optional(read_results(compare));
    require_folder("--out", out);
    require_folder("--roofline", roofline);
    machine.apply();
    install_interrupt_handler();
    Results results{measure_machine(), sizes, {}};
    if (!scaling || !only.empty()) measure_entries(entries, results);
    const std::string growth = scaling ? measure_growth(results) : "";
    report(results, growth, before);
    return 0;
  }

 private:
  // Checks output folders before minutes of measuring.
  static void require_folder(const std::string& option, const std::string& file) {
    if (file.empty()) return;
    const std::filesystem::path folder = std::filesystem::absolute(file).parent_path();
    if (!std::filesystem::is_directory(folder)) {
      throw UsageError(option + ": no folder '" + folder.string() + "'");
    }
  }

  void measure_entries(const Entries& entries, Results& results) const {
    ProgressBar progress("measuring", static_cast<int64_t>(entries.size()));
    for (size_t i = 0; i < entries.size(); ++i) {
      progress.update(static_cast<int64_t>(i), entries[i].name);
      const Benchmark benchmark = entries[i].make();
      for (Measurement& one : measure(benchmark, timing, results.machine.rates, stop_if_interrupted)) {
        results.measurements.push_back(std::move(one));
      }
    }
    progress.update(static_cast<int64_t>(entries.size()));
    progress.finish();
  }

  std::string measure_growth(Results& results) const {
    ProgressBar progress("scaling", scaling_to);
    const Scaling grown =
        measure_scaling(scaled_implementation(), sizes, scaling_to, timing, results.machine.rates, [&](int64_t tokens) {
          stop_if_interrupted();
          progress.update(tokens);
        });
    progress.finish();
    results.measurements.insert(results.measurements.end(), grown.measurements.begin(), grown.measurements.end());
    return scaling_text(grown);
  }

  // Degree 0, which would be the mean of the values, stands for "no polynomial".
  ScaledImplementation scaled_implementation() const {
    if (scaling_of == "graph_attention") return graph_attention_over_keys(sizes.keys.front());
    if (scaling_of == "random_walk_pe") return walks_on_grid();
    return scaling_degree > 0 ? polynomial_over_all(scaling_degree) : maxout_over_keys(sizes.keys.front());
  }

  void report(const Results& results, const std::string& growth, const std::optional<Results>& before) const {
    const nlohmann::json document = results_json(results);
    if (!out.empty()) write_file_atomically(out, document.dump(1) + "\n");
    // With --json, stdout is machine-readable and text goes to stderr.
    std::ostream& text = json ? std::cerr : std::cout;
    if (json) {
      std::cout << document.dump() << '\n';
    } else {
      text << machine_text(results.machine) << '\n' << table(results.measurements);
    }
    if (!growth.empty()) text << '\n' << growth;
    if (before) text << "\nagainst " << compare << ":\n" << comparison(*before, results);
    if (roofline.empty()) return;
    if (const PlotResult drawn = draw_roofline(results, roofline); !drawn) {
      std::cerr << "the roofline was not drawn: " << drawn.reason << '\n';
    }
  }
};

}  // namespace

Command add_run_command(CLI::App& subcommand) {
  auto command = std::make_shared<RunCommand>();
  subcommand.add_flag("--list", command->list, "name the measurements and stop");
  subcommand.add_option("--only", command->only, "measure these: names of --list, or what they begin with");
  add_sizes(subcommand, command->sizes);
  subcommand.add_option("--repeats", command->timing.repeats, "rounds of implementations in turns, at least")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  subcommand
      .add_option("--seconds", command->timing.seconds, "an implementation's calls go on until they took so long")
      ->check(CLI::Range(0.0, 3600.0))
      ->capture_default_str();
  subcommand.add_flag("--scaling", command->scaling,
                      "measure how attention grows with the tokens; alone unless --only");
  subcommand.add_option("--scaling-to", command->scaling_to, "maximum number of tokens of --scaling")
      ->check(CLI::Range(int64_t{2}, int64_t{1} << 30))
      ->capture_default_str();
  subcommand
      .add_option(
          "--scaling-of", command->scaling_of,
          "what --scaling measures: graph_attention on random graphs of 8 edges a node, random_walk_pe on grids")
      ->check(CLI::IsMember({"maxout_attention", "graph_attention", "random_walk_pe"}))
      ->capture_default_str();
  subcommand
      .add_option("--scaling-degree", command->scaling_degree,
                  "--scaling of polynomial_attention of this degree over all tokens; 0: of maxout_attention")
      ->check(CLI::Range(0, 64))
      ->capture_default_str();
  subcommand.add_flag("--json", command->json, "print one JSON object instead of a table");
  subcommand.add_option("--out", command->out, "also write the JSON to this file");
  subcommand.add_option("--compare", command->compare, "show the change against a file of an earlier --out");
  subcommand.add_option("--roofline", command->roofline, "draw PREFIX.png and PREFIX.svg");
  command->machine.add_to(subcommand);
  return [command] { return command->execute(); };
}

}  // namespace geosft::bench
