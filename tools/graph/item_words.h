// SPDX-License-Identifier: Apache-2.0
// What a tool calls the items of its datasets: geosft-graph and geosft-sequence share their subcommands.
#pragma once

#include <string>

namespace geosft {

struct ItemWords {
  std::string item, items;
  bool graphs = true;  // whether there are edges, and nodes in no order of their own
};

inline ItemWords graph_words() {
  return {"graph", "graphs", true};
}
inline ItemWords sequence_words() {
  return {"sequence", "sequences", false};
}

}  // namespace geosft
