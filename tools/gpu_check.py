# SPDX-License-Identifier: Apache-2.0
"""Checks and times the operators of libgeosft_ops.so on a GPU: python3 gpu_check.py LIBRARY [--help]

Needs PyTorch with CUDA and nothing else. The CPU's operators are the reference: they have their own tests against golden
cases. Prints one line a check on stderr; ends with 1 where one has failed. tools/gpu_check.sh runs it.
"""

import argparse
import json
import math
import statistics
import subprocess
import sys
import time

import torch

OPS = torch.ops.geosft
GPU = "cuda"


class Case:
    """Arguments of an attention operator on the CPU, float64; `relation` is none, dense, points or normals."""

    def __init__(self, relation, queries, keys, heads, c, cv, seed=1):
        self.relation, self.seed = relation, seed
        self.name = f"{relation}, {len(queries)} items, nq={sum(queries)} nk={sum(keys)} h={heads} c={c} cv={cv}"
        self.generator = torch.Generator().manual_seed(seed)
        nq, nk = sum(queries), sum(keys)
        self.floating = [self.normal(nq, heads, c), self.normal(nk, heads, c), self.normal(nk, heads, cv)]
        self.floating.append(self.normal(nk, heads))
        self.pointers = [torch.tensor([0, *torch.tensor(n).cumsum(0).tolist()]) for n in (queries, keys)]
        if relation == "dense":
            pairs = sum(q * k for q, k in zip(queries, keys))
            self.floating += [self.normal(pairs, heads).abs() + 0.1, self.normal(pairs, heads)]
        if relation in ("points", "normals"):
            channels = 2 if relation == "normals" else 1
            for _ in range(channels):
                self.floating += [self.normal(nq, 3), self.normal(nk, 3)]
            for _ in range(2):
                self.floating += [0.3 * self.normal(channels, heads), self.normal(heads)]

    def normal(self, *shape):
        return torch.randn(*shape, generator=self.generator, dtype=torch.float64)

    def leaves(self, device, dtype):
        return [x.to(device, dtype).requires_grad_() for x in self.floating]

    def call(self, floating, pointers):
        core, own = floating[:4], floating[4:]
        if self.relation in ("none", "dense"):
            return OPS.maxout_attention(*core, *(own or (None, None)), *pointers)
        rows = own[:4] if self.relation == "normals" else [*own[:2], None, None]
        return OPS.point_attention(*core, *rows, *own[-4:], *pointers)

    def results(self, device, dtype, leaves=None):
        """The result and the gradients of all floating arguments."""
        leaves = leaves or self.leaves(device, dtype)
        out = self.call(leaves, [p.to(device) for p in self.pointers])
        upstream = torch.randn(out.shape, generator=torch.Generator().manual_seed(7), dtype=torch.float64)
        return [out.detach(), *torch.autograd.grad(out, leaves, upstream.to(device, dtype), allow_unused=True)]


def cases():
    ragged = ([129, 0, 70, 5], [33, 4, 90, 0])
    for relation in ("none", "dense", "points", "normals"):
        yield Case(relation, [1], [1], 1, 1, 1)
        yield Case(relation, *ragged, 3, 5, 7)
        for c, cv in ((8, 8), (16, 13), (32, 20), (33, 64), (65, 128), (128, 1)):
            yield Case(relation, *ragged, 2, c, cv)
    for relation in ("none", "normals"):
        for c in (8, 16, 32, 64):  # large enough for tiles of many rows a thread
            yield Case(relation, [1024, 777, 1300, 1000], [270, 600, 1024, 300], 64, c, c)
        yield Case(relation, [70000], [40], 2, 16, 16)
        yield Case(relation, [40], [70000], 2, 16, 16)


def difference(actual, expected):
    """The largest of ||actual - expected|| / ||expected|| over the tensors; NaN counts as infinite."""
    worst = 0.0
    for a, e in zip(actual, expected):
        if e is None and a is None or e.numel() == 0:
            continue
        a, e = a.double().cpu(), e.double().cpu()
        error = float((a - e).norm() / max(float(e.norm()), 1e-30))
        worst = max(worst, error if math.isfinite(error) else math.inf)
    return worst


def require(condition, message):
    if not condition:
        raise AssertionError(message)


def check_agreement(small):
    limits = {torch.float64: 1e-10, torch.float32: 2e-4, torch.float16: 5e-3, torch.bfloat16: 4e-2}
    worst = dict.fromkeys(limits, 0.0)
    for case in cases():
        if small and sum(case.floating[0].shape[:1]) > 1000:
            continue
        for dtype, limit in limits.items():
            rounded = [x.to(dtype).double().requires_grad_() for x in case.floating]
            error = difference(case.results(GPU, dtype), case.results("cpu", torch.float64, rounded))
            require(error <= limit, f"{case.name} {dtype}: {error:.1e} apart, at most {limit:.0e} allowed")
            worst[dtype] = max(worst[dtype], error)
    return "largest relative difference " + ", ".join(f"{str(d)[6:]} {e:.1e}" for d, e in worst.items())


def check_gradients(small):
    for relation in ("none", "dense", "points", "normals"):
        case = Case(relation, [4, 2], [3, 2], 2, 3, 2)
        pointers = [p.to(GPU) for p in case.pointers]
        torch.autograd.gradcheck(lambda *x: case.call(list(x), pointers), case.leaves(GPU, torch.float64))
    return "gradcheck in float64"


def check_determinism(small):
    repeats = 3 if small else 20
    for relation in ("none", "normals"):
        n = [70, 33] if small else [1024, 777, 1300, 1000]
        case = Case(relation, n, [k // 2 for k in n], 4 if small else 64, 16, 16)
        first = case.results(GPU, torch.float32)
        for _ in range(repeats - 1):
            again = case.results(GPU, torch.float32)
            require(all(torch.equal(a, b) for a, b in zip(first, again)), f"{case.name}: other bits on the same input")
    return f"the same bits in {repeats} runs"


def check_written(small):
    """Memory that PyTorch hands out is filled with NaN, so that every element must be written."""
    torch.use_deterministic_algorithms(True, warn_only=True)
    try:
        for relation in ("none", "dense", "normals"):
            case = Case(relation, [65, 0, 70], [33, 5, 0], 2, 16, 16)
            for tensor in case.results(GPU, torch.float32):
                require(bool(tensor.isfinite().all()), f"{case.name}: an element was not written")
    finally:
        torch.use_deterministic_algorithms(False)
    return "every element of results and gradients is written"


def check_graph(small):
    """Forward and backward captured in a CUDA graph, replayed on other numbers; capture refuses any host read."""
    if small:
        return "left to the full run: under a sanitizer memory comes from no pool, and capture needs one"
    for relation in ("none", "dense", "normals"):
        case, other = (Case(relation, [65, 7], [33, 40], 2, 16, 16, seed) for seed in (1, 2))
        leaves, pointers = case.leaves(GPU, torch.float32), [p.to(GPU) for p in case.pointers]
        upstream = torch.ones(72, 2, 16, device=GPU)

        def step():
            out = case.call(leaves, pointers)
            return [out, *torch.autograd.grad(out, leaves, upstream)]

        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            step()
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            captured = step()
        with torch.no_grad():
            for leaf, value in zip(leaves, other.floating):
                leaf.copy_(value)
        graph.replay()
        replayed = [x.clone() for x in captured]
        require(all(torch.equal(a, b) for a, b in zip(replayed, step())), f"{case.name}: a replay differs from a call")
    return "captured and replayed"


def check_ptr(small):
    """Offsets that point anywhere must not make a kernel leave its arrays (a sanitizer would see it)."""
    case = Case("normals", [40, 30], [20, 10], 2, 8, 8)
    leaves = case.leaves(GPU, torch.float32)
    for ptr in ([-9, 3, 1000], [0, 1000, 5], [70, 2, -1]):
        pointers = [torch.tensor(ptr, device=GPU)] * 2
        case.call(leaves, pointers).sum().backward()
    torch.cuda.synchronize()
    return "wrong offsets stay inside the arrays"


def check_farthest(small):
    generator = torch.Generator().manual_seed(3)
    for dtype in (torch.float32, torch.float64):
        for sizes, m in (([700], 40), ([5], 9), ([600, 0, 3, 597], 20), ([10241], 16), ([3000] * (2 if small else 40), 128)):
            points = torch.randn(sum(sizes), 3, generator=generator, dtype=torch.float64).to(dtype)
            ptr = torch.tensor([0, *torch.tensor(sizes).cumsum(0).tolist()])
            expected = OPS.farthest_point_sampling(points, m, ptr)
            actual = OPS.farthest_point_sampling(points.to(GPU), m, ptr.to(GPU)).cpu()
            require(torch.equal(actual, expected), f"{dtype}, items of {sizes}, m={m}: other rows than on the CPU")
    return "the rows of the CPU, index by index"


def check_pool(small):
    generator = torch.Generator().manual_seed(4)
    ptr = torch.tensor([0, 5, 5, 1300, 1812, 1813] if small else [0, 5, 5, 1300, 1812, 500000])
    x = torch.randn(int(ptr[-1]), 67, generator=generator, dtype=torch.float64)
    u = torch.randn(67, generator=generator, dtype=torch.float64)

    def results(device, dtype):
        leaves = [t.to(device, dtype).requires_grad_() for t in (x, u)]
        out = OPS.softmax_pool(*leaves, ptr.to(device))
        return [out, *torch.autograd.grad((out * out).sum(), leaves)]

    for dtype, limit in ((torch.float64, 1e-10), (torch.float32, 1e-4)):
        error = difference(results(GPU, dtype), results("cpu", torch.float64))
        require(error <= limit, f"{dtype}: {error:.1e} apart, at most {limit:.0e} allowed")
    first, again = results(GPU, torch.float32), results(GPU, torch.float32)
    require(all(torch.equal(a, b) for a, b in zip(first, again)), "other bits on the same input")
    return "as on the CPU, and the same bits again"


def check_pairs(small):
    """Draws without noise and with a partner at random are the CPU's; noise is to the rounding of two logarithms."""
    generator = torch.Generator().manual_seed(5)
    ptr = torch.tensor([0, 5, 5, 6, 606, 608, 611] if small else [0, 5, 5, 6, 606, 5000, 30000])
    seeds = torch.arange(6) + 11
    score = torch.randn(int(ptr[-1]), generator=generator).mul(50).round().div(50)
    upstream = torch.randn(score.shape, generator=generator)

    def results(device, k, random):
        leaf = score.to(device).requires_grad_()
        top, partner, weight, offsets = OPS.sample_pairs(leaf, k, ptr.to(device), False, random, 1.0, None, seeds.to(device))
        gradient = torch.autograd.grad(weight, leaf, upstream[: weight.shape[0]].to(device))
        return [top, partner, offsets], [weight, *gradient]

    for k in (1, 40, 256, 1 << 62):
        for random in (False, True):
            (rows, weights), (cpu_rows, cpu_weights) = results(GPU, k, random), results("cpu", k, random)
            require(all(torch.equal(a.cpu(), b) for a, b in zip(rows, cpu_rows)), f"k={k} random={random}: other rows")
            require(difference(weights, cpu_weights) < 1e-5, f"k={k} random={random}: other weights")
    noisy = [OPS.sample_pairs(score.to(d), 40, ptr.to(d), True, True, 1.0, None, seeds.to(d))[0].cpu() for d in (GPU, "cpu")]
    same = float((noisy[0] == noisy[1]).double().mean())
    require(same > 0.99, f"with noise only {same:.0%} of the rows are those of the CPU")
    return "the rows and weights of the CPU"


CHECKS = {
    "attention: CPU against CUDA": check_agreement,
    "attention: gradients": check_gradients,
    "attention: determinism": check_determinism,
    "attention: results are written": check_written,
    "attention: CUDA graph": check_graph,
    "attention: wrong offsets": check_ptr,
    "sample_pairs: CPU against CUDA": check_pairs,
    "softmax_pool: CPU against CUDA": check_pool,
    "farthest_point_sampling: CPU against CUDA": check_farthest,
}


def run_checks(small):
    results = {}
    for name, check in CHECKS.items():
        begin = time.perf_counter()
        try:
            message, passed = check(small), True
            torch.cuda.synchronize()
        except Exception as error:  # one failure must not hide the others
            message, passed = f"{type(error).__name__}: {error}".split("\n")[0], False
        results[name] = {"passed": passed, "message": message, "seconds": round(time.perf_counter() - begin, 2)}
        print(f"{'pass' if passed else 'FAIL'}  {name}: {message}", file=sys.stderr)
    return results


def milliseconds(function, repeats=30):
    """Median over repeats, with the second-level cache overwritten before each."""
    flush = torch.empty(1 << 28, dtype=torch.int8, device=GPU)
    for _ in range(3):
        function()
    times = []
    for _ in range(repeats):
        flush.zero_()
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        function()
        end.record()
        torch.cuda.synchronize()
        times.append(begin.elapsed_time(end))
    return statistics.median(times)


def gigahertz():
    """The highest clock that the driver names for the multiprocessors."""
    query = ["nvidia-smi", "--query-gpu=clocks.max.sm", "--format=csv,noheader,nounits", "-i", "0"]
    return float(subprocess.run(query, capture_output=True, text=True, check=True).stdout.split()[0]) / 1000


def attention_inputs(batch, n, k, heads, c):
    def normal(*shape):
        return torch.randn(*shape, device=GPU).requires_grad_()

    core = [normal(batch * n, heads, c), normal(batch * k, heads, c), normal(batch * k, heads, c), normal(batch * k, heads)]
    rows = [normal(batch * n, 3), normal(batch * k, 3), normal(batch * n, 3), normal(batch * k, 3)]
    weights = [normal(2, heads), normal(heads), normal(2, heads), normal(heads)]
    pointers = [torch.arange(batch + 1, device=GPU) * size for size in (n, k)]
    return core, rows, weights, pointers


def composite(score, core, batch):
    """maxout_attention from PyTorch's own operators; score(q, k) [b, h, n, k] sums the maxima."""
    q, k, v = (x.view(batch, -1, *x.shape[1:]).transpose(1, 2) for x in core[:3])
    leak = torch.nn.functional.softplus(core[3]).view(batch, -1, core[3].shape[1]).sum(1)
    weight = torch.relu(score(q, k) / math.sqrt(q.shape[-1]))
    out = (weight @ v) / (weight.sum(-1, keepdim=True) + leak[..., None, None] + 1e-6)
    return out.transpose(1, 2).flatten(0, 1)


def broadcast(q, k):
    return torch.maximum(q.unsqueeze(3), k.unsqueeze(2)).sum(-1)


def by_cdist(q, k):
    return (q.sum(-1).unsqueeze(3) + k.sum(-1).unsqueeze(2) + torch.cdist(q, k, p=1)) / 2


def time_rows(name, function, leaves, elements, bounds):
    """Forward, and forward with backward; a variant that runs out of memory is left out with a line."""
    rows = []
    upstream = torch.ones_like(function())

    def both():
        torch.autograd.grad(function(), leaves, upstream, allow_unused=True)

    for what, call, bound in (("forward", function, bounds[0]), ("forward + backward", both, bounds[1])):
        ms = milliseconds(call)
        rows.append({"name": name, "pass": what, "ms": round(ms, 4), "elements_per_s": elements / ms * 1e3,
                     "share_of_bound": round(bound / ms, 4) if bound else None})
        print(f"{name}, {what}: {ms:.3f} ms", file=sys.stderr)
    return rows


def run_benchmark():
    batch, n, k, heads, c = 32, 1024, 256, 16, 16
    core, rows, weights, pointers = attention_inputs(batch, n, k, heads, c)
    elements = batch * n * k * heads * c
    rate = 64e9 * gigahertz() * torch.cuda.get_device_properties(0).multi_processor_count
    # Forward: max and add. Backward beside it: the score again, and one comparison and addition for each of dq and dk.
    bounds = (elements / rate * 1e3, 4 * elements / rate * 1e3)
    variants = {
        "maxout_attention": (lambda: OPS.maxout_attention(*core, None, None, *pointers), core),
        "point_attention": (lambda: OPS.point_attention(*core, *rows, *weights, *pointers), [*core, *rows, *weights]),
        "maxout_attention, torch.cdist": (lambda: composite(by_cdist, core, batch), core),
        "maxout_attention, broadcasting": (lambda: composite(broadcast, core, batch), core),
        "maxout_attention, torch.compile": (lambda: compiled(core), core),
    }
    compiled = torch.compile(lambda inputs: composite(broadcast, inputs, batch))
    table = []
    for name, (function, leaves) in variants.items():
        try:
            table += time_rows(name, function, leaves, elements, bounds if ", " not in name else (None, None))
        except Exception as error:  # out of memory, no compiler: the others still count
            print(f"{name}: left out: {type(error).__name__}: {error}".split("\n")[0], file=sys.stderr)
            torch.cuda.empty_cache()
    points = torch.randn(32 * 10000, 3, device=GPU)
    ptr = torch.arange(33, device=GPU) * 10000
    ms = milliseconds(lambda: OPS.farthest_point_sampling(points, 1024, ptr), 10)
    table.append({"name": "farthest_point_sampling 32 x 10,000 -> 1,024", "pass": "forward", "ms": round(ms, 4)})
    return {"shape": f"B={batch} n={n} k={k} d={heads * c} h={heads}, float32", "max_add_per_s": rate, "rows": table}


def markdown(report):
    lines = [f"# Operators on {report['gpu']}", "", f"PyTorch {report['torch']}, {report['when']}", "", "| check | result |",
             "|---|---|"]
    lines += [f"| {name} | {'passed' if r['passed'] else 'FAILED'}: {r['message']} |" for name, r in report["checks"].items()]
    lines += [f"| compute-sanitizer {tool} | {status} |" for tool, status in report["sanitizer"].items()]
    if report["benchmark"]:
        bench = report["benchmark"]
        lines += ["", f"{bench['shape']}; bound: {bench['max_add_per_s']:.3g} max+add a second (64 a clock and "
                  "multiprocessor); forward + backward is held to four of them an element", "",
                  "| operator | pass | ms | elements/s | of the bound |", "|---|---|---|---|---|"]
        for row in bench["rows"]:
            rate = f"{row['elements_per_s']:.3g}" if "elements_per_s" in row else ""
            share = f"{100 * row['share_of_bound']:.0f} %" if row.get("share_of_bound") else ""
            lines.append(f"| {row['name']} | {row['pass']} | {row['ms']:.3f} | {rate} | {share} |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("library", help="libgeosft_ops.so, built with CUDA")
    parser.add_argument("--small", action="store_true", help="small sizes, no benchmark: for compute-sanitizer")
    parser.add_argument("--out", help="write OUT.json and OUT.md")
    parser.add_argument("--sanitizer", action="append", default=[], metavar="TOOL=RESULT", help="a line for the report")
    arguments = parser.parse_args()
    if not torch.cuda.is_available():
        parser.exit(1, "gpu_check.py: PyTorch sees no GPU here\n")
    torch.ops.load_library(arguments.library)
    report = {"gpu": torch.cuda.get_device_name(), "torch": torch.__version__,
              "when": time.strftime("%Y-%m-%d"), "checks": run_checks(arguments.small),
              "sanitizer": dict(line.split("=", 1) for line in arguments.sanitizer), "benchmark": None}
    if not arguments.small:
        report["benchmark"] = run_benchmark()
    if arguments.out:
        with open(arguments.out + ".json", "w") as file:
            json.dump(report, file, indent=2)
        with open(arguments.out + ".md", "w") as file:
            file.write(markdown(report))
    clean = all(r["passed"] for r in report["checks"].values()) and all(s == "clean" for s in report["sanitizer"].values())
    sys.exit(0 if clean else 1)


if __name__ == "__main__":
    main()
