#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# usage: tests/seeded.sh [FOLDER]
# Fails when a source below FOLDER (by default this one) takes random numbers from a source that is not seeded. LibTorch's
# default generator is: tests/main.cpp seeds it before each C++ case; a Python program that draws from it must call
# torch.manual_seed.
set -euo pipefail
folder=${1:-$(dirname -- "${BASH_SOURCE[0]}")}
found=$(grep -rnE --include='*.cpp' --include='*.h' --include='*.py' --include='*.sh' --exclude=seeded.sh \
  'random_device|\bs?rand\(\)?|default_random_engine|getNonDeterministicRandom|/dev/u?random|\$RANDOM|\bseed\(\)|numpy\.random|\bnp\.random|SystemRandom|\bsecrets\.' \
  "$folder" | grep -vE '(at|torch)::rand\(|torch\.rand\(|default_rng\([0-9]' || true)
while IFS= read -r -d '' file; do
  # A call without a generator, in a file that seeds none.
  grep -qE 'torch\.manual_seed\(' "$file" && continue
  found+=$(grep -nE 'torch\.(rand|randn|randint|randperm|normal|bernoulli)\(' "$file" | grep -v 'generator=' |
    sed "s|^|${file}:|" || true)
done < <(find "$folder" -name '*.py' -print0)
if [[ -n $found ]]; then
  printf '%s\n' "$found" "seeded.sh: these draw from a source that nothing seeds" >&2
  exit 1
fi
echo "seeded.sh: all random numbers below $folder are seeded"
