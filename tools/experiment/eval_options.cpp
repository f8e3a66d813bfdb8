// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/eval_options.h"

#include <CLI/CLI.hpp>

#include "data/data_error.h"
#include "tools/experiment/arguments.h"
#include "tools/experiment/key_names.h"
#include "tools/experiment/zoo.h"

namespace geosft {

void RunOverrides::add_to(CLI::App& subcommand, const std::string& data_help, const std::string& seed_help,
                          bool votes) {
  subcommand.add_option("--data", data_, data_help);
  if (votes) {
    subcommand.add_option("--votes", votes_, "passes whose logits are averaged")->check(CLI::Range(1, 1000000));
  }
  add_enum_option(subcommand, "--evaluation", &evaluation_, "mode of the samplers");
  add_enum_option(subcommand, "--precision", &precision_,
                  "of matrix products (default: float32); bfloat16 is faster, on CPUs with AVX512-BF16");
  subcommand.add_option("--seed", seed_, seed_help)->check(CLI::NonNegativeNumber);
  runtime_.add_to(subcommand);
}

void RunOverrides::require_recorded(const std::string& data, const std::filesystem::path& run) const {
  std::error_code error;
  if (data_ || !std::filesystem::path(data).is_absolute() || std::filesystem::exists(data, error)) return;
  throw DataError(data, "the data that " + run.string() + " was trained on, whose path it recorded",
                  "nothing of this name; --data DIR names where they are now");
}

void RunOverrides::check_precision(at::Device device, bool cpu_has_bfloat16) const {
  if (precision_ != EvaluationPrecision::bfloat16 || !device.is_cpu() || cpu_has_bfloat16) return;
  throw UsageError("--precision bfloat16 needs a CPU with AVX512-BF16, which this one lacks: leave it out for float32");
}

void RunOverrides::apply(std::string& data, uint64_t& seed, EvaluationSettings& evaluation) const {
  if (data_) data = *data_;
  if (seed_) seed = *seed_;
  if (evaluation_) evaluation.evaluation = *evaluation_;
  if (votes_) evaluation.votes = *votes_;
  if (precision_) evaluation.precision = *precision_;
}

void SizeOption::add_to(CLI::App& subcommand, std::optional<int64_t>& size) const {
  subcommand.add_option(name, size, help)->check(CLI::Range(low, int64_t{1} << 30));
}

void RunArguments::add_run_to(CLI::App& subcommand) {
  subcommand.add_option("RUN", run, "RUN folder, a checkpoint file, or the name of a pretrained model")->required();
}

void check_run_first(CLI::App& subcommand, const PredictedInputs& inputs) {
  CLI::Option* const run = subcommand.get_option("RUN");
  const CLI::Option* const files = subcommand.get_option_no_throw("FILE");  // predict has it
  run->each([&subcommand, inputs, files](const std::string& first) {
    if (subcommand.get_help_ptr()->count() > 0) return;
    const CLI::Option* const set = subcommand.get_option_no_throw("--data");  // in place of files
    const bool needs_file = files && (files->get_required() || inputs.file_or_data);
    const bool no_file = needs_file && files->count() == 0 && !(set && set->count() > 0);
    const bool is_run = names_run(first);
    if (!no_file && (is_run || !inputs.is_file(first))) return;
    const std::string tool = inputs.program;
    const std::vector<std::string> known = zoo_models(tool);
    const std::string model = known.size() == 1 ? known.front() : "RUN";  // several models take different files
    const std::string command = subcommand.get_name();
    const std::string form = tool + " " + command + " " + model + " " + inputs.example;
    if (is_run) throw UsageError("FILE is required: what to predict, after the RUN, as in " + form);
    throw UsageError(
        "'" + first + "' is no RUN: the first argument of " + command + " is a RUN folder, a checkpoint (*.ckpt) " +
        "or the name of a pretrained model, as in " + form + "; " +
        (known.empty() ? no_zoo_models_text(tool) : "pretrained models (" + tool + " list): " + listed(known)));
  });
}

void RunArguments::add_json_to(CLI::App& subcommand, const std::string& help) {
  subcommand.add_flag("--json", json, help);
}

int64_t CloudEvalOptions::turns() const {
  if (rotation != Rotation::none) return repeats.value_or(1);
  if (repeats.value_or(1) > 1)
    throw UsageError("--repeats needs --rotate z or --rotate so3: upright clouds are evaluated once");
  return 1;
}

void CloudEvalOptions::add_to(CLI::App& subcommand, const std::vector<std::string>& splits) {
  add_enum_option(subcommand, "--rotate", &rotation, "rotate the clouds: not at all, about z, or by any rotation");
  subcommand.add_flag(
      "--estimated-normals", estimated_normals,
      "estimate the normals of all clouds, as if they were scans: their own are not used; predict estimates "
      "those of files that have none");
  subcommand.add_option("--repeats", repeats, "rotations a cloud, with --rotate; 1 if not given")
      ->check(CLI::Range(1, 1000000));
  subcommand.add_option("--split", split, "which clouds")->check(CLI::IsMember(splits))->capture_default_str();
}

}  // namespace geosft
