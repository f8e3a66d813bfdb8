// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <iomanip>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tools/bench/bench_options.h"
#include "tools/bench/commands.h"
#include "tools/bench/layer_parts.h"
#include "tools/bench/table.h"
#include "tools/experiment/main_guard.h"

namespace geosft::bench {
namespace {

constexpr double giga = 1e9;

double total_flops(const LayerParts& layer) {
  double total = 0;
  for (const LayerPart& part : layer.parts) total += part.flops;
  return total;
}

std::string as_table(const LayerParts& layer, int64_t tokens) {
  std::ostringstream text;
  text << "one layer, " << tokens << " tokens per item, " << layer.keys << " sampled, forward\n"
       << "| part | GFLOP | share | time | share | GFLOP/s |\n|---|---|---|---|---|---|\n"
       << std::fixed;
  const auto row = [&](const std::string& name, double flops, double seconds) {
    text << "| " << name << " | " << std::setprecision(3) << flops / giga << " | " << std::setprecision(1)
         << 100 * flops / total_flops(layer) << " % | " << duration(seconds) << " | " << std::setprecision(1)
         << 100 * seconds / layer.layer.minimum << " % | " << flops / seconds / giga << " |\n";
  };
  for (const LayerPart& part : layer.parts) row(part.name, part.flops, part.timing.minimum);
  row("layer", total_flops(layer), layer.layer.minimum);
  return text.str();
}

nlohmann::json as_json(const LayerParts& layer) {
  nlohmann::json parts = nlohmann::json::array();
  for (const LayerPart& part : layer.parts) {
    parts.push_back({{"part", part.name}, {"flops", part.flops}, {"seconds", part.timing.minimum}});
  }
  return {{"keys", layer.keys}, {"parts", parts}, {"flops", total_flops(layer)}, {"seconds", layer.layer.minimum}};
}

struct PartsCommand : TimedSizes {
  int execute() const {
    apply();
    install_interrupt_handler();
    nlohmann::json all = nlohmann::json::array();
    for (const int64_t keys : sizes.keys) {
      const LayerParts layer = measure_layer_parts(sizes, keys, timing, [] { throw_if_interrupted("in a layer"); });
      if (json) {
        all.push_back(as_json(layer));
      } else {
        std::cout << as_table(layer, sizes.tokens);
      }
    }
    if (json) std::cout << all.dump() << '\n';
    return 0;
  }
};

}  // namespace

Command add_parts_command(CLI::App& subcommand) {
  return timed_command<PartsCommand>(subcommand, "one JSON array");
}

}  // namespace geosft::bench
