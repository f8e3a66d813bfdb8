#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# usage: tools/fuzz.sh [--seconds N] [--runs N] [--list] [--table] [options] [TARGET…]
# Feeds the readers of data/ with hostile input, by libFuzzer under the address and undefined-behaviour sanitizers: all
# targets (tests/fuzz/targets), or those that are named, one after the other. Prints a line a target,
# and fails when there is a finding, whose input it keeps in build/fuzz/findings. Real files join the seeds of the formats
# that they are of: the checkout's, the furniture's, and small ones below the folder that GEOSFT_DATA names.
#
#   --seconds N    stop a target after so many seconds (default 60)
#   --runs N       take turns, of 600 seconds where --seconds says nothing else, until each target has had so many
#                  executions since its last finding, those of earlier calls included; then print the table
#   --list         print the targets and stop
#   --table        print the executions and findings of all calls so far (build/fuzz/executions.tsv) and stop

set -euo pipefail
# shellcheck source=tools/setup.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/setup.sh"

seconds=
runs=
list=
table=
targets=()
while (($#)); do
  case $1 in
    --seconds | --runs)
      [[ ${2-} =~ ^[1-9][0-9]*$ ]] || geosft_misuse "$1: '${2-}' is not a number of 1 or more"
      if [[ $1 == --runs ]]; then runs=$2; else seconds=$2; fi
      shift 2 ;;
    --list) list=1 && shift ;;
    --table) table=1 && shift ;;
    -*) geosft_option "$@" && shift "$geosft_taken" ;;
    *) targets+=("$1") && shift ;;
  esac
done
[[ -n $seconds ]] || { [[ -n $runs ]] && seconds=600 || seconds=60; }

folder=$geosft_root/build/fuzz
record=$folder/executions.tsv # target, executions, seconds, findings, commit: a line for every turn

print_table() {
  printf '%-22s %12s %12s %9s %9s\n' target executions "since last" seconds findings
  [[ -e $record ]] || return 0
  awk -F '\t' '
    { all[$1] += $2; since[$1] = $4 > 0 ? 0 : since[$1] + $2; seconds[$1] += $3; found[$1] += $4 }
    END { for (name in all) printf "%-22s %12.0f %12.0f %9.0f %9.0f\n", name, all[name], since[name], seconds[name], found[name] }
  ' "$record" | sort
}
[[ -z $table ]] || { print_table; exit 0; }

geosft_preset=fuzz
mapfile -t packages < <(grep -v '^#' "$geosft_root/tools/packages_fuzz.txt")
geosft_install_packages "${packages[@]}"
geosft_setup
geosft_build geosft_fuzz

program=$folder/bin/geosft_fuzz
mapfile -t known < <("$program")
[[ -z $list ]] || { printf '%s\n' "${known[@]}"; exit 0; }
((${#targets[@]})) || targets=("${known[@]}")
for target in "${targets[@]}"; do
  [[ " ${known[*]} " == *" $target "* ]] || geosft_misuse "no target '$target' (--list prints them)"
done

# A folder in memory for the files of an input.
TMPDIR=$(mktemp -d -p "$([[ -w /dev/shm ]] && echo /dev/shm || echo /tmp)" geosft-fuzz.XXXXXX)
export TMPDIR GEOSFT_FUZZ_TARGET GEOSFT_FUZZ_SEEDS
trap 'rm -rf -- "$TMPDIR"' EXIT

# What of a format is at hand, by the ending of its files.
real_files() {
  local pattern
  case $1 in
    checkpoint) pattern='*.ckpt' ;;
    cloud_hdf5 | part_hdf5 | scan_object_nn | packed_graphs | graph_cache | encoding_cache) pattern='*.h5' ;;
    matrix_market) pattern='*.mtx' ;;
    metrics) pattern=metrics.csv ;;
    xyz_molecule) pattern='*.xyz' ;;
    *) pattern="*.$1" ;;
  esac
  find "$geosft_root/tests/fixtures" "$geosft_root/tools/configs" ${GEOSFT_DATA:+"$GEOSFT_DATA/"} -type f -name "$pattern" \
    -size -32k -print0 | head -z -n 20
}

# The smallest meshes of the furniture, as seeds in the folder $1.
real_meshes() {
  python3 - "$1" /usr/share/sweethome3d/furniture/*.sh3f <<'END'
import pathlib, sys, zipfile
members = []
for name in filter(zipfile.is_zipfile, sys.argv[2:]):
    archive = zipfile.ZipFile(name)
    members += [(about.file_size, name, archive, about) for about in archive.infolist() if about.filename.endswith(".obj")]
for number, (_, _, archive, about) in enumerate(sorted(members, key=lambda member: member[:2])[:20]):
    (pathlib.Path(sys.argv[1]) / f"mesh_{number}").write_bytes(archive.read(about))
END
}

# The first series of real training and test files each, joined as the target ts wants them, in the folder $1.
real_series() {
  local train number=0
  while IFS= read -r train; do
    [[ -e ${train%_TRAIN.ts}_TEST.ts ]] || continue
    { first_series "$train" && printf '\x1e' && first_series "${train%_TRAIN.ts}_TEST.ts"; } >"$1/series_$((number++))"
  done < <([[ -z ${GEOSFT_DATA-} ]] || find "$GEOSFT_DATA/" -name '*_TRAIN.ts' | sort | head -n 10)
}
first_series() { awk '{ print } data { exit } tolower($1) ~ /^@data/ { data = 1 }' "$1"; }

# Executions of a target since its last finding.
executions_of() {
  [[ -e $record ]] || { echo 0; return; }
  awk -F '\t' -v target="$1" '$1 == target { sum = $4 > 0 ? 0 : sum + $2 } END { printf "%.0f\n", sum }' "$record"
}

# A turn of a target, of at most so many executions (-1: any number).
fuzz() {
  local corpus=$folder/corpus/$1 findings=$folder/findings/$1 log=$folder/$1.log began=$SECONDS executions found length=8192
  local options=allocator_may_return_null=0
  mkdir -p "$corpus" "$findings" "$TMPDIR/seeds"
  rm -rf -- "${TMPDIR:?}"/seeds/*
  real_files "$1" | xargs -0 -r cp --backup=numbered -t "$TMPDIR/seeds"
  case $1 in
    obj) real_meshes "$TMPDIR/seeds" ;;
    ts) real_series "$TMPDIR/seeds" && length=32768 ;;
    # No part of one is read.
    checkpoint) length=32768 ;;
    cifar) length=16384 ;;
    # The library asks for any memory that a file names, in its own process, and goes on when it gets none. The less
    # memory there is, the sooner such a process begins.
    cloud_hdf5 | part_hdf5 | scan_object_nn | packed_graphs | graph_cache | encoding_cache)
      length=49152 options=allocator_may_return_null=1:quarantine_size_mb=1 ;;
  esac
  [[ ! -d $geosft_root/tests/fuzz/findings/$1 ]] || cp "$geosft_root/tests/fuzz/findings/$1"/* "$TMPDIR/seeds"
  find "$TMPDIR/seeds" -type f -size +"${length}"c -delete # what libFuzzer would cut off
  GEOSFT_FUZZ_TARGET=$1 GEOSFT_FUZZ_SEEDS=$TMPDIR/seeds
  # What was found before is read again: it is a finding until it is mended.
  # Where memory was taken is remembered in short: a finding that is repeated by hand says it in full.
  ASAN_OPTIONS=detect_leaks=0:malloc_context_size=2:$options \
    "$program" -max_total_time="$seconds" -runs="$2" -max_len="$length" -timeout=20 -rss_limit_mb=3000 -malloc_limit_mb=300 \
    -print_final_stats=1 -artifact_prefix="$findings/" "$corpus" "$TMPDIR/seeds" "$findings" >"$log" 2>&1 || true
  executions=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
  mapfile -t found < <(find "$findings" -type f -newer "$TMPDIR/began")
  printf '%s\t%s\t%s\t%s\t%s\n' "$1" "${executions:-0}" "$((SECONDS - began))" "${#found[@]}" "$commit" >>"$record"
  echo "$1: ${executions:-0} executions in $((SECONDS - began)) s, ${#found[@]} findings${found[0]+ (see ${log#"$geosft_root"/})}"
  ((${executions:-0} > 0 && ${#found[@]} == 0))
}

commit=$(git -C "$geosft_root" describe --always --dirty 2>/dev/null || echo unknown)
bad=0
waiting=("${targets[@]}")
while ((${#waiting[@]})); do
  again=()
  for target in "${waiting[@]}"; do
    left=-1
    if [[ -n $runs ]]; then
      left=$((runs - $(executions_of "$target")))
      ((left > 0)) || continue
    fi
    touch "$TMPDIR/began"
    if ! fuzz "$target" "$left"; then
      bad=$((bad + 1))
    elif [[ -n $runs ]]; then
      again+=("$target")
    fi
  done
  waiting=("${again[@]}")
done
[[ -z $runs ]] || print_table
((bad == 0)) || geosft_die "$bad of ${#targets[@]} targets have findings: GEOSFT_FUZZ_TARGET=NAME build/fuzz/bin/geosft_fuzz FILE repeats one"
