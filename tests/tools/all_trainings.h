// SPDX-License-Identifier: Apache-2.0
// Every training that there is, on the tiny data of its tool.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "tests/tools/classify/classify_tool.h"
#include "tests/tools/graph/graph_tool.h"
#include "tests/tools/segment/segment_tool.h"
#include "tests/tools/sequence/sequence_tool.h"

namespace geosft::test {

// The training of a tool on its tiny data.
struct Training {
  std::string tool, program;
  Words words;
  ProcessOptions options;

  void run_well(const Words& more) const {
    const ProcessResult result = run_process(program, more, options);
    INFO(result.err);
    REQUIRE(result.exit == 0);
  }
};

struct Shops {
  Workshop clouds;
  SegmentShop parts;
  GraphWorkshop graphs;
  SequenceWorkshop sequences;

  std::vector<Training> trainings() const {
    return {{"geosft-classify", GEOSFT_CLASSIFY, clouds.train("unused"), clouds.process()},
            {"geosft-segment", GEOSFT_SEGMENT, parts.train("unused"), parts.process()},
            {"geosft-graph", GEOSFT_GRAPH, graphs.train("unused"), graphs.process()},
            {"geosft-sequence", GEOSFT_SEQUENCE, sequences.train("unused"), {}}};
  }
};

// The words with another value of an option, which may be said once.
inline Words with(Words words, const std::string& option, const std::string& value) {
  const auto found = std::find(words.begin(), words.end(), option);
  if (found != words.end()) words.erase(found, found + 2);
  return words + Words{option, value};
}

}  // namespace geosft::test
