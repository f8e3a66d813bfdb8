# SPDX-License-Identifier: Apache-2.0
"""Trains a large classifier with geosft-classify on a GPU, on generated clouds: speed, the fraction of time in kernels, equal
losses of two runs and with replayed steps; on both GPUs if there are two."""

import os
import statistics
import subprocess

from generated import write_clouds
from kernel_time import Utilisation, profiled_share, profiler
from programs import last_line, run, training_rows

EPOCHS = 12


def figures(rows):
    """Of the epochs after the first: the steps of all of their time, and the median of their clouds a second."""
    first, last = rows[0], rows[-1]
    steps, seconds = (float(last[name]) - float(first[name]) for name in ("step", "seconds"))
    rate = next(name for name in first if name.endswith("_per_second"))
    return {"steps_per_s": steps / seconds, "clouds_per_s": statistics.median(float(row[rate]) for row in rows[1:]),
            "losses": [float(row["loss"]) for row in rows]}


def gpus():
    try:
        listed = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, timeout=30).stdout
    except (OSError, subprocess.TimeoutExpired):
        return 0
    return sum(line.startswith("GPU ") for line in listed.splitlines())


class Training:
    """Trainings of one configuration on the same clouds."""

    def __init__(self, program, config, folder, device="cuda", options=()):
        self.program, self.folder = program, folder
        self.common = ["--config", config, "--data", os.path.join(folder, "clouds"), "--device", device, "--validate-every", "1000",
                       "--workers", str(os.cpu_count()), *options]
        self.losses = {}  # of the trainings so far, by their precision

    def place(self, name):
        return os.path.join(self.folder, name)

    def command(self, name, *options):
        return [self.program, "train", "--out", self.place(name), *self.common, *options]

    def rows(self, name, *options):
        run(*self.command(name, *options))
        return training_rows(self.place(name))

    def measured(self, precision):
        options = ["--precision", precision, "--epochs", str(EPOCHS)]
        watch = Utilisation(self.place(precision), EPOCHS)
        watch.start()
        try:
            line = figures(self.rows(precision, *options))
        finally:
            used = watch.mean()
        self.losses[precision] = line["losses"]
        if used is not None:
            line.update(busy=used, busy_by="nvidia-smi, mean over the epochs after the first")
        return line

    def profiled(self):
        """In the type that the target is of."""
        nsys = profiler()
        if nsys is None:
            return {"left_out": "no nsys here: what nvidia-smi says stands in its place"}
        command = self.command("profiled", "--precision", "bfloat16", "--epochs", "4")
        return {"busy": profiled_share(nsys, command, self.folder), "busy_by": "nsys, kernels from step to step"}

    def again(self, precision):
        if precision not in self.losses:
            return {"left_out": f"no training in {precision} to compare with"}
        rows = self.rows(f"again_{precision}", "--precision", precision, "--epochs", "2")
        return {"same": [float(row["loss"]) for row in rows] == self.losses[precision][:2]}

    def replayed(self):
        try:
            line = figures(self.rows("replayed", "--epochs", str(EPOCHS), "--replay-steps"))
        except RuntimeError as error:
            if "--replay-steps needs libgeosft_cuda_graph.so" not in str(error):
                raise
            return {"left_out": str(error)}
        if "float32" not in self.losses:
            return line
        return {**line, "same": line["losses"] == self.losses["float32"]}

    def on_two(self):
        """Beside one GPU with the whole batch."""
        if gpus() < 2:
            return {"left_out": f"GPUs here: {gpus()}"}
        if "float32" not in self.losses:
            return {"left_out": "no training in float32 to compare with"}
        options = ["--epochs", "2", "--batch-size", "16"]
        together = [{"RANK": str(rank), "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29517"} for rank in range(2)]
        started = [subprocess.Popen(self.command("two", *options), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                    env={**os.environ, **own}) for own in together]
        try:
            said = [process.communicate(timeout=300)[1] for process in started]
        finally:
            for process in started:
                process.kill()
        if any(process.returncode != 0 for process in started):
            raise RuntimeError(last_line("".join(said)))
        line = figures(training_rows(self.place("two")))
        return {**line, "apart": max(abs(a / b - 1) for a, b in zip(line["losses"], self.losses["float32"]))}


def run_training(training, clouds=(256, 8, 1024)):
    """Name and figures of one training after the other; `clouds` are those of a class to train on and to test, and points."""
    write_clouds(training.place("clouds"), *clouds)
    trainings = [(f"training, {precision}", lambda precision=precision: training.measured(precision))
                 for precision in ("float32", "bfloat16", "float16")]
    trainings += [("training, bfloat16, profiled", training.profiled)]
    trainings += [(f"training again, {precision}", lambda precision=precision: training.again(precision))
                  for precision in ("float32", "bfloat16")]
    trainings += [("training, float32, steps replayed as a CUDA graph", training.replayed),
                  ("training, two GPUs (NCCL), against one with the whole batch", training.on_two)]
    for name, train in trainings:
        try:
            yield name, train()
        except Exception as error:  # the others still count
            yield name, {"error": f"{type(error).__name__}: {error}".split("\n")[0][:200]}
