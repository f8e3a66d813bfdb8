# SPDX-License-Identifier: Apache-2.0
# LibTorch allocates and frees large temporaries all the time. glibc gives them back to the system, which then clears the
# same pages again and again; tcmalloc keeps them. Training a classifier took 11 % less processor time with it (system
# time a quarter), LibTorch's composite operations up to half. Programs only: a library must not choose for its user.
find_library(GEOSFT_TCMALLOC tcmalloc_minimal DOC "tcmalloc (Debian: libgoogle-perftools-dev), linked into the tools")
if(GEOSFT_SANITIZE)
  message(STATUS "tools: the sanitizers' allocator")
elseif(GEOSFT_TCMALLOC)
  message(STATUS "tools: tcmalloc in ${GEOSFT_TCMALLOC}")
else()
  message(STATUS "tools: no tcmalloc found (Debian: libgoogle-perftools-dev), so they run on the system's malloc, slower")
endif()

# For an executable: its memory comes from tcmalloc, where there is one. No symbol of it is named, so the linker is told
# to keep it all the same.
function(geosft_link_allocator target)
  if(GEOSFT_TCMALLOC AND NOT GEOSFT_SANITIZE)
    target_link_libraries(${target} PRIVATE "-Wl,--push-state,--no-as-needed" "${GEOSFT_TCMALLOC}" "-Wl,--pop-state")
  endif()
endfunction()

# Threads of OpenMP that wait for one another spin by default, for milliseconds, which slows everything that shares the
# machine with them, the next loop included. In the programs they sleep. libgomp reads the environment in its constructor,
# which must come later. glibc initialises the library first that is the last to be loaded, level by level from the
# program, with what that one needs. So a chain of libraries hangs below the program, deeper than whatever needs libgomp,
# and the deepest of them, which needs nothing, is the first.
set(_wait_policies geosft_wait_policy)
add_library(geosft_wait_policy SHARED "${PROJECT_SOURCE_DIR}/tools/experiment/wait_policy.c")
foreach(level RANGE 2 5)
  add_library(geosft_wait_policy_${level} SHARED "${PROJECT_SOURCE_DIR}/tools/experiment/wait_policy.c")
  list(GET _wait_policies -1 above)
  target_link_libraries(${above} PRIVATE "-Wl,--push-state,--no-as-needed" geosft_wait_policy_${level} "-Wl,--pop-state")
  list(APPEND _wait_policies geosft_wait_policy_${level})
endforeach()
# Other programs choose it as geosft::wait_policy (tools/cmake/install/geosftConfig.cmake.in); Install.cmake, of the root,
# installs the libraries.
set_property(GLOBAL PROPERTY GEOSFT_WAIT_POLICIES ${_wait_policies})

function(geosft_link_wait_policy target)
  target_link_libraries(${target} PRIVATE "-Wl,--push-state,--no-as-needed" geosft_wait_policy "-Wl,--pop-state")
endfunction()

# What a program has that a library must leave to its user.
function(geosft_link_runtime target)
  geosft_link_allocator(${target})
  geosft_link_wait_policy(${target})
endfunction()
