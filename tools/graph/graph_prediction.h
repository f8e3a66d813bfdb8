// SPDX-License-Identifier: Apache-2.0
// Formats predictions as text and JSON.
#pragma once

#include <ATen/ATen.h>

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "data/packed_items.h"

namespace geosft {

// Returns the prediction for one graph: outputs in the dataset's units, [outputs], or [n, outputs] for its nodes.
//   classification       {"class", "probability", "top": [[class, p], …]}, the `top` most probable
//   multi_label          {"probabilities": {label: p}}
//   regression           {"values": {target: value}}
//   node_classification  {"classes": [class of every node]}
//   node_multi_label     {"labels": [label, …], "probabilities": [[p of every label] of every node]}
nlohmann::json prediction_json(const ItemSchema& schema, const at::Tensor& outputs, int64_t top);

// Returns one line of text: "mutagenic 92.1 %  other 7.9 %"; for node labels those of at least 50 %: "a+c  -  b".
std::string prediction_text(const ItemSchema& schema, const at::Tensor& outputs, int64_t top);

}  // namespace geosft
