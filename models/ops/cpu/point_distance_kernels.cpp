// SPDX-License-Identifier: Apache-2.0
#define GEOSFT_POINT_CHANNELS 1
#define GEOSFT_POINT_KERNELS distance_kernels
#include "models/ops/cpu/point_kernels-inl.h"
