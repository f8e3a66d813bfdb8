# SPDX-License-Identifier: Apache-2.0
"""Checks the tools on a GPU, with small models on generated data: equal losses of two runs, predictions on both devices, a
checkpoint that changes devices, and training with too little memory."""

import contextlib
import glob
import json
import os
import re
import subprocess
import time

import torch

from checking import require
from generated import write_clouds, write_graphs, write_parts, write_series
from programs import last_line, run, training_rows

SMALL = ["--dim", "32", "--num-heads", "4", "--depth", "2", "--batch-size", "8", "--beta2", "0.9", "--epochs", "3"]
LARGE = ["--dim", "256", "--num-heads", "16", "--depth", "8", "--batch-size", "128", "--epochs", "1"]
LEFT = 4 << 30  # bytes that a training with too little memory has for the GPU's context and itself


class Tool:
    """One program with the data that it is tried on: `small`, and `large`, of which a batch has no room."""

    def __init__(self, program, folder, device):
        self.program, self.folder, self.device = program, folder, device

    def path(self, *parts):
        return os.path.join(self.folder, *parts)

    def train(self, run_name, *options, device=None):
        """Rows of metrics.csv."""
        run(self.program, "train", "--out", self.path(run_name), "--device", device or self.device, *options)
        return training_rows(self.path(run_name))

    def start(self, run_name, *options):
        return self.train(run_name, "--data", self.path("small"), *SMALL, *self.options, *options)


class Classify(Tool):
    options = ["--points", "128", "--head-num-samples", "32", "--num-samples", "16"]
    large_options = ["--points", "1024", "--num-samples", "256"]

    def write(self, kind):
        write_clouds(self.path(kind), *((12, 4, 128) if kind == "small" else (32, 1, 1024)))

    def predicted(self):
        return [*sorted(glob.glob(self.path("small", "*", "test", "*.xyz"))), "--top", "4"]


class Segment(Tool):
    options = ["--block", "128", "--num-samples", "16"]
    large_options = ["--num-samples", "256"]

    def write(self, kind):
        write_parts(self.path(kind), *((24, 6, 128) if kind == "small" else (64, 1, 1024)))

    def predicted(self):
        shapes = glob.glob(self.path("small", "*", "test*.txt"))
        clouds = []
        for i, shape in enumerate(sorted(shapes)):  # without the parts
            clouds.append(self.path(f"cloud{i}.xyz"))
            with open(shape) as file, open(clouds[-1], "w") as cloud:
                cloud.writelines(line.rsplit(" ", 1)[0] + "\n" for line in file)
        return [*clouds, "--category", "Bag"]


class Graph(Tool):
    options = ["--encoding", "rwpe", "--encoding-columns", "8", "--num-samples", "16"]
    large_options = ["--num-samples", "256"]

    def write(self, kind):
        write_graphs(self.path(kind), *((60, 30) if kind == "small" else (150, 1024)))

    def predicted(self):
        return ["--split", "test"]


class Sequence(Tool):
    """With attention of the primal-dual family."""
    options = ["--attention", "bn_sh"]
    large_options = ["--attention", "bn_sh"]

    def write(self, kind):
        write_series(self.path(kind), *((16, 8, 96) if kind == "small" else (64, 1, 8192)))

    def predicted(self):
        return ["--split", "test"]


TOOLS = {"geosft-classify": Classify, "geosft-segment": Segment, "geosft-graph": Graph, "geosft-sequence": Sequence}


def check_losses(tool):
    for precision in ("float32", "bfloat16", "float16"):
        first, again = (tool.start(f"{precision}{i}", "--precision", precision) for i in range(2))
        require(len(first) == 3, f"{precision}: {len(first)} epochs instead of 3")
        require([row["loss"] for row in first] == [row["loss"] for row in again], f"{precision}: other losses in a second training")
    return f"float32, bfloat16 and float16 train twice with the same losses; of float16 {first[0]['loss']} to {first[-1]['loss']}"


def check_eval(tool):
    here, there = (json.loads(run(tool.program, "eval", tool.path("float320"), "--json", "--device", device))
                   for device in (tool.device, "cpu"))
    apart = {name: abs(here["metrics"][name] - value) for name, value in there["metrics"].items()}
    for name, difference in apart.items():
        maximum = 0.01 * there["metrics"][name] if name == "loss" else max(0.02, 1.01 / there["count"])
        require(difference <= maximum, f"{name} is {here['metrics'][name]} on {tool.device} and {there['metrics'][name]} on the CPU")
    return f"metrics of the CPU, loss {there['metrics']['loss']:.4f} to {apart['loss']:.1e}"


def shares(line):
    """Of an answer to one item: what has which probability, or which share of the points."""
    if "top" in line:
        return dict(line["top"])
    return {part["part"]: part["points"] / line["points"] for part in line["parts"]}


def check_predict(tool):
    given = tool.predicted()
    here, there = ([shares(json.loads(line)) for line in
                    run(tool.program, "predict", tool.path("float320"), *given, "--json", "--device", device).splitlines()]
                   for device in (tool.device, "cpu"))
    require(len(here) == len(there) > 0, f"{len(here)} predictions on {tool.device} and {len(there)} on the CPU")
    worst = max(abs(a.get(name, 0) - b.get(name, 0)) for a, b in zip(here, there) for name in {*a, *b})
    require(worst <= 0.02, f"predictions are {worst:.3f} apart")
    return f"{len(here)} predictions of the CPU, {worst:.1e} apart at most"


def check_travels(tool):
    """Beside the same training without leaving the device."""
    straight = [float(row["loss"]) for row in training_rows(tool.path("float320"))]
    tool.start("travels", "--epochs", "1")
    tool.train("travels", "--resume", "--epochs", "2", device="cpu")
    losses = [float(row["loss"]) for row in tool.train("travels", "--resume", "--epochs", "3")]
    require(len(losses) == 3, f"{len(losses)} epochs instead of 3")
    require(losses[0] == straight[0], "another first epoch")
    apart = max(abs(a / b - 1) for a, b in zip(losses, straight))
    require(apart < 0.05, f"losses {losses} instead of {straight}")
    return f"{tool.device}, cpu, {tool.device}: losses {apart:.1e} apart from those without a change"


@contextlib.contextmanager
def little_memory():
    """Leaves programs LEFT bytes of the GPU's memory."""
    torch.cuda.empty_cache()
    held = torch.empty(max(torch.cuda.mem_get_info()[0] - LEFT, 0), dtype=torch.uint8, device="cuda")
    try:
        yield
    finally:
        del held
        torch.cuda.empty_cache()


def check_memory(tool, little=little_memory):
    """One line with a batch that fits, and that batch trains."""
    tool.write("large")
    command = [tool.program, "train", "--data", tool.path("large"), *LARGE, *tool.large_options, "--device", tool.device]
    with little():
        done = subprocess.run([*command, "--out", tool.path("large_run")], capture_output=True, text=True, timeout=300)
        said = last_line(done.stderr)
        fits = re.search(r"a step has room with --batch-size (\d+) \(tried\)", said)
        require(done.returncode == 1 and "out of memory" in said and fits, f"exit code {done.returncode}: {said}")
        run(*command, "--out", tool.path("fitting_run"), "--batch-size", fits[1])
    return f"with {LEFT >> 30} GiB: {said}"


CHECKS = {"the same losses twice": check_losses, "eval": check_eval, "predict": check_predict,
          "a checkpoint that changes devices": check_travels, "out of memory": check_memory}


def run_tools(programs, folder, device="cuda", checks=CHECKS):
    """Name and result of one check of one tool after the other; `programs` is the folder of the tools."""
    for name, make in TOOLS.items():
        program = os.path.join(programs, name)
        if not os.path.exists(program):
            yield name, {"passed": False, "message": "not built", "seconds": 0}
            continue
        tool = make(program, os.path.join(folder, name), device)
        tool.write("small")
        for what, check in checks.items():
            begin = time.perf_counter()
            try:
                message, passed = check(tool), True
            except Exception as error:  # the others still count
                message, passed = f"{type(error).__name__}: {error}".split("\n")[0], False
            yield f"{name}: {what}", {"passed": passed, "message": message, "seconds": round(time.perf_counter() - begin, 2)}
