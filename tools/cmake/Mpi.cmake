# SPDX-License-Identifier: Apache-2.0
# Finds MPI, which is optional: without it only one process trains a run.
geosft_auto_option(GEOSFT_MPI "build libgeosft_mpi.so, for training by several processes, by default where there is an MPI")

set(GEOSFT_HAS_MPI OFF)
if(GEOSFT_MPI STREQUAL "OFF")
  message(STATUS "MPI: off, runs are trained by one process")
  return()
endif()
if(GEOSFT_MPI STREQUAL "AUTO" AND GEOSFT_SANITIZE)
  message(STATUS "MPI: off, the sanitizers would report what it never frees")
  return()
endif()
set(MPI_CXX_SKIP_MPICXX ON)
find_package(MPI QUIET COMPONENTS C)
if(MPI_C_FOUND)
  set(GEOSFT_HAS_MPI ON)
  message(STATUS "MPI ${MPI_C_VERSION} in ${MPI_C_LIBRARIES}")
elseif(GEOSFT_MPI STREQUAL "ON")
  message(FATAL_ERROR "GEOSFT_MPI=ON, but no MPI was found (Debian: libopenmpi-dev): name its compiler with "
                      "-DMPI_C_COMPILER= or set GEOSFT_MPI=AUTO")
else()
  message(STATUS "MPI: none found (Debian: libopenmpi-dev), none needed, runs are trained by one process")
endif()
