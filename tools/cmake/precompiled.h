// SPDX-License-Identifier: Apache-2.0
// The one precompiled header of the build. Sources include what they use all the same; this only saves time. More in
// here does not save more: g++ instantiates the templates that a header leaves pending once more in every source, which
// costs 1 s with these headers and 4 s with LibTorch's modules, library and autograd headers beside them.
#pragma once

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
