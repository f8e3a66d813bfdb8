# SPDX-License-Identifier: Apache-2.0
# Language level, warnings, sanitizers, compiler cache and output folders, the same for every target.
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
# Adds an option with the values AUTO (the default), ON and OFF.
macro(geosft_auto_option name help)
  set(${name} AUTO CACHE STRING "${help}: AUTO, ON or OFF")
  set_property(CACHE ${name} PROPERTY STRINGS AUTO ON OFF)
  if(NOT ${name} MATCHES "^(AUTO|ON|OFF)$")
    message(FATAL_ERROR "${name}='${${name}}': expected AUTO, ON or OFF")
  endif()
endmacro()
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib")
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib")
set(CMAKE_CXX_VISIBILITY_PRESET default)
# What uses a shared library is linked again only when it changed itself: a program finds the library of today anyway, and
# a header that changed compiles whoever includes it.
set(CMAKE_LINK_DEPENDS_NO_SHARED ON)

# Every target is compiled with -fPIC, executables too: then all can share one precompiled header.
set(CMAKE_POSITION_INDEPENDENT_CODE OFF)
# -fopenmp because at::parallel_for is a header: without it the loops would silently run on one thread.
# Not for nvcc, which knows none of these: see Cuda.cmake for its own.
set(_host "$<COMPILE_LANGUAGE:C,CXX>")
# The fuzzers are to run on one thread, and clang would bring a second OpenMP runtime. ThreadSanitizer cannot see what
# OpenMP's threads wait for: the precompiled headers then give at::parallel_for others.
if(GEOSFT_SANITIZE MATCHES "thread")
  add_compile_definitions($<$<COMPILE_LANGUAGE:CXX>:GEOSFT_PARALLEL_THREADS>)
elseif(NOT GEOSFT_FUZZ)
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fopenmp>)
endif()
add_compile_options($<${_host}:-fPIC>
                    "$<${_host}:-Wall;-Wextra;-Wpedantic;-Wshadow;-Wno-unused-parameter;-Werror;-Winvalid-pch>")
# g++ 12 takes some std::string concatenations for overflows (its bugs 105329 and 105651).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  add_compile_options("$<${_host}:-Wno-stringop-overflow;-Wno-array-bounds;-Wno-restrict;-Wno-maybe-uninitialized>")
endif()
# A precompiled header is half a gigabyte that the collector of g++ would walk again and again.
add_compile_options($<$<COMPILE_LANG_AND_ID:CXX,GNU>:--param=ggc-min-heapsize=2097152>)
if(GEOSFT_SANITIZE)
  add_compile_options("$<${_host}:-fsanitize=${GEOSFT_SANITIZE};-fno-omit-frame-pointer>")
  if(GEOSFT_FUZZ)
    add_compile_options("$<${_host}:-fno-sanitize-recover=all>") # whatever is reported is a finding
  endif()
  # The fences of Boost.Asio, which stand beside its mutexes.
  if(GEOSFT_SANITIZE MATCHES "thread" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options("$<${_host}:-Wno-tsan>")
  endif()
  add_link_options(-fsanitize=${GEOSFT_SANITIZE})
endif()

find_program(GEOSFT_CCACHE ccache)
if(GEOSFT_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # A precompiled header is cached only when ccache may overlook its time stamps and definitions; depend mode spares
  # a preprocessor run, which would load the header a second time. The base folder lets another checkout find objects, and
  # a text beside the header (geosft_configure) stands for its bytes, which g++ writes anew each time.
  set(_ccache ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR})
  if(GEOSFT_FUZZ) # line tables name the sources relative to a folder, whose name may be another checkout's
    list(APPEND _ccache CCACHE_NOHASHDIR=1)
    add_compile_options("SHELL:-Xclang -fno-pch-timestamp")
  endif()
  set(CMAKE_CXX_COMPILER_LAUNCHER ${_ccache}
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime CCACHE_DEPEND=1
      CCACHE_PCH_EXTSUM=1 ${GEOSFT_CCACHE})
  add_compile_options("$<$<AND:${_host},$<CXX_COMPILER_ID:GNU>>:-fpch-preprocess>")
  set(CMAKE_CUDA_COMPILER_LAUNCHER ${_ccache} ${GEOSFT_CCACHE})
endif()
find_program(GEOSFT_MOLD mold)
if(GEOSFT_MOLD AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 12.1)
  # Data that is protected after relocation begins on a page of its own. Otherwise mold 1.10 counts a thread-local
  # variable in front of it in, whose page is missing where it happens to be the one before: such a program does not load.
  add_link_options(-fuse-ld=mold "LINKER:-z,separate-loadable-segments")
endif()
