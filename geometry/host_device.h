// SPDX-License-Identifier: Apache-2.0
// Marks code that a GPU compiler compiles for the device, or for host and device; other compilers see plain functions.
#pragma once

#if defined(__CUDACC__)
#define GEOSFT_HOST_DEVICE __host__ __device__
#define GEOSFT_DEVICE __device__ __forceinline__
#define GEOSFT_UNROLL _Pragma("unroll")
#define GEOSFT_UNROLL_TWO _Pragma("unroll 2")
#else
#define GEOSFT_HOST_DEVICE
#define GEOSFT_DEVICE inline
#define GEOSFT_UNROLL
#define GEOSFT_UNROLL_TWO
#endif
