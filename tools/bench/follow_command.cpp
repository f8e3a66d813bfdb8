// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <iomanip>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tools/bench/bench_options.h"
#include "tools/bench/commands.h"
#include "tools/bench/follow.h"
#include "tools/bench/table.h"
#include "tools/experiment/arguments.h"
#include "tools/experiment/main_guard.h"
#include "tools/experiment/progress.h"
#include "tools/experiment/report_texts.h"

namespace geosft::bench {
namespace {

constexpr size_t shown_losses = 10;

nlohmann::json curves_json(const Followed& curves) {
  return {{"polynomial", {{"losses", curves.polynomial.losses}, {"step_seconds", curves.polynomial.seconds}}},
          {"exact", {{"losses", curves.exact.losses}, {"step_seconds", curves.exact.seconds}}},
          {"largest_difference", curves.largest_difference()}};
}

std::string curves_text(const std::string& title, const Followed& curves) {
  std::ostringstream text;
  const size_t steps = curves.exact.losses.size(), every = (steps + shown_losses - 1) / shown_losses;
  text << title << ": step, loss with polynomial attention, with exact attention\n" << std::fixed;
  for (size_t i = 0; i < steps; ++i) {
    if (i % every != 0 && i + 1 != steps) continue;
    text << std::setw(6) << i + 1 << std::setprecision(5) << std::setw(11) << curves.polynomial.losses[i]
         << std::setw(11) << curves.exact.losses[i] << "\n";
  }
  text << "largest difference " << std::scientific << std::setprecision(1) << curves.largest_difference()
       << "; a step takes " << duration(curves.polynomial.seconds) << " and " << duration(curves.exact.seconds)
       << std::fixed << ", " << curves.exact.seconds / curves.polynomial.seconds << " times as long\n";
  return text.str();
}

struct FollowCommand {
  MachineOptions machine;
  FollowOptions options;
  std::string data;
  int64_t documents = 64, tokens = 4096;
  double allowed = 1e-3;
  bool json = false;

  int execute() {
    machine.apply();
    install_interrupt_handler();
    if (options.width % options.heads != 0) {
      throw UsageError("--heads must divide --width " + std::to_string(options.width) + ", got " +
                       std::to_string(options.heads));
    }
    const ByteDocuments read = read_documents(data, documents, tokens);
    ProgressBar progress("steps", options.steps + options.prompt_steps);
    const FollowResult result = follow(read, options, [&](int64_t done) {
      throw_if_interrupted("in the middle of a training");
      progress.update(done);
    });
    progress.finish();
    print(result);
    for (const Followed* const curves : {&result.training, &result.prompt}) {
      const double difference = curves->largest_difference();
      TORCH_CHECK(difference <= allowed, "the losses differ by ", difference, ", more than --allow ", allowed);
    }
    return 0;
  }

 private:
  void print(const FollowResult& result) const {
    if (json) {
      nlohmann::json all{{"training", curves_json(result.training)}, {"attention", attention_json(result.degrees)}};
      if (options.prompt_steps > 0) all["prompt"] = curves_json(result.prompt);
      std::cout << all.dump() << '\n';
      return;
    }
    std::cout << curves_text("training", result.training) << attention_text(result.degrees);
    if (options.prompt_steps > 0) std::cout << curves_text("tuning a prompt of the frozen model", result.prompt);
  }
};

void add_model_options(CLI::App& subcommand, FollowOptions& options) {
  const auto add = [&](const char* name, int64_t& target, int64_t minimum, const char* help) {
    subcommand.add_option(name, target, help)->check(CLI::Range(minimum, int64_t{1} << 30))->capture_default_str();
  };
  add("--width", options.width, 1, "width of a token");
  add("--heads", options.heads, 1, "heads");
  add("--layers", options.layers, 1, "layers");
  add("--degree", options.polynomial.degree, 0, "of the polynomial, without --tolerance");
  subcommand
      .add_option("--tolerance", options.polynomial.tolerance,
                  "error of attention weights that each call chooses the degree for; 0: --degree")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  add("--steps", options.steps, 1, "of the training");
  add("--batch", options.batch, 1, "documents a step");
  add("--prompt-tokens", options.prompt_tokens, 1, "of the prompt that is tuned for the frozen model");
  add("--prompt-steps", options.prompt_steps, 0, "of the tuning; 0: none");
  subcommand.add_option("--seed", options.seed, "of the weights")->capture_default_str();
}

}  // namespace

Command add_follow_command(CLI::App& subcommand) {
  auto command = std::make_shared<FollowCommand>();
  subcommand.add_option("--data", command->data, "file of lines LABEL TAB … TAB TEXT with labels 0 and 1")->required();
  subcommand.add_option("--documents", command->documents, "that are put together from its texts")
      ->check(CLI::Range(2, 1 << 30))
      ->capture_default_str();
  subcommand.add_option("--tokens", command->tokens, "bytes of a document")
      ->check(CLI::Range(1, 1 << 30))
      ->capture_default_str();
  add_model_options(subcommand, command->options);
  subcommand.add_option("--allow", command->allowed, "difference of the losses of a step above which this is an error")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  subcommand.add_flag("--json", command->json, "print one JSON object");
  command->machine.add_to(subcommand);
  return [command] { return command->execute(); };
}

}  // namespace geosft::bench
