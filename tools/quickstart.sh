#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# usage: tools/quickstart.sh [options]
# Installs what is missing, builds geosft-classify, classifies a few files with the pretrained model, trains a
# rotation-invariant classifier on the furniture models of Debian, evaluates it upright and under random rotations, and
# classifies the same files with it. All of it lands in runs/quickstart and runs/quickstart_shapes; a second call takes up
# what is finished, and goes on where an interrupted one stopped.

set -euo pipefail
# shellcheck source=tools/setup.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/setup.sh"

while (($#)); do
  geosft_option "$@"
  shift "$geosft_taken"
done

run=runs/quickstart
shapes=runs/quickstart_shapes
classes=(chair lamp plant) # one test model of each is classified

# Prints the command, so that a reader can repeat it, and runs it.
classify() {
  echo "\$ build/$geosft_preset/bin/geosft-classify $*" >&2
  local code=0
  "build/$geosft_preset/bin/geosft-classify" "$@" || code=$?
  ((code != 130)) || { geosft_say "interrupted: the same command goes on from here"; exit 130; }
  ((code == 0)) || geosft_die "geosft-classify $1 failed: see its message above"
}

train() {
  if [[ -e $run/result.json ]]; then
    geosft_say "training: $run is finished, nothing to do"
  elif [[ -e $run/last.ckpt ]]; then
    geosft_say "training: going on with $run"
    classify train --resume --out "$run"
  else
    geosft_say "training: the furniture set, a few minutes"
    classify train --config tools/configs/furniture.toml --out "$run"
  fi
}

# Unpacks the first test model of each class from the furniture archives into <class>.obj.
unpack_shapes() {
  /usr/bin/python3 - "$shapes" "${classes[@]}" <<'PYTHON'
import csv, pathlib, sys, zipfile
folder, classes = pathlib.Path(sys.argv[1]), sys.argv[2:]
folder.mkdir(parents=True, exist_ok=True)
with open("data/points/furniture_labels.csv", newline="") as labels:
    rows = [row for row in csv.DictReader(labels) if row["split"] == "test"]
for name in classes:
    row = next(row for row in rows if row["class"] == name)
    with zipfile.ZipFile(f"/usr/share/sweethome3d/furniture/{row['library']}.sh3f") as archive:
        (folder / f"{name}.obj").write_bytes(archive.read(row["model"]))
PYTHON
}

cd -- "$geosft_root"
geosft_setup
geosft_build geosft-classify
geosft_say "predicting with the pretrained model: test models of ${classes[*]}"
unpack_shapes
classify predict furniture "$shapes"
train
geosft_say "evaluating: upright, then under random rotations"
classify eval "$run" --rotate none
classify eval "$run" --rotate so3
geosft_say "predicting with the trained model"
mkdir -p "$run/shapes" && cp "$shapes"/*.obj "$run/shapes"
for class in "${classes[@]}"; do
  classify predict "$run" "$run/shapes/$class.obj" --picture "$run/importance_$class"
done
geosft_say "done; the model and its pictures:"
find "$run" -name '*.png' -o -name '*.svg' | sort
geosft_say "next, a page to turn in a browser, of the chair as the model sees it: tools/view.sh"
geosft_say "or one of its worst mistakes, at once: build/$geosft_preset/bin/geosft-classify report $run"
