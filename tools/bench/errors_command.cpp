// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <iomanip>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>

#include "models/ops/monomials.h"
#include "models/ops/polynomial_attention.h"
#include "tools/bench/bench_options.h"
#include "tools/bench/commands.h"
#include "tools/bench/polynomial_errors.h"
#include "tools/experiment/arguments.h"
#include "tools/experiment/main_guard.h"

namespace geosft::bench {
namespace {

struct ErrorRow {
  ErrorNetwork network;
  std::string of;  // mask and loss
  int64_t degree;
  NetworkErrors errors;
};

struct ErrorsCommand {
  MachineOptions machine;
  std::vector<int64_t> layers = {1, 2, 4}, degrees = {2, 4, 6, 8, 10};
  std::vector<double> scores = {1.0};
  int64_t heads = 2, channels = 8;
  double mean = 0.0;
  std::string gradient = "exact";
  bool center = false, feed_forward = false, each = false, json = false;

  int execute() const {
    check_degrees();
    machine.apply();
    install_interrupt_handler();
    std::vector<ErrorRow> rows;
    for (const int64_t count : layers) {
      for (const double score : scores) {
        for (const int64_t degree : degrees) append(rows, network_of(count, score), degree);
      }
    }
    std::cout << (json ? as_json(rows) : as_table(rows));
    return 0;
  }

 private:
  void check_degrees() const {
    for (const int64_t degree : degrees) {
      const int64_t monomials = monomial_count(channels, degree);
      if (monomials <= kMaxMonomials) continue;
      throw UsageError("--degrees " + std::to_string(degree) + ": heads of " + std::to_string(channels) +
                       " channels (--channels) have " + std::to_string(monomials) + " monomials then, at most " +
                       std::to_string(kMaxMonomials) + " are computed with");
    }
  }

  ErrorNetwork network_of(int64_t count, double score) const {
    return {.layers = count,
            .heads = heads,
            .largest_score = score,
            .channels = channels,
            .center = center,
            .mean = mean,
            .feed_forward = feed_forward};
  }

  // Measures both losses, without the causal mask and, unless keys are centred, with it. Appends a row for each case,
  // or one with the maximum errors.
  void append(std::vector<ErrorRow>& rows, ErrorNetwork network, int64_t degree) const {
    ErrorRow all{network, "all", degree, {}};
    const PolynomialGradient chosen = gradient == "paper" ? PolynomialGradient::paper : PolynomialGradient::exact;
    for (const bool causal : {false, true}) {
      if (causal && center) continue;  // the mean of all keys includes future ones
      for (const bool cross_entropy : {false, true}) {
        throw_if_interrupted("in the middle of the table");
        network.causal = causal;
        network.cross_entropy = cross_entropy;
        const NetworkErrors errors = network_errors(network, degree, chosen);
        const std::string of = std::string(causal ? "causal, " : "") + (cross_entropy ? "cross entropy" : "squares");
        if (each) rows.push_back({network, of, degree, errors});
        all.errors.raise(errors);
      }
    }
    if (!each) rows.push_back(all);
  }

  std::string as_table(const std::vector<ErrorRow>& rows) const {
    std::ostringstream text;
    text << "| layers |" << (each ? " network |" : "")
         << " R | degree | out | dX | dprompt | dW_Q | dW_K | dW_V | dW_O |" << (feed_forward ? " dW_1 | dW_2 |" : "")
         << "\n|---|" << (each ? "---|" : "") << "---|---|---|---|---|---|---|---|---|"
         << (feed_forward ? "---|---|" : "") << "\n";
    for (const ErrorRow& row : rows) {
      const NetworkErrors& e = row.errors;
      text << "| " << row.network.layers << " | " << (each ? row.of + " | " : "") << std::defaultfloat
           << row.network.largest_score << " | " << row.degree << std::scientific << std::setprecision(0);
      for (const double error : {e.out, e.x, e.prompt, e.w_q, e.w_k, e.w_v, e.w_o}) text << " | " << error;
      if (feed_forward) text << " | " << e.w_1 << " | " << e.w_2;
      text << " |\n";
    }
    return text.str();
  }

  std::string as_json(const std::vector<ErrorRow>& rows) const {
    nlohmann::json list = nlohmann::json::array();
    for (const ErrorRow& row : rows) {
      const NetworkErrors& e = row.errors;
      list.push_back(
          {{"layers", row.network.layers},
           {"heads", row.network.heads},
           {"channels", row.network.channels},
           {"center", row.network.center},
           {"mean", row.network.mean},
           {"feed_forward", row.network.feed_forward},
           {"network", row.of},
           {"largest_score", row.network.largest_score},
           {"degree", row.degree},
           {"gradient", gradient},
           {"out", e.out},
           {"gradients",
            {{"x", e.x}, {"prompt", e.prompt}, {"w_q", e.w_q}, {"w_k", e.w_k}, {"w_v", e.w_v}, {"w_o", e.w_o}}}});
      if (feed_forward) list.back()["gradients"].update({{"w_1", e.w_1}, {"w_2", e.w_2}});
    }
    return list.dump() + "\n";
  }
};

}  // namespace

Command add_errors_command(CLI::App& subcommand) {
  auto command = std::make_shared<ErrorsCommand>();
  subcommand.add_option("--layers", command->layers, "layers of the networks")
      ->check(CLI::Range(1, 64))
      ->delimiter(',')
      ->capture_default_str();
  subcommand.add_option("--heads", command->heads, "heads of each layer")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  subcommand.add_option("--channels", command->channels, "of a head; few channels make high degrees affordable")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  subcommand.add_option("--scores", command->scores, "R = max |scale q . k| of every layer")
      ->check(CLI::Range(1e-6, 100.0))
      ->delimiter(',')
      ->capture_default_str();
  subcommand.add_option("--degrees", command->degrees, "degrees of the polynomial")
      ->check(CLI::Range(int64_t{0}, kMaxMonomials))
      ->delimiter(',')
      ->capture_default_str();
  subcommand.add_flag("--center", command->center,
                      "centre the keys before the polynomial sees them; networks with the causal mask are left out");
  subcommand.add_flag("--feed-forward", command->feed_forward,
                      "layers with layer normalisation and a feed-forward part, not attention alone");
  subcommand
      .add_option("--mean", command->mean,
                  "deviation of a random vector that all tokens share: what --center takes out of the keys")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  subcommand
      .add_option("--gradient", command->gradient,
                  "exact: of the polynomial form; paper: softmax's formula with the low-rank attention matrix")
      ->check(CLI::IsMember({"exact", "paper"}))
      ->capture_default_str();
  subcommand.add_flag(
      "--each", command->each,
      "a row for each mask (none, causal) and loss (squares, cross entropy), not the largest errors of all");
  subcommand.add_flag("--json", command->json, "print one JSON array");
  command->machine.add_to(subcommand);
  return [command] { return command->execute(); };
}

}  // namespace geosft::bench
