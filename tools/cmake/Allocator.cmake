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
