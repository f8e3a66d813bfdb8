// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/measurement.h"

#include <nlohmann/json.hpp>

#include "data/formats/shape_file.h"
#include "data/read_file.h"
#include "tools/bench/peak_memory.h"

namespace geosft::bench {
namespace {

int64_t bytes_of(const Tensors& tensors) {
  int64_t bytes = 0;
  for (const at::Tensor& tensor : tensors) bytes += tensor.numel() * tensor.element_size();
  return bytes;
}

nlohmann::json sizes_json(const Sizes& sizes) {
  return {{"batch", sizes.batch}, {"tokens", sizes.tokens}, {"width", sizes.width},
          {"heads", sizes.heads}, {"keys", sizes.keys},     {"seed", sizes.seed}};
}

Sizes sizes_from_json(const nlohmann::json& json) {
  return {json.at("batch"), json.at("tokens"), json.at("width"), json.at("heads"), json.at("keys"), json.at("seed")};
}

nlohmann::json measurement_json(const Measurement& one) {
  nlohmann::json json = {{"benchmark", one.benchmark},
                         {"contender", one.implementation},
                         {"seconds",
                          {{"minimum", one.timing.minimum},
                           {"lower_quartile", one.timing.lower_quartile},
                           {"median", one.timing.median},
                           {"upper_quartile", one.timing.upper_quartile}}},
                         {"cpu_seconds", one.timing.cpu},
                         {"repeats", one.timing.repeats},
                         {"geosft_ratio", one.geosft_ratio},
                         {"geosft_cpu_ratio", one.geosft_cpu_ratio},
                         {"peak_bytes", one.peak_bytes},
                         {"result_bytes", one.result_bytes}};
  if (one.work) {
    json["work"] = {
        {"max_add", one.work->max_add}, {"multiply_add", one.work->multiply_add}, {"bytes", one.work->bytes}};
  }
  if (one.bound) {
    json["bound_seconds"] = *one.bound;
    json["bound_share"] = one.share();
  }
  if (one.items > 0) {
    json["items"] = one.items;
    json["items_are"] = one.items_are;
    json["items_per_second"] = one.items / one.timing.minimum;
  }
  if (one.keys > 0) json["keys_per_query"] = one.keys;
  return json;
}

Measurement measurement_from_json(const nlohmann::json& json) {
  const nlohmann::json& seconds = json.at("seconds");
  Measurement one{json.at("benchmark"), json.at("contender"),
                  Timing{seconds.at("minimum"), seconds.at("lower_quartile"), seconds.at("median"),
                         seconds.at("upper_quartile"), json.at("cpu_seconds"), json.at("repeats")}};
  one.geosft_ratio = json.at("geosft_ratio");
  one.geosft_cpu_ratio = json.at("geosft_cpu_ratio");
  one.peak_bytes = json.at("peak_bytes");
  one.result_bytes = json.at("result_bytes");
  if (json.contains("work")) {
    const nlohmann::json& work = json.at("work");
    one.work = Work{work.at("max_add"), work.at("multiply_add"), work.at("bytes")};
  }
  if (json.contains("bound_seconds")) one.bound = json.at("bound_seconds").get<double>();
  if (json.contains("items")) {
    one.items = json.at("items");
    one.items_are = json.at("items_are");
  }
  if (json.contains("keys_per_query")) one.keys = json.at("keys_per_query");
  return one;
}

}  // namespace

std::vector<Measurement> measure(const Benchmark& benchmark, const TimingOptions& options, const TileRates& rates,
                                 const std::function<void()>& stop) {
  check_agreement(benchmark);
  std::vector<Measurement> measurements;
  std::vector<std::function<void()>> calls;
  for (const Implementation& implementation : benchmark.implementations) {
    Measurement one{benchmark.name, implementation.name, {}};
    one.items = benchmark.items;
    one.items_are = benchmark.items_are;
    one.keys = implementation.keys > 0 ? implementation.keys : benchmark.keys;
    one.work = implementation.work;
    if (implementation.work) one.bound = bound_seconds(*implementation.work, rates);
    stop();
    one.peak_bytes = peak_tensor_bytes([&] { one.result_bytes = bytes_of(implementation.run()); });
    measurements.push_back(std::move(one));
    calls.emplace_back([&implementation] { implementation.run(); });
  }
  const std::vector<Timing> timings = time_in_turns(calls, options, stop);
  for (size_t i = 0; i < timings.size(); ++i) {
    measurements[i].timing = timings[i];
    measurements[i].geosft_ratio = timings[0].minimum / timings[i].minimum;
    measurements[i].geosft_cpu_ratio = timings[0].cpu / timings[i].cpu;
  }
  return measurements;
}

nlohmann::json results_json(const Results& results) {
  nlohmann::json measurements = nlohmann::json::array();
  for (const Measurement& one : results.measurements) measurements.push_back(measurement_json(one));
  return {{"machine", machine_json(results.machine)},
          {"sizes", sizes_json(results.sizes)},
          {"measurements", std::move(measurements)}};
}

Results read_results(const std::filesystem::path& file) {
  const std::string text = read_file(file);
  try {
    const nlohmann::json json = nlohmann::json::parse(text);
    Results results{machine_from_json(json.at("machine")), sizes_from_json(json.at("sizes")), {}};
    for (const nlohmann::json& one : json.at("measurements")) {
      results.measurements.push_back(measurement_from_json(one));
    }
    return results;
  } catch (const nlohmann::json::exception& error) {
    throw DataError(file, "measurements as geosft-bench run --out leaves them", error.what());
  }
}

}  // namespace geosft::bench
