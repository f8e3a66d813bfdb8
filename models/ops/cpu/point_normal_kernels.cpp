// SPDX-License-Identifier: Apache-2.0
#define GEOSFT_POINT_CHANNELS 2
#define GEOSFT_POINT_KERNELS distance_and_normal_kernels
#include "models/ops/cpu/point_kernels-inl.h"
