// SPDX-License-Identifier: Apache-2.0
// The verbs of geosft-classify.
#pragma once

#include "tools/common/verbs.h"

namespace geosft {

Command add_train_command(CLI::App& verb);
Command add_eval_command(CLI::App& verb);
Command add_predict_command(CLI::App& verb);
Command add_info_command(CLI::App& verb);

}  // namespace geosft
