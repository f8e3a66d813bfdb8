// SPDX-License-Identifier: Apache-2.0
// The precompiled header of geometry, graph, data and the operators. Sources include what they use all the same; this
// only saves time. More in here does not save more: g++ instantiates the templates that a header leaves pending once
// more in every source, which costs 1 s with these headers and 4 s with those of precompiled_modules.h.
#pragma once

#ifdef GEOSFT_PARALLEL_THREADS
#include "tools/cmake/parallel_threads.h"
#endif

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>
