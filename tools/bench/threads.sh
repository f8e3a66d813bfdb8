#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# usage: tools/bench/threads.sh [--rounds N] [--bin DIR] [DATA]
# How fast trainings are with one thread and with the default number, on an idle machine and with one core kept busy by
# something else. The furniture, and MUTAG, Peptides-func and JapaneseVowels where DATA holds tu/MUTAG, peptides-func and
# uea/JapaneseVowels. Prints a table: milliseconds of training per item by metrics.csv (without start and evaluation), the
# median of N rounds (default 3) in which both take turns, and the ratio of one thread to the default: above 1 the default
# is faster.

set -euo pipefail
root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd)
rounds=3
bin=$root/build/release/bin
data=
while (($#)); do
  case $1 in
    --help | -h) sed -n '/^# usage:/,/^$/s/^# \{0,1\}//p' "$0" && exit 0 ;;
    --rounds) rounds=$2 && shift 2 ;;
    --bin) bin=$2 && shift 2 ;;
    -*) echo "threads.sh: unknown option '$1' (--help lists the options)" >&2 && exit 2 ;;
    *) data=$1 && shift ;;
  esac
done
[[ -x $bin/geosft-classify ]] || { echo "threads.sh: no geosft-classify in $bin" >&2; exit 2; }

work=$(mktemp -d)
spinning=
trap 'rm -rf -- "$work"; [[ -z $spinning ]] || kill "$spinning"' EXIT

# train NAME THREADS: milliseconds per item, the mean over its epochs.
train() {
  local configs=$root/tools/configs out=$work/run options=(--threads "$2" --validate-every 1000 --checkpoint-every 1000) file
  rm -rf -- "$out"
  case $1 in
    furniture) "$bin/geosft-classify" train --config "$configs/furniture.toml" --epochs 6 --out "$out" "${options[@]}" ;;
    MUTAG) "$bin/geosft-graph" train --config "$configs/graph/mutag.toml" --data "$data/tu/MUTAG" --folds 2 \
      --epochs 30 --out "$out" "${options[@]}" ;;
    Peptides-func) "$bin/geosft-graph" train --config "$configs/graph/peptides_func_short.toml" --data "$data/peptides-func" \
      --epochs 1 --out "$out" "${options[@]}" ;;
    JapaneseVowels) "$bin/geosft-sequence" train --config "$configs/sequence/japanese_vowels.toml" \
      --data "$data/uea/JapaneseVowels" --epochs 30 --out "$out" "${options[@]}" ;;
  esac >"$work/log" 2>&1 || { tail -n 2 "$work/log" >&2; exit 1; }
  file=$(find "$out" -name metrics.csv | head -n 1)
  # items per second of each epoch: the epochs have the same items.
  awk -F, 'NR == 1 { for (i = 1; i <= NF; ++i) { if ($i == "split") split_at = i; if ($i ~ /_per_second$/) rate = i } }
    NR > 1 && $split_at == "train" { sum += 1 / $rate; ++epochs }
    END { printf "%.6g\n", 1000 * sum / epochs }' "$file"
}

median() { sort -g | awk '{ value[NR] = $1 } END { print NR % 2 ? value[(NR + 1) / 2] : (value[NR / 2] + value[NR / 2 + 1]) / 2 }'; }

names=(furniture)
[[ ! -d $data/tu/MUTAG ]] || names+=(MUTAG)
[[ ! -d $data/uea/JapaneseVowels ]] || names+=(JapaneseVowels)
[[ ! -d $data/peptides-func ]] || names+=(Peptides-func)
printf '%-16s %-6s %14s %14s %8s\n' training others "1 thread" default ratio
for name in "${names[@]}"; do
  for others in idle busy; do
    rm -f -- "$work"/seconds.*
    if [[ $others == busy ]]; then
      while :; do :; done &
      spinning=$!
    fi
    for ((round = 0; round < rounds; ++round)); do
      for threads in 1 0; do train "$name" "$threads" >>"$work/seconds.$threads"; done
    done
    [[ -z $spinning ]] || { kill "$spinning"; wait "$spinning" 2>/dev/null || true; spinning=; }
    one=$(median <"$work/seconds.1") all=$(median <"$work/seconds.0")
    awk -v name="$name" -v others="$others" -v one="$one" -v all="$all" \
      'BEGIN { printf "%-16s %-6s %14.4g %14.4g %8.2f\n", name, others, one, all, one / all }'
  done
done
