# SPDX-License-Identifier: Apache-2.0
# LIBSVM is optional: only the support vector regression of models/theory uses it.
find_path(GEOSFT_LIBSVM_INCLUDE libsvm/svm.h)
find_library(GEOSFT_LIBSVM svm)
set(GEOSFT_HAS_LIBSVM OFF)
if(GEOSFT_LIBSVM_INCLUDE AND GEOSFT_LIBSVM)
  set(GEOSFT_HAS_LIBSVM ON)
  message(STATUS "LIBSVM in ${GEOSFT_LIBSVM}")
else()
  message(STATUS "LIBSVM: not found (Debian: libsvm-dev), geosft-bench is built without its subcommand `frame`")
endif()
