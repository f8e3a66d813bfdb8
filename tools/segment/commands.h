// SPDX-License-Identifier: Apache-2.0
// The verbs of geosft-segment.
#pragma once

#include "tools/common/verbs.h"

namespace geosft {

Command add_segment_train_command(CLI::App& verb);
Command add_segment_eval_command(CLI::App& verb);
Command add_segment_predict_command(CLI::App& verb);
Command add_segment_info_command(CLI::App& verb);

}  // namespace geosft
