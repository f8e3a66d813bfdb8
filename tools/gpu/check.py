# SPDX-License-Identifier: Apache-2.0
"""Checks and times libgeosft_ops.so on a GPU, and trains on it: python3 check.py LIBRARY [--help]

Needs PyTorch with CUDA and nothing else. Prints one line a check on stderr; ends with 1 where one has failed.
tools/gpu_check.sh runs it.
"""

import argparse
import json
import sys
import tempfile
import time

import torch

from checks import CHECKS


def run_checks(small, only):
    results = {}
    for name, check in CHECKS.items():
        if only and only not in name:
            continue
        begin = time.perf_counter()
        try:
            message, passed = check(small), True
            torch.cuda.synchronize()
        except Exception as error:  # one failure must not hide the others
            message, passed = f"{type(error).__name__}: {error}".split("\n")[0], False
        results[name] = {"passed": passed, "message": message, "seconds": round(time.perf_counter() - begin, 2)}
        print(f"{'pass' if passed else 'FAIL'}  {name}: {message}", file=sys.stderr, flush=True)
    return results


def training_lines(results):
    lines = []
    for name, r in results.items():
        if "same" in r:
            speed = f"{r['clouds_per_s']:.0f} clouds/s, " if "clouds_per_s" in r else ""
            lines.append(f"| {name} | {speed}{'the same losses, bit for bit' if r['same'] else 'FAILED: other losses'} |")
        elif "left_out" in r:
            lines.append(f"| {name} | left out: {r['left_out']} |")
        elif "apart" in r:
            lines.append(f"| {name} | {'' if r['apart'] < 1e-3 else 'FAILED: '}{r['clouds_per_s']:.0f} clouds/s, losses "
                         f"{r['apart']:.1e} apart |")
        elif "error" in r:
            lines.append(f"| {name} | FAILED: {r['error']} |")
        else:
            busy = f", kernels run {100 * r['busy']:.0f} % of the time (target: 90 %)" if r["busy"] is not None else ""
            lines.append(f"| {name} | {r['clouds_per_s']:.0f} clouds/s, loss {r['losses'][0]:.3f} to {r['losses'][-1]:.3f}{busy} |")
    return lines


def benchmark_lines(bench):
    lines = ["", f"{bench['shape']}; bound: {bench['max_add_per_s']:.3g} max+add a second (64 a clock and multiprocessor); "
             "forward + backward is held to four of them an element", "",
             "| what | pass | ms | elements/s | of the bound | |", "|---|---|---|---|---|---|"]
    for row in bench["rows"]:
        rate = f"{row['elements_per_s']:.3g}" if "elements_per_s" in row else ""
        share = f"{100 * row['share_of_bound']:.0f} %" if row.get("share_of_bound") else ""
        ms = f"{row['ms']:.3f}" if "ms" in row else ""
        remark = row.get("note") or (f"target: {row['target']}" if row.get("target") else "")
        lines.append(f"| {row['name']} | {row['pass']} | {ms} | {rate} | {share} | {remark} |")
    return lines


def markdown(report):
    lines = [f"# The operators on {report['gpu']}", "", f"PyTorch {report['torch']}, {report['when']}", "", "| check | result |",
             "|---|---|"]
    lines += [f"| {name} | {'passed' if r['passed'] else 'FAILED'}: {r['message']} |" for name, r in report["checks"].items()]
    lines += [f"| compute-sanitizer {tool} | {status} |" for tool, status in report["sanitizer"].items()]
    lines += training_lines(report["training"] or {})
    if report["benchmark"]:
        lines += benchmark_lines(report["benchmark"])
    return "\n".join(lines) + "\n"


def write_report(report, out):
    with open(out + ".json", "w") as file:
        json.dump(report, file, indent=2)
    with open(out + ".md", "w") as file:
        file.write(markdown(report))


def trained(program, config):
    from training import run_training
    with tempfile.TemporaryDirectory() as folder:
        try:
            return run_training(program, config, folder)
        except Exception as error:
            print(f"FAIL  training: {error}", file=sys.stderr)
            return {"training": {"error": str(error).split("\n")[0][:200]}}


def clean(report):
    failed = [r for r in (report["training"] or {}).values() if "error" in r or r.get("same") is False
              or r.get("apart", 0) >= 1e-3]
    return (all(r["passed"] for r in report["checks"].values()) and not failed
            and all(s == "clean" for s in report["sanitizer"].values()))


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("library", help="libgeosft_ops.so, built with CUDA")
    parser.add_argument("--small", action="store_true", help="small sizes, checks alone: for compute-sanitizer")
    parser.add_argument("--only", default="", help="checks whose name holds this text")
    parser.add_argument("--no-benchmark", action="store_true", help="checks alone")
    parser.add_argument("--out", help="write OUT.json and OUT.md")
    parser.add_argument("--sanitizer", action="append", default=[], metavar="TOOL=RESULT", help="a line for the report")
    parser.add_argument("--classify", help="geosft-classify, to train with")
    parser.add_argument("--config", help="configuration of that training")
    return parser, parser.parse_args()


def main():
    parser, arguments = parse()
    if not torch.cuda.is_available():
        parser.exit(1, "check.py: PyTorch sees no GPU here\n")
    torch.ops.load_library(arguments.library)
    report = {"gpu": torch.cuda.get_device_name(), "torch": torch.__version__, "when": time.strftime("%Y-%m-%d"),
              "checks": run_checks(arguments.small, arguments.only),
              "sanitizer": dict(line.split("=", 1) for line in arguments.sanitizer), "training": None, "benchmark": None}
    # Written after every part: what is cut off by a limit of time leaves the others.
    save = (lambda: write_report(report, arguments.out)) if arguments.out else (lambda: None)
    save()
    if arguments.classify and not arguments.small:
        report["training"] = trained(arguments.classify, arguments.config)
        save()
    if not arguments.small and not arguments.no_benchmark:
        from benchmark import run_benchmark
        report["benchmark"] = run_benchmark()
        save()
    sys.exit(0 if clean(report) else 1)


if __name__ == "__main__":
    main()
