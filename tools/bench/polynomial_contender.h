// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/bench/attention_inputs.h"

namespace geosft::bench {

// polynomial_attention of all tokens over all, with scale 1 / sqrt(c); `in` has as many keys as queries.
Implementation polynomial_implementation(const Sizes& sizes, int64_t degree, Pass pass, const PackedInputs& in);

}  // namespace geosft::bench
