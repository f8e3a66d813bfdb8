# SPDX-License-Identifier: Apache-2.0
"""Measures the fraction of time in which a kernel runs while a program trains: with Nsight Systems if it is installed, else
from the driver."""

import glob
import os
import shutil
import sqlite3
import subprocess
import threading

from programs import training_rows


def profiler():
    """Nsight Systems on the PATH or beside a CUDA toolkit; None where there is none."""
    places = glob.glob("/usr/local/cuda*/bin/nsys") + glob.glob("/opt/nvidia/nsight-systems*/*/bin/nsys")
    return shutil.which("nsys") or next(iter(sorted(places, reverse=True)), None)


def covered(spans, begin, end):
    """How much of begin to end lies in one of the spans, which are in order of their beginnings."""
    total, reached = 0, begin
    for first, last in spans:
        first, last = max(first, reached), min(last, end)
        if last > first:
            total += last - first
            reached = last
    return total


def share_in_profile(file):
    """Of the steps after the first quarter: they end with a kernel of the optimiser each. Copies are no kernels."""
    kernels = sqlite3.connect(file).execute(
        'SELECT start, "end", value FROM CUPTI_ACTIVITY_KIND_KERNEL JOIN StringIds ON id = demangledName ORDER BY start').fetchall()
    ends = [end for _, end, name in kernels if "Adam" in name]
    if len(ends) < 8:
        raise RuntimeError(f"{len(ends)} kernels of the optimiser in {len(kernels)} kernels of the profile")
    begin, end = ends[len(ends) // 4], ends[-1]
    return covered([kernel[:2] for kernel in kernels], begin, end) / (end - begin)


def profiled_share(nsys, command, folder):
    """Runs the training once more under the profiler, which slows its host down a little."""
    profile = os.path.join(folder, "profile")
    done = subprocess.run([nsys, "profile", "--trace=cuda", "--sample=none", "--cpuctxsw=none", "--export=sqlite",
                           "--force-overwrite=true", f"--output={profile}", *command], capture_output=True, text=True, timeout=300)
    if not os.path.exists(profile + ".sqlite"):
        raise RuntimeError(f"nsys: {(done.stderr or done.stdout).strip()[-150:]}")
    return share_in_profile(profile + ".sqlite")


class Utilisation(threading.Thread):
    """Asks the driver, five times a second, in which share of its last interval a kernel ran, and keeps the answers
    between the first and the last epoch of the training that writes into `folder`."""

    def __init__(self, folder, epochs):
        super().__init__(daemon=True)
        self.folder, self.epochs, self.shares, self.ended = folder, epochs, [], threading.Event()

    def steady(self):
        try:
            return 1 <= len(training_rows(self.folder)) < self.epochs
        except (OSError, KeyError):  # not begun
            return False

    def run(self):
        query = ["nvidia-smi", "--query-gpu=utilization.gpu", "--format=csv,noheader,nounits", "-i", "0"]
        while not self.ended.wait(0.2):
            try:
                answer = subprocess.run(query, capture_output=True, text=True, timeout=10).stdout.split()
            except (OSError, subprocess.TimeoutExpired):
                return
            if answer and answer[0].isdigit() and self.steady():
                self.shares.append(int(answer[0]) / 100)

    def mean(self):
        self.ended.set()
        self.join()
        return sum(self.shares) / len(self.shares) if self.shares else None
