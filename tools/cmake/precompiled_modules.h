// SPDX-License-Identifier: Apache-2.0
// The precompiled header of models and tools: most of their sources include LibTorch's modules, which take 9 s to read
// and 4 s from here.
#pragma once

#ifdef GEOSFT_PARALLEL_THREADS
#include "tools/cmake/parallel_threads.h"
#endif

#include <torch/nn/module.h>
#include <torch/nn/modules/container/modulelist.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/modules/normalization.h>
#include <torch/nn/pimpl.h>

#include "tools/cmake/precompiled.h"
