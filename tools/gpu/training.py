# SPDX-License-Identifier: Apache-2.0
"""Trains a classifier with geosft-classify on a GPU, on clouds made here: speed, idle time, the same bits twice and with
replayed steps; where there are two GPUs, on both."""

import csv
import math
import os
import random
import subprocess
import threading


def write_clouds(folder, classes=4, each=256, points=1024):
    """Point files in a folder a class: spheres of several shapes, with normals."""
    draw = random.Random(1)
    for split, count in (("train", each), ("test", 8)):
        for label in range(classes):
            path = os.path.join(folder, f"class{label}", split)
            os.makedirs(path)
            for i in range(count):
                with open(os.path.join(path, f"cloud{i}.xyz"), "w") as file:
                    for _ in range(points):
                        x, y, z = (draw.gauss(0, 1) for _ in range(3))
                        norm = math.sqrt(x * x + y * y + z * z)
                        x, y, z = x / norm, y / norm, z / norm
                        stretch = 1 + 0.4 * label * z
                        file.write(f"{x * stretch} {y * stretch} {z} {x} {y} {z}\n")


class Busy(threading.Thread):
    """Asks the driver, twice a second, for the share of time in which a kernel was running."""

    def __init__(self):
        super().__init__(daemon=True)
        self.shares, self.ended = [], threading.Event()

    def run(self):
        query = ["nvidia-smi", "--query-gpu=utilization.gpu", "--format=csv,noheader,nounits", "-i", "0"]
        while not self.ended.wait(0.5):
            answer = subprocess.run(query, capture_output=True, text=True).stdout.split()
            if answer and answer[0].isdigit():
                self.shares.append(int(answer[0]) / 100)


def train(program, data, run, *options, processes=1):
    """The rows of metrics.csv of the training split. Several processes have a GPU each."""
    command = [program, "train", "--data", data, "--out", run, "--device", "cuda", *options]
    together = [dict(RANK=str(rank), WORLD_SIZE=str(processes), MASTER_ADDR="127.0.0.1", MASTER_PORT="29517")
                for rank in range(processes)] if processes > 1 else [{}]
    started = [subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env={**os.environ, **own})
               for own in together]
    said = [process.communicate()[1] for process in started]
    if any(process.returncode != 0 for process in started):
        raise RuntimeError("".join(said).strip().split("\n")[-1])
    with open(os.path.join(run, "metrics.csv")) as file:
        return [row for row in csv.DictReader(file) if row["split"] == "train"]


def gpus():
    listed = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True).stdout
    return sum(line.startswith("GPU ") for line in listed.splitlines())


def rate_of(row):
    """The name of the column with the clouds a second."""
    return next(name for name in row if name.endswith("_per_second"))


def run_training(program, config, folder):
    """Lines of the report."""
    data = os.path.join(folder, "clouds")
    write_clouds(data)
    common = ["--config", config, "--validate-every", "1000", "--points", "1024", "--workers", str(os.cpu_count())]
    lines = {}
    for precision in ("float32", "bfloat16", "float16"):
        busy = Busy()
        busy.start()
        rows = train(program, data, os.path.join(folder, precision), *common, "--precision", precision, "--epochs", "8")
        busy.ended.set()
        items = max(float(row[rate_of(row)]) for row in rows[1:])
        lines[f"training, {precision}"] = {
            "clouds_per_s": items, "losses": [float(row["loss"]) for row in rows],
            "busy": max(busy.shares, default=None)}
    losses = [[row["loss"] for row in train(program, data, os.path.join(folder, f"again{i}"), *common, "--epochs", "2")]
              for i in range(2)]
    lines["training, twice"] = {"same": losses[0] == losses[1]}
    replayed = train(program, data, os.path.join(folder, "replayed"), *common, "--epochs", "8", "--replay-steps")
    lines["training, float32, steps replayed as a CUDA graph"] = {
        "clouds_per_s": max(float(row[rate_of(row)]) for row in replayed[1:]),
        "same": [float(row["loss"]) for row in replayed] == lines["training, float32"]["losses"]}
    two = "training, two GPUs (NCCL), against one with the whole batch"
    if gpus() < 2:
        return {**lines, two: {"left_out": "there is one GPU here"}}
    rows = train(program, data, os.path.join(folder, "two"), *common, "--epochs", "2", "--batch-size", "16", processes=2)
    apart = max(abs(float(row["loss"]) / float(one) - 1) for row, one in zip(rows, losses[0], strict=True))
    lines[two] = {"clouds_per_s": float(rows[-1][rate_of(rows[-1])]), "apart": apart}
    return lines
