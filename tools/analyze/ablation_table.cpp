// SPDX-License-Identifier: Apache-2.0
#include "tools/analyze/ablation_table.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "tools/experiment/arguments.h"

namespace geosft {
namespace {

const Summary& accuracy_of(const ResultRow& row) {
  return std::find_if(row.values.begin(), row.values.end(), [](const auto& value) { return value.first == "accuracy"; })
      ->second;
}

struct SamplerVariant {
  bool hard, with_replacement, noise;
  PairWeighting weighting;
};
constexpr SamplerVariant sampler_variants[] = {{false, false, true, PairWeighting::softplus},
                                               {true, false, true, PairWeighting::softplus},
                                               {false, false, true, PairWeighting::gumbel_softmax},
                                               {false, true, true, PairWeighting::softplus},
                                               {false, false, false, PairWeighting::softplus}};

// Returns the changes that turn the configured sampler into the variant; empty if they are equal.
std::string change_to(const SamplerVariant& variant, const ClassifyModelSettings& model) {
  std::string change;
  const auto set = [&](const std::string& key, const std::string& wanted, const std::string& present) {
    if (wanted != present) change += (change.empty() ? "" : "+") + key + "=" + wanted;
  };
  const auto text = [](bool value) { return std::string(value ? "true" : "false"); };
  set("hard", text(variant.hard), text(model.sampling.hard));
  set("weighting", name_of(variant.weighting), name_of(model.sampling.weighting));
  set("with_replacement", text(variant.with_replacement), text(model.sampling.with_replacement));
  set("noise", text(variant.noise), text(model.sampling.noise));
  return change;
}

// Number of tokens that a layer samples per cloud.
int64_t sampled(const ClassifySettings& settings, int64_t num_samples) {
  return sample_count(settings.clouds.points, settings.model.sampler(num_samples));
}

}  // namespace

std::vector<Ablation> ablations(const ClassifySettings& settings, const std::vector<std::string>& changes) {
  std::vector<Ablation> all = {{"as configured", settings}};
  for (const std::string& change : changes) {
    Ablation ablation{change, settings};
    const Config config = ablation.settings.config();
    std::istringstream parts(change);
    for (std::string part; std::getline(parts, part, '+');) {
      const size_t equals = part.find('=');
      if (equals == 0 || equals == std::string::npos) {
        throw UsageError("--change: expected KEY=VALUE, found '" + part + "'");
      }
      config.assign(part.substr(0, equals), part.substr(equals + 1));
    }
    ablation.settings.check();
    all.push_back(ablation);
  }
  return all;
}

std::vector<std::string> usual_changes(const ClassifySettings& settings) {
  const ClassifyModelSettings& model = settings.model;
  if (model.kind() != AttentionKind::sampling) {
    throw UsageError("the usual ablations are of attention = sampling, found " + model.attention +
                     ": name others with --change");
  }
  const std::string score = model.score == ScoreKind::maxout ? "score=dot" : "score=maxout";
  const std::string probability =
      model.probability == ProbabilityKind::leaky_relu ? "probability=softmax" : "probability=leaky_relu";
  std::vector<std::string> changes = {score, probability, score + "+" + probability};
  for (const int64_t num_samples :
       {std::max<int64_t>(model.sampling.num_samples / 4, 1), 2 * model.sampling.num_samples}) {
    if (sampled(settings, num_samples) != sampled(settings, model.sampling.num_samples))
      changes.push_back("num_samples=" + std::to_string(num_samples));
  }
  for (const SamplerVariant& variant : sampler_variants) {
    if (const std::string change = change_to(variant, model); !change.empty()) changes.push_back(change);
  }
  return changes;
}

std::vector<std::pair<std::string, std::string>> ablation_labels(const ClassifySettings& settings) {
  const ClassifyModelSettings& model = settings.model;
  std::string sampler = model.sampling.with_replacement                             ? "with replacement"
                        : model.sampling.hard                                       ? "hard"
                        : model.sampling.weighting == PairWeighting::gumbel_softmax ? "Gumbel softmax"
                                                                                    : "two-way softplus";
  if (!model.sampling.noise) sampler += ", without noise";
  return {{"score", name_of(model.score)},
          {"probability", name_of(model.probability)},
          {"k", std::to_string(sampled(settings, model.sampling.num_samples))},
          {"sampler", sampler}};
}

PlotResult plot_ablations(const std::vector<ResultRow>& rows, const std::string& title,
                          const std::filesystem::path& stem) {
  Picture picture{.width = 760, .height = 130 + 34 * static_cast<int>(rows.size())};
  std::ostringstream data, tics;
  for (size_t i = 0; i < rows.size(); ++i) {
    const Summary& accuracy = accuracy_of(rows[i]);
    data << 100 * accuracy.mean << ' ' << i << ' ' << (std::isnan(accuracy.deviation) ? 0.0 : 100 * accuracy.deviation)
         << '\n';
    tics << (i == 0 ? "" : ", ") << gnuplot_tic(rows[i].name) << ' ' << i;
  }
  picture.data["bars"] = data.str();
  std::ostringstream script;
  script << "set title " << gnuplot_string(title) << "\nset xlabel 'accuracy (%)'\nset xrange [0:100]\nset yrange ["
         << static_cast<double>(rows.size()) - 0.4 << ":-0.6]\nset ytics (" << tics.str()
         << ") scale 0\nunset key\nset grid xtics lc rgb '#e4e4e4' lt 1\nset border 1\nset tics nomirror\n"
         << "set arrow 1 from " << 100 * accuracy_of(rows.front()).mean << ", graph 0 to "
         << 100 * accuracy_of(rows.front()).mean << ", graph 1 nohead dt 2 lc rgb '#888888'\n"
         << "plot 'bars' using (0.5*$1):2:(0.5*$1):(0.3) with boxxyerror fs solid 0.8 noborder lc rgb '#4477aa', "
         << "'' using 1:2:3 with xerrorbars pt 0 lw 1.5 lc rgb '#303030'\n";
  picture.script = script.str();
  return draw(picture, stem);
}

}  // namespace geosft
