// SPDX-License-Identifier: Apache-2.0
// Every training that there is, on the tiny data of its tool.
#pragma once

#include <string>
#include <vector>

#include "tests/tools/classify/classify_tool.h"
#include "tests/tools/graph/graph_tool.h"
#include "tests/tools/segment/segment_tool.h"
#include "tests/tools/sequence/sequence_tool.h"

namespace geosft::test {

struct Shops {
  ClassifyShop clouds;
  SegmentShop parts;
  GraphShop graphs;
  SequenceShop sequences;

  std::vector<const Workshop*> all() const { return {&clouds, &parts, &graphs, &sequences}; }
};

// The words with another value of an option, which may be said once.
inline Words with(const Words& words, const std::string& option, const std::string& value) {
  return without(words, option) + Words{option, value};
}

}  // namespace geosft::test
