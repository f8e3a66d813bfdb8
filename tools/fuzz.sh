#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# usage: tools/fuzz.sh [--seconds N] [--runs N] [--list] [options] [TARGET…]
# Feeds the readers of data/ with hostile input, by libFuzzer under the address and undefined-behaviour sanitizers: all
# targets (tests/fuzz/targets), or those that are named, one after the other. Prints a line a target,
# and fails when there is a finding, whose input it keeps in build/fuzz/findings. With GEOSFT_DATA set, small files
# below it join the seeds of the formats that they are of.
#
#   --seconds N    stop a target after so many seconds (default 60)
#   --runs N       stop a target after so many executions (default: none)
#   --list         print the targets and stop

set -euo pipefail
# shellcheck source=tools/setup.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/setup.sh"

seconds=60
runs=-1
list=
targets=()
while (($#)); do
  case $1 in
    --seconds | --runs)
      [[ ${2-} =~ ^[1-9][0-9]*$ ]] || geosft_misuse "$1: '${2-}' is not a number of 1 or more"
      if [[ $1 == --runs ]]; then runs=$2; else seconds=$2; fi
      shift 2 ;;
    --list) list=1 && shift ;;
    -*) geosft_option "$@" && shift "$geosft_taken" ;;
    *) targets+=("$1") && shift ;;
  esac
done

geosft_preset=fuzz
mapfile -t packages < <(grep -v '^#' "$geosft_root/tools/packages_fuzz.txt")
geosft_install_packages "${packages[@]}"
geosft_setup
geosft_build geosft_fuzz

folder=$geosft_root/build/fuzz
program=$folder/bin/geosft_fuzz
mapfile -t known < <("$program")
[[ -z $list ]] || { printf '%s\n' "${known[@]}"; exit 0; }
((${#targets[@]})) || targets=("${known[@]}")
for target in "${targets[@]}"; do
  [[ " ${known[*]} " == *" $target "* ]] || geosft_misuse "no target '$target' (--list prints them)"
done

# A folder in memory for the files of an input.
TMPDIR=$(mktemp -d -p "$([[ -w /dev/shm ]] && echo /dev/shm || echo /tmp)" geosft-fuzz.XXXXXX)
export TMPDIR ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=0 GEOSFT_FUZZ_TARGET GEOSFT_FUZZ_SEEDS
trap 'rm -rf -- "$TMPDIR"' EXIT

fuzz() {
  local corpus=$folder/corpus/$1 findings=$folder/findings/$1 log=$folder/$1.log began=$SECONDS executions found
  mkdir -p "$corpus" "$findings" "$TMPDIR/seeds"
  rm -rf -- "${TMPDIR:?}"/seeds/*
  if [[ -n ${GEOSFT_DATA-} ]]; then
    find "$GEOSFT_DATA/" -name "*.$1" -size -32k -print0 | head -z -n 20 | xargs -0 -r cp -t "$TMPDIR/seeds"
  fi
  [[ ! -d $geosft_root/tests/fuzz/findings/$1 ]] || cp "$geosft_root/tests/fuzz/findings/$1"/* "$TMPDIR/seeds"
  GEOSFT_FUZZ_TARGET=$1 GEOSFT_FUZZ_SEEDS=$TMPDIR/seeds
  "$program" -max_total_time="$seconds" -runs="$runs" -max_len=8192 -timeout=20 -rss_limit_mb=3000 \
    -malloc_limit_mb=300 -print_final_stats=1 -artifact_prefix="$findings/" "$corpus" "$TMPDIR/seeds" >"$log" 2>&1 || true
  executions=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
  mapfile -t found < <(find "$findings" -type f -newer "$TMPDIR/began")
  echo "$1: ${executions:-0} executions in $((SECONDS - began)) s, ${#found[@]} findings${found[0]+ (see ${log#"$geosft_root"/})}"
  [[ -n $executions ]] && ((${#found[@]} == 0))
}

bad=0
for target in "${targets[@]}"; do
  touch "$TMPDIR/began"
  fuzz "$target" || bad=$((bad + 1))
done
((bad == 0)) || geosft_die "$bad of ${#targets[@]} targets have findings: GEOSFT_FUZZ_TARGET=NAME build/fuzz/bin/geosft_fuzz FILE repeats one"
