// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/run_kernel.h"

#include <optional>
#include <ostream>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

#include "data/checkpoint.h"
#include "data/data_error.h"

namespace geosft {
namespace {

constexpr int64_t small_split = 1000;         // too few items to leave one of the two out
constexpr const char* of_forest = "forest.";  // begins the names of its tensors
constexpr const char* of_forest_share = "forest_share";

// Returns what a regression is called, with the share of the forest beside it, if there is one.
std::string kernel_text(std::optional<double> share) {
  if (!share) return "kernel ridge regression";
  return *share == 1 ? "random forest" : "kernel ridge regression and random forest";
}

}  // namespace

std::filesystem::path kernel_file(const std::filesystem::path& run) {
  return run / "kernel.ckpt";
}

at::Tensor RunKernel::predict(const at::Tensor& features) const {
  const at::Tensor of_regression = regression->predict(features);
  return forest ? of_regression.lerp(forest->predict(features), forest_share) : of_regression;
}

void RunKernel::choose_weights(const at::Tensor& features, const std::function<double(double, const at::Tensor&)>& loss,
                               std::ostream& text) {
  const int64_t items = features.size(0);
  const at::Tensor of_regression = regression->predict(features);
  const at::Tensor of_forest = forest ? forest->predict(features) : of_regression;
  std::vector<double> shares = {forest_share};
  if (forest && items >= small_split) shares = {0.5, 0.0, 0.25, 0.75, 1.0};
  std::optional<double> best;
  std::string best_text;
  for (const double share : shares) {
    const at::Tensor predictions = of_regression.lerp(of_forest, share);
    const auto loss_with = [&](double tried) { return loss(tried, predictions); };
    std::ostringstream losses;
    const double chosen = chosen_weight(loss_with, items, losses), lowest = loss_with(chosen);
    if (best && !(lowest < *best)) continue;
    best = lowest, weight = chosen, forest_share = share, best_text = losses.str();
  }
  text << best_text;
  if (forest) text << "; share of the random forest beside it " << forest_share;
  if (forest_share == 0) forest = nullptr;
}

void RunKernel::save(const std::filesystem::path& run) const {
  Checkpoint checkpoint;
  checkpoint.tensors = tensors();
  checkpoint.texts["kind"] = program + " kernel";
  save_checkpoint(kernel_file(run), checkpoint);
}

void RunKernel::load(const std::filesystem::path& run) {
  const std::filesystem::path file = kernel_file(run);
  if (!std::filesystem::exists(file)) return;
  Checkpoint checkpoint = load_checkpoint(file);
  const auto kind = checkpoint.texts.find("kind");
  if (kind == checkpoint.texts.end() || kind->second != program + " kernel") {
    throw DataError(file.string(), "the kernel regression of a run", "another checkpoint");
  }
  try {
    take(std::move(checkpoint.tensors));
  } catch (const c10::Error& error) {
    throw DataError(file.string(), "the kernel regression of a run", error.what_without_backtrace());
  }
}

std::map<std::string, at::Tensor> RunKernel::tensors() const {
  std::map<std::string, at::Tensor> tensors = regression->state();
  tensors["weight"] = at::scalar_tensor(weight, at::kDouble);
  if (average_logits) tensors["average_logits"] = at::scalar_tensor(1, at::kLong);
  if (forest) {
    tensors[of_forest_share] = at::scalar_tensor(forest_share, at::kDouble);
    for (const auto& [name, tensor] : forest->state()) tensors[of_forest + name] = tensor;
  }
  return tensors;
}

void RunKernel::take(std::map<std::string, at::Tensor> tensors) {
  const auto stored = tensors.find("weight");
  TORCH_CHECK(stored != tensors.end(), "a kernel regression of a run has a weight");
  weight = stored->second.item<double>();
  tensors.erase(stored);
  const auto averages = tensors.extract("average_logits");
  average_logits = !averages.empty() && averages.mapped().item<int64_t>() != 0;
  const auto share = tensors.extract(of_forest_share);
  forest_share = share.empty() ? 0.5 : share.mapped().item<double>();
  std::map<std::string, at::Tensor> trees;
  for (auto named = tensors.lower_bound(of_forest); named != tensors.end() && named->first.starts_with(of_forest);) {
    trees[named->first.substr(std::string_view(of_forest).size())] = named->second;
    named = tensors.erase(named);
  }
  forest = trees.empty() ? nullptr : std::make_shared<const RandomForest>(RandomForest::from_state(std::move(trees)));
  regression = std::make_shared<const KernelRidge>(KernelRidge::from_state(std::move(tensors)));
  TORCH_CHECK(!forest || (forest->columns() == regression->columns() && forest->labels() == regression->targets()),
              "the random forest of a run must have the columns and labels of its kernel regression");
}

std::string RunKernel::text() const {
  if (!regression) return "";
  return kernel_text(forest ? std::optional(forest_share) : std::nullopt);
}

std::string RunKernel::stored_in(const std::filesystem::path& run) {
  std::error_code error;
  if (!std::filesystem::exists(kernel_file(run), error)) return "";
  std::map<std::string, at::Tensor> tensors;
  try {
    tensors = load_checkpoint(kernel_file(run)).tensors;
  } catch (const DataError&) {  // who uses it is told
  }
  const auto share = tensors.find(of_forest_share);
  return kernel_text(share == tensors.end() ? std::nullopt : std::optional(share->second.item<double>()));
}

double chosen_weight(const std::function<double(double)>& loss_with, int64_t items, std::ostream& text) {
  const int64_t margin = items < small_split ? 2 : 0;
  double best = 0.5, best_loss = loss_with(best);
  for (int64_t tenths = margin; tenths <= 10 - margin; ++tenths) {
    const double weight = static_cast<double>(tenths) / 10, loss = loss_with(weight);
    if (loss < best_loss) best = weight, best_loss = loss;
  }
  text << "; loss on the validation split " << loss_with(0) << " of the networks, " << loss_with(1)
       << " of the regression, " << best_loss << " of both";
  return best;
}

}  // namespace geosft
