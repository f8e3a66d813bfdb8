// SPDX-License-Identifier: Apache-2.0
// geosft-view on small shapes and graphs.
#pragma once

#include "tests/places.h"
#include "tests/tools/classify/classify_tool.h"
#include "tests/tools/graph/graph_tool.h"

namespace geosft::test {

inline ProcessResult run_view_tool(const Words& words, const ProcessOptions& options) {
  return run_process(program_path("geosft-view"), words, options);
}

inline void require_view_failure(const ProcessResult& result, int exit, const Words& words) {
  require_one_line_failure("geosft-view", result, exit, words);
}

}  // namespace geosft::test
