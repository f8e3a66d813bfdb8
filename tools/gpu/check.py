# SPDX-License-Identifier: Apache-2.0
"""Checks and times libgeosft_ops.so and the tools on a GPU: python3 check.py LIBRARY [--help]

Needs only PyTorch with CUDA. Prints a line per result on stderr; the exit code is 1 if one is wrong.
tools/gpu_check.sh runs it once per part.
"""

import argparse
import hashlib
import sys
import tempfile
import time

import torch

from report import Report, said


def lost():
    """Whether the GPU's context has ended: nothing more can be run in this process."""
    try:
        torch.cuda.synchronize()
        return False
    except RuntimeError:
        return True


def run_check(check, small):
    begin = time.perf_counter()
    try:
        message, passed = check(small), True
        torch.cuda.synchronize()
    except Exception as error:  # one failure must not hide the others
        message, passed = f"{type(error).__name__}: {error}".split("\n")[0], False
    return {"passed": passed, "message": message, "seconds": round(time.perf_counter() - begin, 2)}


def run_checks(arguments):
    from checks import CHECKS
    for name, check in CHECKS.items():
        if arguments.named in name:
            yield name, run_check(check, arguments.small)
            if lost():
                raise RuntimeError(f"'{name}' has ended the GPU's context; what would follow it has not run")


def run_tools(arguments):
    from tools_on_gpu import run_tools as run
    with tempfile.TemporaryDirectory() as folder:
        yield from run(arguments.programs, folder)


def run_training(arguments):
    from training import Training, run_training as run
    with tempfile.TemporaryDirectory() as folder:
        yield from run(Training(f"{arguments.programs}/geosft-classify", arguments.config, folder))


def run_benchmark(arguments):
    from benchmark import run_benchmark as run
    yield from run()


def sanitizer_results(arguments):
    yield from (line.split("=", 1) for line in arguments.result)


RUNS = {"checks": run_checks, "tools": run_tools, "training": run_training, "sanitizers": sanitizer_results,
        "benchmark": run_benchmark}


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("library", help="libgeosft_ops.so, built with CUDA")
    parser.add_argument("--part", choices=RUNS, default="checks", help="what to run (default: checks)")
    parser.add_argument("--out", help="add it to OUT.json and OUT.md")
    parser.add_argument("--named", default="", metavar="TEXT", help="checks whose name holds this text")
    parser.add_argument("--small", action="store_true", help="small sizes: for compute-sanitizer")
    parser.add_argument("--programs", help="folder of the tools, for tools and training")
    parser.add_argument("--config", help="configuration of the training")
    parser.add_argument("--result", action="append", default=[], metavar="TOOL=TEXT", help="what a sanitizer has found")
    return parser, parser.parse_args()


def main():
    parser, arguments = parse()
    if not torch.cuda.is_available():
        parser.exit(1, "check.py: PyTorch sees no GPU here\n")
    torch.ops.load_library(arguments.library)
    with open(arguments.library, "rb") as file:
        library = hashlib.sha256(file.read()).hexdigest()[:12]
    report = Report(arguments.out, {"gpu": torch.cuda.get_device_name(), "torch": torch.__version__, "library": library})
    with report.part(arguments.part) as results:
        for name, result in RUNS[arguments.part](arguments):
            results[name] = result
            report.save()  # what is cut off by a limit of time leaves the others
            print(f"{name}: {said(arguments.part, result)}", file=sys.stderr, flush=True)
    if arguments.part in report.values["unfinished"]:
        print(f"{arguments.part}: {report.values['unfinished'][arguments.part]}", file=sys.stderr)
    sys.exit(0 if report.clean(arguments.part) else 1)


if __name__ == "__main__":
    main()
