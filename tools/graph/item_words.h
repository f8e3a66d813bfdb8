// SPDX-License-Identifier: Apache-2.0
// Names of dataset items in messages: geosft-graph and geosft-sequence share their subcommands.
#pragma once

#include <string>

namespace geosft {

struct ItemWords {
  std::string item, items;
  bool graphs = true;  // whether items have edges, and unordered nodes
};

inline ItemWords graph_words() {
  return {"graph", "graphs", true};
}
inline ItemWords sequence_words() {
  return {"sequence", "sequences", false};
}

}  // namespace geosft
