# SPDX-License-Identifier: Apache-2.0
# LibTorch as imported targets. find_package(Torch) insists on a complete CUDA toolkit and on its own compiler flags;
# the headers and libraries of any PyTorch wheel or LibTorch folder are all that is needed. Also installed, beside
# geosftConfig.cmake, which names folder and versions itself: the cache variables belong to this project only.
if(NOT geosft_installed)
  set(GEOSFT_TORCH_VERSIONS 2.11 2.12 2.13 2.14 2.15 CACHE STRING "LibTorch versions that this project compiles with (major.minor)")
  file(GLOB _candidates "${PROJECT_SOURCE_DIR}/.venv/lib/python3*/site-packages/torch")
  string(REGEX REPLACE ";.*" "" _default "${_candidates}") # the first; nothing where there is no .venv
  set(GEOSFT_TORCH_DIR "${_default}" CACHE PATH "folder of LibTorch: the one that holds include/ and lib/")
endif()
if(GEOSFT_TORCH_DIR STREQUAL "")
  message(FATAL_ERROR "no LibTorch in .venv: run tools/setup.sh, or name the folder of another one with -DGEOSFT_TORCH_DIR=")
endif()

# The header that holds the version has moved: before 2.9 it was the second one.
set(_lines)
foreach(_header IN ITEMS torch/headeronly/version.h torch/csrc/api/include/torch/version.h)
  if(EXISTS "${GEOSFT_TORCH_DIR}/include/${_header}" AND NOT _lines)
    file(STRINGS "${GEOSFT_TORCH_DIR}/include/${_header}" _lines REGEX "define TORCH_VERSION_(MAJOR|MINOR|PATCH) ")
  endif()
endforeach()
if(NOT _lines OR NOT EXISTS "${GEOSFT_TORCH_DIR}/lib/libtorch_cpu.so")
  message(FATAL_ERROR "no LibTorch in GEOSFT_TORCH_DIR='${GEOSFT_TORCH_DIR}': expected the folder that holds "
                      "include/torch and lib/libtorch_cpu.so, of version ${GEOSFT_TORCH_VERSIONS}")
endif()
string(REGEX MATCHALL "[0-9]+" _parts "${_lines}")
list(JOIN _parts "." GEOSFT_TORCH_VERSION)
string(REGEX MATCH "^[0-9]+\\.[0-9]+" _major_minor "${GEOSFT_TORCH_VERSION}")
if(NOT _major_minor IN_LIST GEOSFT_TORCH_VERSIONS)
  message(FATAL_ERROR "GEOSFT_TORCH_DIR='${GEOSFT_TORCH_DIR}' holds LibTorch ${GEOSFT_TORCH_VERSION}, "
                      "but this project needs ${GEOSFT_TORCH_VERSIONS}")
endif()
message(STATUS "LibTorch ${GEOSFT_TORCH_VERSION} in ${GEOSFT_TORCH_DIR}")

foreach(_name IN ITEMS c10 torch_cpu)
  add_library(geosft_${_name} SHARED IMPORTED GLOBAL)
  set_target_properties(geosft_${_name} PROPERTIES
    IMPORTED_LOCATION "${GEOSFT_TORCH_DIR}/lib/lib${_name}.so"
    INTERFACE_INCLUDE_DIRECTORIES
      "${GEOSFT_TORCH_DIR}/include;${GEOSFT_TORCH_DIR}/include/torch/csrc/api/include")
endforeach()
find_package(Threads REQUIRED)
add_library(geosft_torch INTERFACE IMPORTED GLOBAL)
target_link_libraries(geosft_torch INTERFACE geosft_torch_cpu geosft_c10 Threads::Threads)
# at::parallel_for runs on the OpenMP runtime that LibTorch brings along; a second one must not be linked.
file(GLOB _gomp "${GEOSFT_TORCH_DIR}/lib/libgomp*.so*")
if(_gomp)
  list(GET _gomp 0 _gomp)
  add_library(geosft_gomp SHARED IMPORTED GLOBAL)
  set_target_properties(geosft_gomp PROPERTIES IMPORTED_LOCATION "${_gomp}")
  target_link_libraries(geosft_torch INTERFACE geosft_gomp)
else()
  target_link_options(geosft_torch INTERFACE -fopenmp)
endif()
set_property(GLOBAL PROPERTY GEOSFT_RPATH "${GEOSFT_TORCH_DIR}/lib")
