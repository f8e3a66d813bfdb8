#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# usage: run_or_leave_out.sh COMMAND…
#        run_or_leave_out.sh --reason TEXT
# Runs a test that ends with 77 where it must be left out, or says why there is none. Where the environment has
# GEOSFT_REQUIRE_ALL, that is a failure.
set -uo pipefail
status=77
if [[ $1 == --reason ]]; then echo "left out: $2"; else "$@"; status=$?; fi
if ((status == 77)) && [[ -v GEOSFT_REQUIRE_ALL ]]; then
  echo "GEOSFT_REQUIRE_ALL: no test may be left out"
  exit 1
fi
exit "$status"
