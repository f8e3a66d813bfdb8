# SPDX-License-Identifier: Apache-2.0
"""Runs the tools, and reads the output of a training."""

import csv
import os
import subprocess


def last_line(text):
    return text.strip().split("\n")[-1]


def run(*command, limit=300):
    """What a program says on stdout; what it says last is the error where it fails."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=limit)
    if done.returncode != 0:
        raise RuntimeError(f"{os.path.basename(command[0])} {command[1]}, exit code {done.returncode}: {last_line(done.stderr)}")
    return done.stdout


def training_rows(folder):
    """The rows of metrics.csv of the training split."""
    with open(os.path.join(folder, "metrics.csv")) as file:
        return [row for row in csv.DictReader(file) if row["split"] == "train"]
