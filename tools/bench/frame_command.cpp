// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <iomanip>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "tools/bench/commands.h"
#include "tools/bench/frame_proof.h"

namespace geosft::bench {
namespace {

struct FrameCommand {
  FrameProblem problem;
  bool json = false;

  int execute() const {
    const std::vector<FrameProof> proofs = prove_frame(problem);
    json ? print_json(proofs) : print_table(proofs);
    return 0;
  }

  static void print_json(const std::vector<FrameProof>& proofs) {
    for (const FrameProof& proof : proofs) {
      std::cout << nlohmann::json{{"attention", proof.name},
                                  {"pairs", proof.pairs},
                                  {"support_vectors", proof.support_vectors},
                                  {"spread", proof.spread},
                                  {"frame_difference", proof.by_frame},
                                  {"operator_difference", proof.by_operator}}
                       .dump()
                << '\n';
    }
  }

  static void print_table(const std::vector<FrameProof>& proofs) {
    std::cout << "Largest difference between LIBSVM's prediction less its bias and attention over the keys with the\n"
                 "values that its dual gives: by the frame, and by geosft::primal_attention.\n"
              << "attention     pairs  support vectors  spread of predictions  by the frame  by the operator\n";
    for (const FrameProof& proof : proofs) {
      std::cout << std::left << std::setw(12) << proof.name << std::right << std::setw(7) << proof.pairs
                << std::setw(17) << proof.support_vectors << std::setprecision(3) << std::setw(23) << proof.spread
                << std::setw(14) << proof.by_frame << std::setw(17) << proof.by_operator << '\n';
    }
  }
};

}  // namespace

Command add_frame_command(CLI::App& subcommand) {
  auto command = std::make_shared<FrameCommand>();
  FrameProblem& problem = command->problem;
  const auto count = [&](const char* name, int64_t& target, const char* about) {
    subcommand.add_option(name, target, about)->check(CLI::Range(int64_t{1}, int64_t{4000}))->capture_default_str();
  };
  count("--keys", problem.keys, "pairs of keys and targets");
  count("--queries", problem.queries, "points that predictions are compared at");
  count("--channels", problem.channels, "of keys and queries");
  count("--outputs", problem.outputs, "regressions, one a column of the targets");
  count("--factor", problem.factor, "pooling factor of the scaled head");
  count("--window", problem.window, "side of the kernels of convolution");
  subcommand.add_option("--beta", problem.beta, "of recentring")->capture_default_str();
  subcommand.add_option("--cost", problem.regression.cost, "C of the regression")
      ->check(CLI::Range(1e-9, 1e9))
      ->capture_default_str();
  subcommand.add_option("--epsilon", problem.regression.epsilon, "half the width of its tube")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  subcommand.add_option("--seed", problem.seed, "of everything random")->capture_default_str();
  subcommand.add_flag("--json", command->json, "print a JSON object a line");
  return [command] { return command->execute(); };
}

}  // namespace geosft::bench
