// SPDX-License-Identifier: Apache-2.0
#include "tools/common/attention_report.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

namespace geosft {

nlohmann::json attention_json(const std::vector<PolynomialDegree>& degrees) {
  nlohmann::json layers = nlohmann::json::array();
  for (const PolynomialDegree& layer : degrees) {
    nlohmann::json one{{"bound", layer.bound}};
    if (layer.exact) {
      one["exact"] = true;
    } else {
      one["degree"] = layer.degree;
      one["error_bound"] = std::isfinite(layer.error) ? nlohmann::json(layer.error) : nlohmann::json();
    }
    layers.push_back(one);
  }
  return layers;
}

std::string attention_text(const std::vector<PolynomialDegree>& degrees) {
  std::ostringstream text;
  text.precision(3);
  for (size_t i = 0; i < degrees.size(); ++i) {
    const PolynomialDegree& layer = degrees[i];
    text << "layer " << i + 1 << ": scores up to " << layer.bound;
    if (layer.exact) {
      text << ", exact attention\n";
    } else if (std::isfinite(layer.error)) {
      text << ", degree " << layer.degree << ", weights within " << 100 * layer.error << " % of softmax\n";
    } else {
      text << ", degree " << layer.degree << ", no bound on the error of its weights\n";
    }
  }
  return text.str();
}

}  // namespace geosft
