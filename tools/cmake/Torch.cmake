# SPDX-License-Identifier: Apache-2.0
# LibTorch as imported targets. find_package(Torch) insists on a complete CUDA toolkit and on its own compiler flags;
# the headers and libraries of any PyTorch wheel or LibTorch folder are all that is needed.
set(GEOSFT_TORCH_VERSIONS 2.11 CACHE STRING "LibTorch versions this project is tested with (major.minor)")
file(GLOB _candidates "${PROJECT_SOURCE_DIR}/.venv/lib/python3*/site-packages/torch")
list(GET _candidates 0 _default)
set(GEOSFT_TORCH_DIR "${_default}" CACHE PATH "folder of LibTorch: the one that holds include/ and lib/")

if(NOT EXISTS "${GEOSFT_TORCH_DIR}/include/ATen/ATen.h" OR NOT EXISTS "${GEOSFT_TORCH_DIR}/lib/libtorch_cpu.so")
  message(FATAL_ERROR "no LibTorch in GEOSFT_TORCH_DIR='${GEOSFT_TORCH_DIR}': run tools/setup.sh, or name the folder "
                      "that holds include/ATen and lib/libtorch_cpu.so")
endif()

file(STRINGS "${GEOSFT_TORCH_DIR}/include/torch/headeronly/version.h" _lines REGEX "define TORCH_VERSION_(MAJOR|MINOR|PATCH) ")
if(NOT _lines)
  file(STRINGS "${GEOSFT_TORCH_DIR}/include/torch/csrc/api/include/torch/version.h" _lines
       REGEX "define TORCH_VERSION_(MAJOR|MINOR|PATCH) ")
endif()
string(REGEX MATCHALL "[0-9]+" _parts "${_lines}")
list(JOIN _parts "." GEOSFT_TORCH_VERSION)
string(REGEX MATCH "^[0-9]+\\.[0-9]+" _major_minor "${GEOSFT_TORCH_VERSION}")
if(NOT _major_minor IN_LIST GEOSFT_TORCH_VERSIONS)
  message(FATAL_ERROR "LibTorch ${GEOSFT_TORCH_VERSION} in ${GEOSFT_TORCH_DIR}: this project needs ${GEOSFT_TORCH_VERSIONS}")
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
add_library(geosft_torch INTERFACE)
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
