#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# usage: tools/examples/10_fine_tune.sh DATA [OUT]
# Shows what a pretrained model gains where there are five shapes of each class: trains on them from random weights, from
# the pretrained furniture classifier, and with its encoder frozen, and prints the accuracy on the test shapes of DATA, a
# dataset of geosft-classify (a folder for each class, or arrays). GEOSFT names another program, EPOCHS another length, SEED
# another seed, which also chooses the five shapes.
set -euo pipefail

(($# >= 1)) || { echo "usage: $0 DATA [OUT]" >&2; exit 2; }
data=$1 out=${2:-runs/fine_tune}
geosft=${GEOSFT:-build/release/bin/geosft-classify}
config=$(dirname -- "${BASH_SOURCE[0]}")/../configs/furniture.toml

# train NAME OPTION...: trains on five shapes of each class and prints a row of the table.
train() {
  local name=$1
  shift
  "$geosft" train --config "$config" --data "$data" --max-per-class 5 --epochs "${EPOCHS:-100}" --seed "${SEED:-0}" --votes 4 --no-kernel-ridge --out "$out/$name" "$@" >/dev/null
  local accuracy
  accuracy=$(sed -E 's/.*"accuracy":([0-9.]+).*/\1/' "$out/$name/result.json")
  printf '%-24s %5.1f %%\n' "$name" "$(awk -v a="$accuracy" 'BEGIN { print 100 * a }')"
}

train from_scratch
train fine_tuned --init-from furniture --head-lr-factor 5 --lr 1e-3
train frozen_encoder --init-from furniture --freeze-encoder --lr 1e-2
