#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# usage: tools/test.sh [options] [-- CTEST-OPTION…]
# Installs what is missing, builds everything and runs every test; for example only some: tools/test.sh -- -R geometry

set -euo pipefail
# shellcheck source=tools/setup.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/setup.sh"

geosft_options "$@"
ctest_options=("${geosft_rest[@]}")

geosft_viewer=1 # what the viewer needs is tested, too
# The CUDA kernels are compiled and tested on the CPU; kernels have no threads for ThreadSanitizer to see. Where no GPU is,
# they are compiled for one architecture: each of the three takes as long, and shows the same errors.
[[ $geosft_preset == tsan ]] || geosft_nvcc=1
geosft_has_gpu || geosft_architectures=90
geosft_install_packages doxygen chromium firefox-esr clang-14 # for the API reference, pages, and headers on their own
geosft_wheel=1 # the Python package is built and tested
geosft_setup
[[ $geosft_preset == @(asan|tsan) ]] || geosft_install_test_packages # a sanitizer's build has no tests in Python
"$geosft_root/tools/site.sh" --setup # the site is built without warnings, too
geosft_build all
geosft_say "testing, $geosft_jobs at a time"
# The tests are many and short: one thread each, or they would fight for the cores.
# Tests ask for more memory than there can be.
if [[ $geosft_preset == asan ]]; then
  export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}allocator_may_return_null=1
  export LSAN_OPTIONS=${LSAN_OPTIONS:+$LSAN_OPTIONS:}suppressions=$geosft_root/tools/lsan.supp:print_suppressions=0
fi
if OMP_NUM_THREADS=${OMP_NUM_THREADS:-1} MKL_NUM_THREADS=1 ctest --test-dir "$geosft_root/build/$geosft_preset" --output-on-failure \
  --no-tests=error -j "$geosft_jobs" "${ctest_options[@]}"; then
  echo "test.sh: every test passed"
else
  echo "test.sh: a test failed or none was found: see above"
  exit 1
fi
