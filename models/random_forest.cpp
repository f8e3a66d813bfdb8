// SPDX-License-Identifier: Apache-2.0
#include "models/random_forest.h"

#include <ATen/Parallel.h>

#include <tuple>
#include <utility>

namespace geosft {
namespace {

constexpr int64_t leaf = -1;  // in place of a feature

void require(bool right, const char* name) {
  TORCH_CHECK(right, "the state of a random forest has a wrong ", name);
}

// Pointers into a checked state.
struct Nodes {
  const int32_t *feature, *left;
  const float* value;
  const uint8_t* zero_right;

  // Returns the value of the leaf that a row comes to from `node`.
  float leaf_value(const float* row, int64_t node) const {
    while (feature[node] != leaf) {
      const float given = row[feature[node]];
      node = left[node] + ((given == 0 ? zero_right[node] != 0 : given >= value[node]) ? 1 : 0);
    }
    return value[node];
  }
};

}  // namespace

at::Tensor RandomForest::predict(const at::Tensor& features) const {
  TORCH_CHECK(features.dim() == 2 && features.size(1) == columns(), "features must have ", columns(), " columns, got ",
              features.sizes());
  const at::Tensor rows = features.detach().cpu().to(at::kFloat).nan_to_num(0.0).contiguous(),
                   &roots = state_.at("roots");
  const Nodes nodes{state_.at("feature").const_data_ptr<int32_t>(), state_.at("left").const_data_ptr<int32_t>(),
                    state_.at("value").const_data_ptr<float>(), state_.at("zero_right").const_data_ptr<uint8_t>()};
  const int64_t count = rows.size(0), width = rows.size(1), outputs = labels(), trees = roots.size(1);
  at::Tensor mean = at::zeros({count, outputs}, at::kDouble);
  const float* const from = rows.const_data_ptr<float>();
  const int64_t* const root = roots.const_data_ptr<int64_t>();
  double* const to = mean.data_ptr<double>();
  at::parallel_for(0, count, 64, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      for (int64_t label = 0; label < outputs; ++label) {
        double sum = 0;
        for (int64_t tree = 0; tree < trees; ++tree) {
          sum += static_cast<double>(nodes.leaf_value(from + row * width, root[label * trees + tree]));
        }
        to[row * outputs + label] = sum / static_cast<double>(trees);
      }
    }
  });
  return (mean * static_cast<double>(trees) + state_.at("share")).div_(static_cast<double>(trees) + 1).logit();
}

RandomForest RandomForest::from_state(std::map<std::string, at::Tensor> state) {
  const std::tuple<const char*, at::ScalarType, int64_t> forms[] = {
      {"feature", at::kInt, 1}, {"value", at::kFloat, 1},  {"left", at::kInt, 1},    {"zero_right", at::kByte, 1},
      {"roots", at::kLong, 2},  {"share", at::kDouble, 1}, {"columns", at::kLong, 0}};
  for (const auto& [name, type, dims] : forms) {
    const auto found = state.find(name);
    TORCH_CHECK(found != state.end(), "the state of a random forest lacks ", name);
    require(found->second.scalar_type() == type && found->second.dim() == dims, name);
    found->second = found->second.contiguous();
  }
  const at::Tensor &feature = state.at("feature"), &value = state.at("value"), &left = state.at("left");
  const at::Tensor &roots = state.at("roots"), &share = state.at("share");
  const int64_t nodes = feature.numel();
  require(value.numel() == nodes, "value");
  require(left.numel() == nodes, "left");
  require(state.at("zero_right").numel() == nodes, "zero_right");
  require(state.at("columns").item<int64_t>() > 0, "columns");
  require(feature.ge(leaf).logical_and(feature.lt(state.at("columns").item<int64_t>())).all().item<bool>(), "feature");
  const at::Tensor is_leaf = feature.eq(leaf), place = at::arange(nodes, at::kInt);
  // The numbers of nodes rise on each path, so that each ends.
  require(is_leaf.logical_or(left.gt(place).logical_and(left.lt(nodes - 1))).all().item<bool>(), "left");
  require(is_leaf.logical_not().logical_or(value.ge(0).logical_and(value.le(1))).all().item<bool>(), "value");
  require(roots.size(0) > 0 && roots.size(1) > 0 && roots.ge(0).logical_and(roots.lt(nodes)).all().item<bool>(),
          "roots");
  require(share.numel() == roots.size(0) && share.gt(0).logical_and(share.lt(1)).all().item<bool>(), "share");
  RandomForest out;
  out.state_ = std::move(state);
  return out;
}

int64_t RandomForest::columns() const {
  return state_.at("columns").item<int64_t>();
}

int64_t RandomForest::labels() const {
  return state_.at("roots").size(0);
}

}  // namespace geosft
