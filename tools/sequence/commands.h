// SPDX-License-Identifier: Apache-2.0
// The verbs of geosft-sequence beside those of geosft-graph.
#pragma once

#include "tools/common/verbs.h"

namespace geosft {

Command add_generate_command(CLI::App& verb);

}  // namespace geosft
