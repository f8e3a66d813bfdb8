// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/random_forest_training.h"

#include <ATen/Parallel.h>
#include <xgboost/c_api.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "data/seeds.h"

namespace geosft {
namespace {

constexpr double bootstrap_share = 0.632;  // 1 - 1 / e of the rows are in a bootstrap sample
constexpr int max_depth = 64;              // deeper than trees become

void check(int status) {
  if (status != 0) throw std::runtime_error(std::string("XGBoost: ") + XGBGetLastError());
}

// Rows with their labels in the form of XGBoost, where 0 is missing.
class Rows {
 public:
  // Takes the `columns` of some rows of features, float32, and the labels of these rows.
  Rows(const at::Tensor& features, const at::Tensor& rows, const std::vector<int64_t>& columns,
       const at::Tensor& labels) {
    const int64_t* const row = rows.const_data_ptr<int64_t>();
    std::vector<size_t> ptr = {0};
    std::vector<unsigned> places;
    std::vector<float> values;
    for (int64_t i = 0; i < rows.numel(); ++i) {
      const float* const from = features.const_data_ptr<float>() + row[i] * features.size(1);
      for (size_t c = 0; c < columns.size(); ++c) {
        const float value = from[columns[c]];
        if (value == 0) continue;
        places.push_back(static_cast<unsigned>(c));
        values.push_back(value);
      }
      ptr.push_back(values.size());
    }
    check(XGDMatrixCreateFromCSREx(ptr.data(), places.data(), values.data(), ptr.size(), values.size(), columns.size(),
                                   &handle_));
    const at::Tensor of_rows = labels.to(at::kFloat).contiguous();
    check(XGDMatrixSetFloatInfo(handle_, "label", of_rows.const_data_ptr<float>(),
                                static_cast<bst_ulong>(of_rows.numel())));
  }
  Rows(const Rows&) = delete;
  Rows& operator=(const Rows&) = delete;
  Rows(Rows&&) = delete;
  Rows& operator=(Rows&&) = delete;
  ~Rows() { XGDMatrixFree(handle_); }

  DMatrixHandle handle() const { return handle_; }

 private:
  DMatrixHandle handle_ = nullptr;
};

// A model of XGBoost.
class Booster {
 public:
  explicit Booster(const Rows& rows) {
    const DMatrixHandle data = rows.handle();
    check(XGBoosterCreate(&data, 1, &handle_));
  }
  Booster(const Booster&) = delete;
  Booster& operator=(const Booster&) = delete;
  Booster(Booster&&) = delete;
  Booster& operator=(Booster&&) = delete;
  ~Booster() { XGBoosterFree(handle_); }

  void set(const char* name, const std::string& value) { check(XGBoosterSetParam(handle_, name, value.c_str())); }
  // Trains all trees, and returns them.
  nlohmann::json trained(const Rows& rows) {
    check(XGBoosterUpdateOneIter(handle_, 0, rows.handle()));
    bst_ulong size = 0;
    const char* text = nullptr;
    check(XGBoosterSaveModelToBuffer(handle_, R"({"format": "json"})", &size, &text));
    nlohmann::json model = nlohmann::json::parse(text, text + size);
    return std::move(model["learner"]["gradient_booster"]["model"]["trees"]);
  }

 private:
  BoosterHandle handle_ = nullptr;
};

// The nodes of all trees so far, as in the state of a forest.
struct Nodes {
  std::vector<int32_t> feature, left;
  std::vector<float> value;
  std::vector<uint8_t> zero_right;

  int64_t add(float of_leaf) {
    feature.push_back(-1);
    left.push_back(0);
    value.push_back(of_leaf);
    zero_right.push_back(0);
    return static_cast<int64_t>(feature.size()) - 1;
  }

  // Adds a tree, level by level, whose leaves are divided by the number of trees, and returns its root.
  int64_t add(const nlohmann::json& tree, const std::vector<int64_t>& columns, int64_t trees) {
    const auto lefts = tree.at("left_children").get<std::vector<int64_t>>();
    const auto rights = tree.at("right_children").get<std::vector<int64_t>>();
    const auto features = tree.at("split_indices").get<std::vector<int64_t>>();
    const auto values = tree.at("split_conditions").get<std::vector<float>>();  // of leaves, their values
    const auto to_left = tree.at("default_left").get<std::vector<int>>();
    const int64_t root = add(0.0F);
    std::vector<std::pair<size_t, size_t>> pending = {{0, static_cast<size_t>(root)}};  // in the tree and here
    for (size_t next = 0; next < pending.size(); ++next) {
      const auto [from, to] = pending[next];
      if (lefts[from] < 0) {
        value[to] = std::min(std::max(values[from] * static_cast<float>(trees), 0.0F), 1.0F);
        continue;
      }
      feature[to] = static_cast<int32_t>(columns[static_cast<size_t>(features[from])]);
      value[to] = values[from];
      zero_right[to] = to_left[from] != 0 ? 0 : 1;
      const int64_t child = add(0.0F);
      add(0.0F);
      left[to] = static_cast<int32_t>(child);
      pending.emplace_back(lefts[from], static_cast<size_t>(child));
      pending.emplace_back(rights[from], static_cast<size_t>(child) + 1);
    }
    return root;
  }
};

// Lists the columns from options.first_column on that differ between rows.
std::vector<int64_t> varying_columns(const at::Tensor& features, const RandomForestOptions& options) {
  const at::Tensor some = features.slice(1, options.first_column);
  const at::Tensor varies = std::get<0>(some.min(0)).ne(std::get<0>(some.max(0)));
  const at::Tensor columns = (varies.nonzero().flatten() + options.first_column).contiguous();
  return {columns.const_data_ptr<int64_t>(), columns.const_data_ptr<int64_t>() + columns.numel()};
}

}  // namespace

RandomForest fit_random_forest(const at::Tensor& features, const at::Tensor& labels,
                               const RandomForestOptions& options) {
  TORCH_CHECK(features.dim() == 2 && features.size(0) > 0, "features must be [n, columns], got ", features.sizes());
  TORCH_CHECK(labels.dim() == 2 && labels.size(0) == features.size(0) && labels.size(1) > 0,
              "labels must be [n, labels] for ", features.size(0), " rows, got ", labels.sizes());
  const at::Tensor rows = features.detach().cpu().to(at::kFloat).nan_to_num(0.0).contiguous(),
                   of_all = labels.to(at::kDouble);
  const std::vector<int64_t> columns = varying_columns(rows, options);
  const int64_t count = of_all.size(1);
  const auto varying = static_cast<double>(columns.size());
  const double sampled = std::round(std::sqrt(varying));
  Nodes nodes;
  at::Tensor roots = at::zeros({count, options.trees}, at::kLong), share = at::zeros({count}, at::kDouble);
  for (int64_t t = 0; t < count; ++t) {
    const at::Tensor known = of_all.select(1, t).isfinite().nonzero().flatten();
    const at::Tensor seen = of_all.select(1, t).index_select(0, known);
    const double ones = seen.sum().item<double>(), all = static_cast<double>(known.numel());
    share[t] = (ones + 1) / (all + 2);
    if (columns.empty() || ones == 0 || ones == all) {
      roots[t].fill_(nodes.add(static_cast<float>(share[t].item<double>())));
      continue;
    }
    const Rows of_label(rows, known, columns, seen);
    Booster booster(of_label);
    for (const auto& [name, value] : std::vector<std::pair<const char*, std::string>>{
             {"objective", "reg:squarederror"},
             {"base_score", "0"},
             {"tree_method", "exact"},
             {"learning_rate", "1"},
             {"lambda", "0"},
             {"min_child_weight", "2"},
             {"max_depth", std::to_string(max_depth)},
             {"num_parallel_tree", std::to_string(options.trees)},
             {"subsample", std::to_string(bootstrap_share)},
             {"colsample_bynode", std::to_string(std::min((sampled + 0.5) / varying, 1.0))},
             {"seed", std::to_string(combine_seeds({options.seed, static_cast<uint64_t>(t)}) >> 33)},
             {"nthread", std::to_string(at::get_num_threads())},
             {"verbosity", "0"}}) {
      booster.set(name, value);
    }
    const nlohmann::json trees = booster.trained(of_label);
    TORCH_CHECK(static_cast<int64_t>(trees.size()) == options.trees, "XGBoost trained ", trees.size(), " trees");
    for (int64_t tree = 0; tree < options.trees; ++tree) {
      roots[t][tree] = nodes.add(trees[static_cast<size_t>(tree)], columns, options.trees);
    }
  }
  return RandomForest::from_state({{"feature", at::tensor(nodes.feature, at::kInt)},
                                   {"left", at::tensor(nodes.left, at::kInt)},
                                   {"value", at::tensor(nodes.value, at::kFloat)},
                                   {"zero_right", at::tensor(nodes.zero_right, at::kByte)},
                                   {"roots", roots},
                                   {"share", share},
                                   {"columns", at::scalar_tensor(features.size(1), at::kLong)}});
}

}  // namespace geosft
