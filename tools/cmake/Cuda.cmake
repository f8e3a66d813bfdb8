# SPDX-License-Identifier: Apache-2.0
# CUDA is found, and never required. The operators of this version have kernels for the CPU alone, so a toolkit changes
# nothing of what is built; the message tells those who have one.
find_package(CUDAToolkit QUIET)
if(CUDAToolkit_FOUND)
  message(STATUS "CUDA toolkit ${CUDAToolkit_VERSION} in ${CUDAToolkit_BIN_DIR}: found, not used: the operators run on the CPU")
else()
  message(STATUS "CUDA toolkit: none found, none needed")
endif()
