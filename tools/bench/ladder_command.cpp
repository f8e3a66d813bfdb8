// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <iomanip>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tools/bench/attention_inputs.h"
#include "tools/bench/bench_options.h"
#include "tools/bench/commands.h"
#include "tools/bench/ladder/ladder.h"
#include "tools/bench/machine.h"
#include "tools/bench/table.h"
#include "tools/bench/timing.h"

namespace geosft::bench {
namespace {

constexpr double tolerance = 1e-5;

struct LadderCommand : TimedSizes {
  int execute() const {
    apply();
    const Machine here = measure_machine();
    const PackedInputs in = random_inputs(sizes, sizes.keys.front());
    at::Tensor out = at::empty_like(in.q);
    const LadderProblem problem{sizes.batch,
                                sizes.tokens,
                                sizes.keys.front(),
                                sizes.heads,
                                sizes.channels(),
                                in.q.const_data_ptr<float>(),
                                in.k.const_data_ptr<float>(),
                                in.v.const_data_ptr<float>(),
                                in.leak.const_data_ptr<float>(),
                                out.mutable_data_ptr<float>()};
    const std::vector<double> errors = checked(problem);
    std::vector<std::function<void()>> calls;
    for (const KernelVariant& variant : ladder()) calls.emplace_back([&] { variant.run(problem); });
    print(here, problem, errors, time_in_turns(calls, timing));
    return 0;
  }

 private:
  // Returns the error of every variant. Throws if one is too large.
  static std::vector<double> checked(const LadderProblem& problem) {
    const std::vector<double> reference = ladder_reference(problem);
    std::vector<double> errors;
    for (const KernelVariant& variant : ladder()) {
      std::fill_n(problem.out, reference.size(), 0.0F);
      variant.run(problem);
      errors.push_back(ladder_error(problem, reference));
      TORCH_CHECK(errors.back() <= tolerance, "variant ", variant.name,
                  " differs from the double-precision reference by ", errors.back(),
                  " of the largest value, expected at most ", tolerance);
    }
    return errors;
  }

  void print(const Machine& here, const LadderProblem& problem, const std::vector<double>& errors,
             const std::vector<Timing>& timings) const {
    const auto elements = static_cast<double>(problem.elements());
    const double bound = bound_seconds({elements, elements, 0}, here.rates);
    nlohmann::json rows = nlohmann::json::array();
    std::ostringstream text;
    text << machine_text(here)
         << "\nerror: against double precision, of the largest value; bound: share of the time of "
         << "the arithmetic alone\n\n";
    for (size_t i = 0; i < timings.size(); ++i) {
      const KernelVariant& variant = ladder()[i];
      const double share = bound / timings[i].minimum;
      rows.push_back({{"rung", variant.name},
                      {"lesson", variant.lesson},
                      {"seconds", timings[i].minimum},
                      {"median_seconds", timings[i].median},
                      {"bound_share", share},
                      {"error", errors[i]}});
      text << std::left << std::setw(22) << variant.name << std::right << std::setw(9) << duration(timings[i].minimum)
           << "  x " << std::fixed << std::setprecision(2) << std::setw(6)
           << timings[i].minimum / timings.back().minimum << "  bound " << share << "  error " << std::scientific
           << std::setprecision(0) << errors[i] << "  " << variant.lesson << "\n";
    }
    if (json) {
      std::cout << nlohmann::json{{"machine", machine_json(here)}, {"rungs", rows}}.dump() << '\n';
    } else {
      std::cout << text.str();
    }
  }
};

}  // namespace

Command add_ladder_command(CLI::App& subcommand) {
  return timed_command<LadderCommand>(subcommand, "one JSON object");
}

}  // namespace geosft::bench
