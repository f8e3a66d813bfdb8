#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# usage: tools/kills.sh [N] [options]
# Installs what is missing, builds the tools and their tests, and kills each of the four trainings with SIGKILL while it
# trains, N times (default: 100) at random moments, and some more times at its start and end. Each time the files must be
# whole; resumed, every run must end with the checkpoints, bit for bit, and the metrics of one that nobody killed.

set -euo pipefail
# shellcheck source=tools/setup.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/setup.sh"

kills=100
while (($#)); do
  if [[ $1 =~ ^[1-9][0-9]*$ ]]; then kills=$1 && shift && continue; fi
  geosft_option "$@"
  shift "$geosft_taken"
done

geosft_setup
geosft_build test_tools
GEOSFT_KILLS=$kills "$geosft_root/build/$geosft_preset/bin/test_tools" "a run survives being killed at any moment*" ||
  geosft_die "a killed training did not come back as it was: see above"
