#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How the rule of tools/configs/sequence/uea.toml was chosen: every number of tokens, optimiser steps and dropout, by
cross-validation of the training series of sets in the archive's form. The test series are not read.

    tools/bench/series_rule.py DIR [DIR ...] --out OUT

DIR holds NAME_TRAIN.ts. The series of each class go to the folds in turn. Prints the accuracy of each setting on each set
and their mean, the best first. A run that OUT has is not repeated, so the command may be stopped and given again; runs of
several sets may go on side by side, each command with its own DIR, and one with all of them prints the table.
"""

import argparse
import collections
import itertools
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
# As tools/experiment/automatic_settings.h has them, for sets of less than 1,024 series.
BATCH, MIN_EPOCHS, MAX_EPOCHS, MAX_PATCH, MAX_NUMBERS = 16, 30, 400, 32, 512


def read_series(folder):
    """The name of the set, the lines before its series, and the series."""
    files = sorted(folder.glob("*_TRAIN.ts"))
    if len(files) != 1:
        sys.exit(f"series_rule.py: {folder}: expected one file *_TRAIN.ts, found {len(files)}")
    lines = files[0].read_text().splitlines()
    begin = [line.strip().lower() for line in lines].index("@data") + 1
    return files[0].name.removesuffix("_TRAIN.ts"), lines[:begin], [line for line in lines[begin:] if line.strip()]


def write_folds(name, head, series, folds, out):
    """Folders of the archive's form, one for each fold, whose test series are the fold."""
    seen, fold_of = collections.Counter(), []
    for line in series:
        label = line.rsplit(":", 1)[1].strip()
        fold_of.append(seen[label] % folds)
        seen[label] += 1
    made = []
    for fold in range(folds):
        folder = out / f"{name}_fold_{fold}"
        folder.mkdir(parents=True, exist_ok=True)
        for part, inside in (("TRAIN", False), ("TEST", True)):
            rows = [line for line, of in zip(series, fold_of) if (of == fold) == inside]
            (folder / f"{name}_{part}.ts").write_text("\n".join([*head, *rows]) + "\n")
        made.append((folder, fold_of.count(fold)))
    return made


def accuracy(program, data, training, patch, steps, dropout, attention, out):
    """Of one run on one fold."""
    epochs = min(max(-(-steps // -(-training // BATCH)), MIN_EPOCHS), MAX_EPOCHS)
    run = out / f"{data.name}_{patch}_{steps}_{dropout}"
    if not (run / "result.json").exists():
        command = [program, "train", "--config", ROOT / "tools/configs/sequence/uea.toml", "--data", data, "--attention", attention, "--threads", "1",
                   "--patch-size", str(patch), "--epochs", str(epochs), "--token-dropout", str(dropout),
                   "--feed-forward-dropout", str(dropout), "--out", run]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"series_rule.py: {run}: {(done.stderr.splitlines() or ['no message'])[-1]}")
    return json.loads((run / "result.json").read_text())["metrics"]["accuracy"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=pathlib.Path, nargs="+", metavar="DIR")
    parser.add_argument("--out", type=pathlib.Path, required=True, help="folder for the folds and the runs")
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build/release/bin")
    parser.add_argument("--attention", default="softmax")
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--tokens", type=int, nargs="+", default=[16, 32, 64])
    parser.add_argument("--steps", type=int, nargs="+", default=[300, 600, 1200])
    parser.add_argument("--dropout", type=float, nargs="+", default=[0.0, 0.1, 0.2])
    options = parser.parse_args()
    if not (options.bin / "geosft-sequence").is_file():
        sys.exit(f"series_rule.py: no geosft-sequence in {options.bin}: build it, or name its folder by --bin")
    sets = {}
    for folder in options.data:
        name, head, series = read_series(folder)
        longest = max(len(line.split(":")[0].split(",")) for line in series)
        max_patch = max(1, min(MAX_PATCH, MAX_NUMBERS // series[0].count(":")))  # a part for each dimension, then the class
        sets[name] = longest, max_patch, len(series), write_folds(name, head, series, options.folds, options.out)
    rows = []
    for tokens, steps, dropout in itertools.product(options.tokens, options.steps, options.dropout):
        means = []
        for longest, max_patch, count, folds in sets.values():
            patch = min(-(-longest // tokens), max_patch)
            found = [accuracy(options.bin / "geosft-sequence", folder, count - held, patch, steps, dropout, options.attention, options.out)
                     for folder, held in folds]
            means.append(100 * sum(found) / len(found))
        rows.append((sum(means) / len(means), tokens, steps, dropout, means))
    print(f"{'tokens':>6} {'steps':>6} {'dropout':>7} {'mean':>7} ", *(f"{name:>20}" for name in sets))
    for mean, tokens, steps, dropout, means in sorted(rows, reverse=True):
        print(f"{tokens:>6} {steps:>6} {dropout:>7} {mean:>7.2f} ", *(f"{one:>20.2f}" for one in means))


if __name__ == "__main__":
    main()
