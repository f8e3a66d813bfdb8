# SPDX-License-Identifier: Apache-2.0
"""The report of gpu/check.py: NAME.json, to which every part adds its results, and NAME.md."""

import contextlib
import json
import os
import time

PARTS = ("checks", "tools", "training", "sanitizers", "benchmark")
SAME_LOSSES = 1e-3  # of two GPUs and one


class Report:
    """`about` says of which GPU, PyTorch and library; a file of others is begun anew. Without a name nothing is kept."""

    def __init__(self, name, about):
        self.name = name
        kept = self.read() if name else {}
        same = all(kept.get(key) == value for key, value in about.items())
        self.values = {**about, **{part: kept.get(part, {}) if same else {} for part in PARTS},
                       "unfinished": kept.get("unfinished", {}) if same else {}}

    def read(self):
        try:
            with open(f"{self.name}.json") as file:
                return json.load(file)
        except (OSError, ValueError):
            return {}

    def save(self):
        if not self.name:
            return
        self.values["when"] = time.strftime("%Y-%m-%d")
        for ending, text in ((".json", json.dumps(self.values, indent=2)), (".md", markdown(self.values))):
            with open(self.name + ending + ".new", "w") as file:
                file.write(text)
            os.replace(self.name + ending + ".new", self.name + ending)

    @contextlib.contextmanager
    def part(self, name):
        """What is put into it is kept by save(), also where the part is cut off or fails; what it had is forgotten, but
        for sanitizers, which may come one at a time."""
        if name != "sanitizers":
            self.values[name] = {}
        self.values["unfinished"][name] = "cut off"
        self.save()
        try:
            yield self.values[name]
            del self.values["unfinished"][name]
        except Exception as error:  # said in the report, and the other parts stay
            self.values["unfinished"][name] = f"{type(error).__name__}: {error}".split("\n")[0]
        finally:
            self.save()

    def clean(self, part):
        return part not in self.values["unfinished"] and not any(failed(part, result) for result in self.values[part].values())


def failed(part, result):
    if part == "sanitizers":
        return result != "clean"
    if part in ("checks", "tools"):
        return not result["passed"]
    return part == "training" and ("error" in result or result.get("same") is False or result.get("apart", 0) >= SAME_LOSSES)


def said(part, result):
    """What the report has of a result."""
    if part == "benchmark":
        return f"{len(result)} rows" if isinstance(result, list) else str(result)
    text = result if part == "sanitizers" else ", ".join(training_texts(result)) if part == "training" else result["message"]
    return "FAILED: " * failed(part, result) + text


def training_texts(result):
    if "left_out" in result:
        yield f"left out: {result['left_out']}"
    if "error" in result:
        yield result["error"]
    if "steps_per_s" in result:
        yield f"{result['steps_per_s']:.2f} steps/s, median epoch {result['clouds_per_s']:.0f} clouds/s"
        yield f"loss {result['losses'][0]:.3f} to {result['losses'][-1]:.3f}"
    if "busy" in result:
        yield f"a kernel runs {100 * result['busy']:.1f} % of the time (target: 90 %; {result['busy_by']})"
    if "same" in result:
        yield "the same losses, bit for bit" if result["same"] else "other losses"
    if "apart" in result:
        yield f"losses {result['apart']:.1e} apart"


def result_lines(part, results):
    for name, result in results.items():
        text = said(part, result).replace("|", "\\|")
        yield f"| {'compute-sanitizer ' * (part == 'sanitizers')}{name} | {text} |"


def benchmark_lines(bench):
    rate, bandwidth = bench.get("max_add_per_s"), bench.get("bytes_per_s")
    issued = f"{rate:.3g} a second (64 a clock and multiprocessor)" if rate else "a rate not known, as nvidia-smi names no clock"
    moved = f"{bandwidth:.3g} a second (a large copy's)" if bandwidth else "a rate not known"
    yield from ("", "Attention: B=32 n=1024 k=256 d=256 h=16. Bounds: max+add, 1 an element of n x k x d forward and 2.5 backward, "
                f"at {issued}; bytes of inputs, result and gradients at {moved}. Measured over bound is speed over that of the "
                "larger one; behind a / the same with two half numbers in a register.", "",
                "| what | pass | ms | elements/s | bound, ms: max+add | bytes | measured over bound | |",
                "|---|---|---|---|---|---|---|---|")
    for row in bench.get("rows", []):
        speed = f"{row['elements_per_s']:.3g}" if "elements_per_s" in row else ""
        ms = f"{row['ms']:.3f}" if "ms" in row else ""
        bounds = " | ".join(bound_columns(row.get("bounds", {})))
        yield f"| {row['name']} | {row['pass']} | {ms} | {speed} | {bounds} | {row.get('note', '')} |"


def bound_columns(bounds):
    for key in ("max_add_ms", "bytes_ms"):
        yield " / ".join(f"{bound[key]:.3f}" for bound in bounds.values())
    yield " / ".join(f"{100 * bound['share']:.0f} %" for bound in bounds.values())


def markdown(values):
    lines = [f"# The operators and the tools on {values['gpu']}", "", f"PyTorch {values['torch']}, libgeosft_ops.so "
             f"{values['library']}, {values['when']}", "", "| what | result |", "|---|---|"]
    for part in PARTS[:-1]:
        lines += result_lines(part, values[part])
    lines += [f"| {part} | FAILED: not finished, {why} |" for part, why in values["unfinished"].items()]
    lines += [f"| {part} | not run |" for part in PARTS if not values[part] and part not in values["unfinished"]]
    if values["benchmark"]:
        lines += benchmark_lines(values["benchmark"])
    return "\n".join(lines) + "\n"
