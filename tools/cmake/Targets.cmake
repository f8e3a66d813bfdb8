# SPDX-License-Identifier: Apache-2.0
# Functions that declare a library, an executable or a test of this project.
get_property(_rpath GLOBAL PROPERTY GEOSFT_RPATH)
set(CMAKE_BUILD_RPATH "${_rpath}")
set(CMAKE_INSTALL_RPATH "$ORIGIN;$ORIGIN/../${CMAKE_INSTALL_LIBDIR};${_rpath}")

option(GEOSFT_UNITY "compile sources that are mostly headers in batches: what they all include is read once" ON)

# What a target's sources are compiled in: files that include a batch of them each, by their paths below the root. CMake's
# own unity builds name them by where the checkout lies, so that a compiler cache would know no batch of another checkout.
# Alone stay sources with settings of their own, and those that Highway compiles once for every vector target: their own
# templates take longer than what they include.
function(geosft_unite target)
  get_target_property(sources ${target} SOURCES)
  set(united "")
  foreach(source IN LISTS sources)
    if(NOT source MATCHES "\\.cpp$" OR source MATCHES "\\$<")
      continue()
    endif()
    file(REAL_PATH "${source}" path BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}")
    file(STRINGS "${path}" alone REGEX "include <hwy/foreach_target.h>" LIMIT_COUNT 1)
    foreach(setting IN ITEMS COMPILE_DEFINITIONS COMPILE_OPTIONS SKIP_PRECOMPILE_HEADERS SKIP_UNITY_BUILD_INCLUSION)
      get_source_file_property(value "${source}" ${setting})
      if(value)
        set(alone ${setting})
      endif()
    endforeach()
    if(NOT alone)
      set_source_files_properties("${source}" PROPERTIES HEADER_FILE_ONLY ON)
      file(RELATIVE_PATH path "${PROJECT_SOURCE_DIR}" "${path}")
      list(APPEND united "#include \"${path}\"\n")
    endif()
  endforeach()
  get_target_property(size ${target} GEOSFT_BATCH)
  list(LENGTH united count)
  set(first 0)
  while(first LESS count)
    list(SUBLIST united ${first} ${size} batch)
    list(JOIN batch "" batch)
    set(file "${CMAKE_CURRENT_BINARY_DIR}/batches/${target}_${first}.cpp")
    file(CONFIGURE OUTPUT "${file}" CONTENT "${batch}" @ONLY)
    target_sources(${target} PRIVATE "${file}")
    math(EXPR first "${first} + ${size}")
  endwhile()
  # Beside others a source is no longer the main file, and g++ fears that its types are used elsewhere.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
endfunction()

# The target whose precompiled header another one uses: LibTorch's modules are in the second header, and are worth their
# size only where most sources include them.
function(geosft_header_owner target result)
  file(RELATIVE_PATH folder "${PROJECT_SOURCE_DIR}" "${CMAKE_CURRENT_SOURCE_DIR}")
  if("${folder}/${target}" MATCHES "^(models|tools|tests/test_(models|tools))" AND NOT target STREQUAL "geosft_ops")
    set(${result} geosft_models PARENT_SCOPE)
  else()
    set(${result} geosft_geometry PARENT_SCOPE)
  endif()
endfunction()

# Writes what ccache takes for the contents of a target's precompiled header: what it is made of. Who changes LibTorch's
# headers in place removes the folder of the build.
function(geosft_describe_precompiled target)
  set(text "${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}, LibTorch ${GEOSFT_TORCH_VERSION}\n")
  foreach(name IN ITEMS precompiled precompiled_modules parallel_threads)
    set(file "${PROJECT_SOURCE_DIR}/tools/cmake/${name}.h")
    file(SHA256 "${file}" sum)
    string(APPEND text "${sum}\n")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${file}")
  endforeach()
  file(CONFIGURE OUTPUT "${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/${target}.dir/cmake_pch.hxx.gch.sum" CONTENT "${text}" @ONLY)
endfunction()

# What every target of ours has: the include root, LibTorch, and a precompiled header, which is named relative to the
# root: then a compiler cache serves every checkout, wherever it lies.
function(geosft_configure target)
  target_include_directories(${target} PUBLIC "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>"
                                              "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/geosft>")
  target_link_libraries(${target} PUBLIC geosft_torch)
  set_target_properties(${target} PROPERTIES DEFINE_SYMBOL "") # nothing uses it, and headers are shared by targets
  geosft_header_owner(${target} owner)
  if(target STREQUAL "geosft_geometry")
    target_precompile_headers(${target} PRIVATE <tools/cmake/precompiled.h>)
    geosft_describe_precompiled(${target})
  elseif(target STREQUAL "geosft_models")
    target_precompile_headers(${target} PRIVATE <tools/cmake/precompiled_modules.h>)
    geosft_describe_precompiled(${target})
  else()
    target_precompile_headers(${target} REUSE_FROM ${owner})
  endif()
  if(GEOSFT_UNITY)
    # Batches of 8 compile in about 0.6 of the time of batches of 4. Tests are compiled more often than they run, so that
    # their batches are larger. What a folder sets of its sources and targets is known at the end of it.
    set(batch 8)
    if(CMAKE_CURRENT_SOURCE_DIR STREQUAL "${PROJECT_SOURCE_DIR}/tests")
      set(batch 16)
    endif()
    set_target_properties(${target} PROPERTIES GEOSFT_BATCH ${batch})
    cmake_language(EVAL CODE "cmake_language(DEFER CALL geosft_unite ${target})")
  endif()
  # The time of tools and tests is spent in the libraries: their own code is compiled quickly, but for what is measured.
  # -Og took 0.85 of the time of -O1 for four batches of tests, one at a time on a Xeon.
  if(CMAKE_CURRENT_SOURCE_DIR MATCHES "^${PROJECT_SOURCE_DIR}/(tools|tests)" AND NOT target MATCHES "bench")
    set(level -O1)
    if(CMAKE_CURRENT_SOURCE_DIR MATCHES "^${PROJECT_SOURCE_DIR}/tests")
      set(level -Og)
    endif()
    target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:${level}>)
  endif()
endfunction()

# What a shared library of this release (major.minor) shows to others is said by exports.map.in. Its own functions call
# one another, whatever other copy is there.
function(geosft_limit_exports target release)
  set(map "${PROJECT_BINARY_DIR}/exports_${release}.map")
  configure_file("${PROJECT_SOURCE_DIR}/tools/cmake/exports.map.in" "${map}" @ONLY)
  target_link_options(${target} PRIVATE "LINKER:--version-script,${map}" "LINKER:-Bsymbolic-functions")
  set_target_properties(${target} PROPERTIES LINK_DEPENDS "${map}")
endfunction()

# geosft_add_library(name OBJECT|SHARED|STATIC source…)
function(geosft_add_library name kind)
  add_library(geosft_${name} ${kind} ${ARGN})
  add_library(geosft::${name} ALIAS geosft_${name})
  geosft_configure(geosft_${name})
  if(kind STREQUAL "SHARED")
    geosft_limit_exports(geosft_${name} ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  endif()
endfunction()

# geosft_add_tests(folder SOURCES source… LIBRARIES target…): bin/test_<folder>, one ctest entry a test case.
function(geosft_add_tests folder)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LIBRARIES")
  add_executable(test_${folder} ${arg_SOURCES} $<TARGET_OBJECTS:geosft_test_support>)
  geosft_configure(test_${folder})
  target_include_directories(test_${folder} PRIVATE "${PROJECT_SOURCE_DIR}")
  target_link_libraries(test_${folder} PRIVATE Catch2::Catch2 ${arg_LIBRARIES})
  # One process per source file: most cases are much shorter than the start of a process that loads LibTorch. Each case
  # starts from the same state (tests/main.cpp), and a single one runs by its name: build/release/bin/test_FOLDER "name".
  set(files ${arg_SOURCES})
  list(FILTER files INCLUDE REGEX "test_[^/]*[.]cpp$")
  list(TRANSFORM files REPLACE "^.*/([^/]*)[.]cpp$" "\\1")
  list(REMOVE_DUPLICATES files)
  foreach(file IN LISTS files)
    add_test(NAME "${folder}: ${file}" COMMAND test_${folder} --filenames-as-tags --warn NoTests "[#${file}]~[.]")
    set_tests_properties("${folder}: ${file}" PROPERTIES TIMEOUT 3600 SKIP_RETURN_CODE 77)
  endforeach()
endfunction()
