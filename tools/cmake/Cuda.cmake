# SPDX-License-Identifier: Apache-2.0
# Finds CUDA, which is optional: without nvcc the operators have only CPU kernels.
geosft_auto_option(GEOSFT_CUDA "build the CUDA kernels, by default where there are a GPU and a toolkit")
# Machine code for A100, H100 and B200, and what the driver can compile for GPUs that come after them.
set(GEOSFT_CUDA_ARCHITECTURES "80-real;90-real;100" CACHE STRING "GPUs to compile for, as CMAKE_CUDA_ARCHITECTURES has them")

set(GEOSFT_HAS_CUDA OFF)
if(GEOSFT_CUDA STREQUAL "OFF")
  message(STATUS "CUDA: off, the operators run on the CPU")
  return()
endif()
# Compiling them takes minutes: not for a machine that cannot run them, unless asked to.
if(GEOSFT_CUDA STREQUAL "AUTO" AND NOT EXISTS /dev/nvidia0)
  execute_process(COMMAND nvidia-smi -L RESULT_VARIABLE _without_gpu OUTPUT_QUIET ERROR_QUIET)
  if(_without_gpu)
    message(STATUS "CUDA: no GPU here, the operators run on the CPU (-DGEOSFT_CUDA=ON compiles the kernels all the same)")
    return()
  endif()
endif()
macro(geosft_find_cuda_toolkit)
  # pip's toolkit has no libcudart.so, which CMake asks for, but libcudart.so.13.
  file(GLOB _cudart "${CUDAToolkit_ROOT}/lib/libcudart.so.*")
  if(CUDAToolkit_ROOT AND _cudart AND NOT CUDA_CUDART)
    list(GET _cudart 0 _cudart)
    set(CUDA_CUDART "${_cudart}" CACHE FILEPATH "the CUDA runtime" FORCE)
  endif()
  find_package(CUDAToolkit 13.0 QUIET)
endmacro()
# The toolkit that is named, or the system's, or pip's, where tools/setup.sh --nvcc has put it.
geosft_find_cuda_toolkit()
file(GLOB _venv_nvcc "${PROJECT_SOURCE_DIR}/.venv/lib/python3*/site-packages/nvidia/cu13/bin/nvcc")
if(NOT CUDAToolkit_FOUND AND NOT CUDAToolkit_ROOT AND _venv_nvcc)
  string(REGEX REPLACE "/bin/nvcc(;.*)?$" "" CUDAToolkit_ROOT "${_venv_nvcc}")
  unset(CUDAToolkit_NVCC_EXECUTABLE CACHE) # of an older toolkit
  unset(CUDAToolkit_BIN_DIR CACHE)
  geosft_find_cuda_toolkit()
endif()
if(CUDAToolkit_FOUND AND CUDAToolkit_NVCC_EXECUTABLE AND TARGET CUDA::cudart_static)
  set(CMAKE_CUDA_ARCHITECTURES "${GEOSFT_CUDA_ARCHITECTURES}")
  if(NOT DEFINED ENV{CUDACXX})
    set(ENV{CUDACXX} "${CUDAToolkit_NVCC_EXECUTABLE}")
  endif()
  # pip's nvcc looks for the runtime in lib64, and it lies in lib.
  get_target_property(_runtime CUDA::cudart_static IMPORTED_LOCATION)
  get_filename_component(_runtime "${_runtime}" DIRECTORY)
  set(ENV{LIBRARY_PATH} "$ENV{LIBRARY_PATH}:${_runtime}")
  if(NOT CMAKE_CUDA_COMPILER)
    unset(CMAKE_CUDA_COMPILER CACHE) # what another toolkit lacked
  endif()
  include(CheckLanguage)
  check_language(CUDA) # an nvcc that does not take this host compiler is as good as none
endif()
if(CMAKE_CUDA_COMPILER AND TARGET CUDA::cudart_static)
  enable_language(CUDA)
  set(CMAKE_CUDA_STANDARD 17) # CMake 3.25 knows no later one for nvcc
  set(CMAKE_CUDA_STANDARD_REQUIRED ON)
  set(CMAKE_CUDA_EXTENSIONS OFF)
  set(GEOSFT_HAS_CUDA ON)
  message(STATUS "CUDA toolkit ${CUDAToolkit_VERSION} in ${CUDAToolkit_BIN_DIR}, kernels for ${GEOSFT_CUDA_ARCHITECTURES}")
elseif(GEOSFT_CUDA STREQUAL "ON")
  message(FATAL_ERROR "GEOSFT_CUDA=ON, but no CUDA toolkit 13.0 or later with an nvcc that works here and "
                      "libcudart_static.a was found: name its folder with -DCUDAToolkit_ROOT= or set GEOSFT_CUDA=AUTO")
else()
  message(STATUS "CUDA: no toolkit 13.0 or later that works here, none needed, the operators run on the CPU")
endif()

# The kernels of one library: objects that nvcc compiles, which see CUDA's headers and ours with raw pointers, never
# LibTorch's, and cudart linked statically, its symbols kept inside. They are in the library itself and not in a second
# one: it needs neither a driver nor another library to load (the runtime registers the images and looks for a driver at
# the first launch), and Python loads all operators with one file.
function(geosft_link_kernels target)
  add_library(${target}_kernels OBJECT ${ARGN})
  target_include_directories(${target}_kernels PRIVATE "${PROJECT_SOURCE_DIR}")
  target_compile_options(${target}_kernels PRIVATE -Xcompiler=-fPIC,-Wall,-Wextra,-Wno-unused-parameter -Werror=all-warnings)
  geosft_link_kernel_objects(${target} ${target}_kernels)
endfunction()
function(geosft_link_kernel_objects target kernels)
  target_sources(${target} PRIVATE $<TARGET_OBJECTS:${kernels}>)
  # The file and not the target, which would bring CUDA's headers into every source of the library.
  target_link_libraries(${target} PRIVATE $<TARGET_FILE:CUDA::cudart_static> ${CMAKE_DL_LIBS} rt)
  target_link_options(${target} PRIVATE "LINKER:--exclude-libs,libcudart_static.a")
endfunction()
