#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# usage: tools/flaky.sh [--rounds N] [--from N] [--keep-free] [options] [BINARY…]
# Runs the test programs of build/PRESET, or those that are named (test_models, …), N times each, to find tests that fail
# now and then. Each run has its cases in another random order, other random numbers, in turns 1 and 2 threads, and one
# core that something else keeps busy. Prints a table of the failures, with the command that repeats each; fails when
# there is one. What each failed run printed is in build/PRESET/flaky.
#
#   --rounds N     runs of each program (default 50)
#   --from N       number of the first round (default 1); seeds follow from the numbers, so that 50 rounds can be run in
#                  several sittings: --rounds 25, then --rounds 25 --from 26
#   --keep-free    keep no core busy

set -euo pipefail
# shellcheck source=tools/setup.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/setup.sh"

rounds=50
first=1
busy=1
programs=()
while (($#)); do
  case $1 in
    --rounds | --from)
      [[ ${2-} =~ ^[1-9][0-9]*$ ]] || geosft_misuse "$1: '${2-}' is not a number of 1 or more"
      if [[ $1 == --from ]]; then first=$2; else rounds=$2; fi
      shift 2 ;;
    --keep-free) busy= && shift ;;
    -*) geosft_option "$@" && shift "$geosft_taken" ;;
    *) programs+=("$1") && shift ;;
  esac
done

bin=$geosft_root/build/$geosft_preset/bin
logs=$geosft_root/build/$geosft_preset/flaky
((${#programs[@]})) || mapfile -t programs < <(cd -- "$bin" 2>/dev/null && ls -1 | grep '^test_' || true)
((${#programs[@]})) || geosft_die "no test programs in $bin: tools/test.sh builds them"
for program in "${programs[@]}"; do
  [[ -x $bin/$program ]] || geosft_misuse "no test program '$program' in $bin"
done
mkdir -p -- "$logs"
if [[ -n $busy ]]; then
  while :; do :; done &
  spinning=$!
  trap 'kill "$spinning"' EXIT
fi

failures=()
last=$((first + rounds - 1))
for ((round = first; round <= last; ++round)); do
  threads=$((2 - round % 2))
  for program in "${programs[@]}"; do
    log=$logs/$program.$round.log
    seeds=(GEOSFT_TEST_SEED="$round" GEOSFT_GENERATOR_SEED="$round")
    command="${seeds[*]} OMP_NUM_THREADS=$threads $program --order rand --rng-seed $round"
    if (cd -- "$logs" && env "${seeds[@]}" OMP_NUM_THREADS="$threads" MKL_NUM_THREADS=1 timeout 3600 \
      "$bin/$program" --order rand --rng-seed "$round" >"$log" 2>&1); then
      rm -- "$log"
    else
      # The first line of each failed case: its name stands between two rules of dashes.
      names=$(awk '/^-+$/ && length >= 70 && (rule = !rule) {getline; name = $0} /FAILED:/ {print name}' "$log" |
        sort -u | paste -sd '|')
      failures+=("$command"$'\t'"${names:-ended early}")
    fi
  done
  geosft_say "round $round of $first to $last: ${#failures[@]} failed runs so far"
done

if ((${#failures[@]})); then
  printf '%-115s %s\n' "failed run" cases
  for failure in "${failures[@]}"; do printf '%-115s %s\n' "${failure%%$'\t'*}" "${failure#*$'\t'}"; done
  exit 1
fi
echo "flaky.sh: no failure in rounds $first to $last of ${#programs[@]} programs"
