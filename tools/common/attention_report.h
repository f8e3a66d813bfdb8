// SPDX-License-Identifier: Apache-2.0
// What polynomial attention took, layer by layer, and how far from softmax it can have been.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "models/ops/polynomial_degree.h"

namespace geosft {

// [{"bound", "degree", "error_bound"} or {"bound", "exact": true}], one for each of worst_degrees.
nlohmann::json attention_json(const std::vector<PolynomialDegree>& degrees);

// A line for each; empty for none.
std::string attention_text(const std::vector<PolynomialDegree>& degrees);

}  // namespace geosft
