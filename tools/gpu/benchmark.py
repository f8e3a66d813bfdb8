# SPDX-License-Identifier: Apache-2.0
"""Times the operators on a GPU, compared with PyTorch's and others' equivalents and with their bounds."""

import math
import statistics
import subprocess
import sys

import torch

from cases import GPU, OPS
from layer import SftLayer, layer_inputs


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
    """The highest clock that the driver names for the multiprocessors; None where it names none."""
    query = ["nvidia-smi", "--query-gpu=clocks.max.sm", "--format=csv,noheader,nounits", "-i", "0"]
    try:
        return float(subprocess.run(query, capture_output=True, text=True, timeout=30).stdout.split()[0]) / 1000
    except (OSError, subprocess.TimeoutExpired, ValueError, IndexError):
        return None


def max_add_rate():
    """max+add a second: 64 a clock and multiprocessor; None where the clock is not known."""
    clock = gigahertz()
    return clock and 64e9 * clock * torch.cuda.get_device_properties(0).multi_processor_count


def memory_rate():
    """Bytes a second that a large copy reads and writes."""
    source, target = (torch.zeros(1 << 30, dtype=torch.int8, device=GPU) for _ in range(2))
    return 2 * source.numel() / milliseconds(lambda: target.copy_(source)) * 1e3


# The minimum that attention needs where nothing of n x k is kept: max+add an element of n x k x d, each two instructions, and how
# often the inputs and the result are read or written. Forward: one for the score; inputs are read, the result is written.
# Backward: the score again, a comparison of q with k, and under it an addition to dq and one to dk, so five instructions;
# inputs, result and its gradient are read, gradients of the inputs written. Left out: what matrix units can make (products
# with v) and what comes once per pair of n x k (relu, the attention bias).
MIN_OPERATIONS = {"forward": (1, 1), "forward + backward": (1 + 2.5, 1 + 2)}


class Table:
    """Rows of the report. What fails is a row that says why: out of memory, no compiler, not installed."""

    def __init__(self, max_adds, bandwidth):
        """Max+add in float32 (None: not known) and bytes a second, from which bounds are made."""
        self.max_adds, self.bandwidth = max_adds, bandwidth
        self.rows = []

    def bounds(self, what, elements, size, halves):
        """Least milliseconds of a pass, `size` the bytes of inputs and result; of halves also with two packed in a register."""
        if not self.max_adds:
            return None
        max_adds, copies = MIN_OPERATIONS[what]
        issued, moved = max_adds * elements / self.max_adds * 1e3, copies * size / self.bandwidth * 1e3
        bounds = {"float32": {"max_add_ms": issued, "bytes_ms": moved}}
        if halves:
            bounds["packed half"] = {"max_add_ms": issued / 2, "bytes_ms": moved}
        return bounds

    def time(self, name, what, function, repeats=30, elements=None, bounds=None, warning=None):
        """Returns the milliseconds, None for a failure."""
        try:
            ms = milliseconds(function, repeats)
        except Exception as error:
            self.note(name, what, f"{type(error).__name__}: {error}".split("\n")[0][:120])
            torch.cuda.empty_cache()
            return None
        row = {"name": name, "pass": what, "ms": round(ms, 4)}
        if elements:
            row["elements_per_s"] = elements / ms * 1e3
        if bounds:  # measured over bound: of speeds, so the other way round of times
            row["bounds"] = {kind: {**bound, "share": round(max(bound.values()) / ms, 4)} for kind, bound in bounds.items()}
        if warning:
            row["note"] = warning
        self.rows.append(row)
        print(f"{name}, {what}: {ms:.3f} ms", file=sys.stderr)
        return ms

    def note(self, name, what, note, **values):
        self.rows.append({"name": name, "pass": what, "note": note, **values})
        print(f"{name}, {what}: {note}", file=sys.stderr)

    def ratio(self, name, what, ours, others, target):
        """How many times faster than the fastest of the others."""
        others = {key: ms for key, ms in others.items() if ms}
        if not ours or not others:
            return self.note(name, what, "nothing to compare with")
        best = min(others, key=others.get)
        self.note(name, what, f"{others[best] / ours:.2f} times as fast as {best} (target: {target})",
                  ratio=round(others[best] / ours, 3))


def attention_inputs(batch, n, k, heads, c, dtype=torch.float32):
    def normal(*shape):
        return torch.randn(*shape, device=GPU, dtype=dtype).requires_grad_()

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


def backward_of(function, leaves):
    grad_output = []

    def both():
        out = function()
        if not grad_output:
            grad_output.append(torch.ones_like(out))
        torch.autograd.grad(out, leaves, grad_output[0], allow_unused=True)

    return both


ATTENTION = {"batch": 32, "n": 1024, "k": 256, "heads": 16, "c": 16}
WARNINGS = {torch.float32: {"forward": "target: 50 % of the bound", "forward + backward": "target: 35 % of the bound"},
           torch.bfloat16: dict.fromkeys(MIN_OPERATIONS, "read and written in bfloat16, computed in float32")}


def passes(function, leaves):
    return {"forward": function, "forward + backward": backward_of(function, leaves)}


def fused_attention(table, dtype):
    """Milliseconds by pass and operator."""
    core, rows, weights, pointers = attention_inputs(**ATTENTION, dtype=dtype)
    # As in training: nobody asks for gradients of the points, but those of the sample have some for its weights.
    given = [rows[0].detach(), rows[1], rows[2].detach(), rows[3]]
    pairs = ATTENTION["batch"] * ATTENTION["n"] * ATTENTION["k"]
    dense = [torch.rand(pairs, ATTENTION["heads"], device=GPU, dtype=dtype).requires_grad_() for _ in range(2)]
    calls = {
        "maxout_attention": (lambda: OPS.maxout_attention(*core, None, None, *pointers), core),
        "maxout_attention, r_mul and r_add": (lambda: OPS.maxout_attention(*core, *dense, *pointers), [*core, *dense]),
        "point_attention": (lambda: OPS.point_attention(*core, *rows, *weights, *pointers), [*core, *rows, *weights]),
        "point_attention, of given points": (lambda: OPS.point_attention(*core, *given, *weights, *pointers),
                                             [*core, given[1], given[3], *weights]),
    }
    elements, halves = math.prod(ATTENTION.values()), dtype != torch.float32
    times = {what: {} for what in MIN_OPERATIONS}
    for name, (function, leaves) in calls.items():
        size = sum(x.numel() * x.element_size() for x in [*leaves, core[0]])  # the result is as large as q
        for what, step in passes(function, leaves).items():
            times[what][name] = table.time(f"{name}, {str(dtype).split('.')[1]}", what, step, elements=elements,
                                           bounds=table.bounds(what, elements, size, halves), warning=WARNINGS[dtype][what])
    return times


def torch_attention(table):
    """The same of PyTorch's own operators, in float32."""
    core, batch, elements = attention_inputs(**ATTENTION)[0], ATTENTION["batch"], math.prod(ATTENTION.values())
    compiled = torch.compile(lambda inputs: composite(broadcast, inputs, batch))
    calls = {
        "torch.cdist": lambda: composite(by_cdist, core, batch),
        "broadcasting": lambda: composite(broadcast, core, batch),
        "torch.compile": lambda: compiled(core),
    }
    times = {what: {} for what in MIN_OPERATIONS}
    for name, function in calls.items():
        for what, step in passes(function, core).items():
            times[what][name] = table.time(name, what, step, 5, elements)
        torch.cuda.empty_cache()
    return times


def attention(table):
    ours = fused_attention(table, torch.float32)
    fused_attention(table, torch.bfloat16)
    torch.cuda.empty_cache()
    for what, others in torch_attention(table).items():
        for name, ms in ours[what].items():
            if name.endswith("r_add"):
                continue  # it reads n x k numbers that the others do not
            table.ratio(name, what, ms, others, "5")


def peak_of(step):
    step()
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    step()
    torch.cuda.synchronize()
    return torch.cuda.max_memory_allocated() - before


def layer_step(layer, inputs, dtype):
    x = inputs[0]

    def step():
        with torch.autocast(GPU, dtype, enabled=dtype is not None):
            out = layer(*inputs)
        torch.autograd.grad(out.float().sum(), [x, *layer.parameters()], allow_unused=True)

    return step


def layers(table):
    """A whole layer beside PyTorch's TransformerEncoderLayer with flash attention, both in bfloat16 autocast."""
    width, heads, k = 256, 16, 256
    sft = SftLayer(width, heads, k).to(GPU)
    plain = SftLayer(width, heads, k, attend=False).to(GPU)
    usual = torch.nn.TransformerEncoderLayer(width, heads, 4 * width, 0.0, "gelu", batch_first=True, device=GPU)
    for n, target in ((1024, "1"), (8192, "3")):
        batch = 32 * 1024 // n
        inputs = layer_inputs(batch, n, width)
        name = f"SFT layer, {batch} x {n} tokens, k={k}, d={width}, h={heads}"
        ours = table.time(name, "forward + backward", layer_step(sft, inputs, torch.bfloat16))
        table.time(f"{name}, float32", "forward + backward", layer_step(sft, inputs, None))
        sequences = inputs[0].detach().view(batch, n, width).requires_grad_()
        other = table.time(f"TransformerEncoderLayer, {batch} x {n}", "forward + backward",
                           layer_step(usual, [sequences], torch.bfloat16))
        table.ratio(name, "forward + backward", ours, {"TransformerEncoderLayer": other}, target)
        share = peak_of(layer_step(sft, inputs, torch.bfloat16)) / peak_of(layer_step(plain, inputs, torch.bfloat16))
        table.note(name, "memory of a step", f"{share:.2f} of the layer without attention (target: 1.3)", ratio=round(share, 3))


def slope(xs, ys):
    """Of the line through the logarithms."""
    xs, ys = [math.log(x) for x in xs], [math.log(y) for y in ys]
    mean_x, mean_y = statistics.mean(xs), statistics.mean(ys)
    return sum((x - mean_x) * (y - mean_y) for x, y in zip(xs, ys)) / sum((x - mean_x) ** 2 for x in xs)


def scaling(table):
    layer, sizes, times = SftLayer(256, 16, 256).to(GPU), [], []
    for power in range(15, 21):
        inputs = layer_inputs(1, 1 << power, 256)
        ms = table.time(f"SFT layer, one item of {1 << power} tokens", "forward + backward",
                        layer_step(layer, inputs, torch.bfloat16), 5)
        if ms:
            sizes.append(1 << power)
            times.append(ms)
        del inputs
        torch.cuda.empty_cache()
    if len(sizes) > 2:
        exponent = slope(sizes, times)
        table.note("SFT layer", f"{sizes[0]} to {sizes[-1]} tokens", f"time grows with exponent {exponent:.3f} (target: 1.05)",
                   ratio=round(exponent, 4))


def farthest_plain(points, m):
    """points [b, n, 3]: the loop over PyTorch's operators."""
    distance = torch.full(points.shape[:2], math.inf, device=GPU)
    last = torch.zeros(points.shape[0], dtype=torch.int64, device=GPU)
    chosen = [last]
    for _ in range(m - 1):
        at = points.gather(1, last.view(-1, 1, 1).expand(-1, 1, 3))
        distance = torch.minimum(distance, (points - at).square().sum(-1))
        last = distance.argmax(1)
        chosen.append(last)
    return torch.stack(chosen, 1)


def nearest_plain(points, k, rows=2000):
    """The best that PyTorch has without memory for all pairs."""
    return torch.cat([torch.cdist(part, points).topk(k, largest=False).indices for part in points.split(rows)])


def neighbours(table):
    points = torch.randn(32, 10000, 3, device=GPU)
    packed, ptr = points.flatten(0, 1), torch.arange(33) * 10000  # on the CPU: nothing is waited for
    cloud = torch.rand(100000, 3, device=GPU)
    others, nearest = {}, {}
    ours = table.time("farthest_point_sampling, 32 x 10,000 to 1,024", "forward",
                      lambda: OPS.farthest_point_sampling(packed, 1024, ptr), 10)
    mine = table.time("knn, 100,000 x 16", "forward", lambda: OPS.knn(cloud, cloud, 16), 10)
    others["loop over PyTorch's operators"] = table.time("farthest points, loop over PyTorch's operators", "forward",
                                                         lambda: farthest_plain(points, 1024), 3)
    nearest["torch.cdist and topk"] = table.time("neighbours, torch.cdist and topk", "forward", lambda: nearest_plain(cloud, 16), 3)
    try:
        import torch_cluster
        item = torch.arange(32, device=GPU).repeat_interleave(10000)
        others["torch_cluster"] = table.time("farthest points, torch_cluster.fps", "forward",
                                             lambda: torch_cluster.fps(packed, item, 0.1024, False), 5)
        nearest["torch_cluster"] = table.time("neighbours, torch_cluster.knn", "forward", lambda: torch_cluster.knn(cloud, cloud, 16), 5)
    except ImportError:
        table.note("torch_cluster", "farthest points and neighbours", "not installed here")
    table.ratio("farthest_point_sampling", "forward", ours, others, "1")
    table.ratio("knn", "forward", mine, nearest, "1")


def others(table):
    """The operators that have no figure to reach."""
    def normal(*shape):
        return torch.randn(*shape, device=GPU).requires_grad_()

    score, ptr = torch.randn(32 * 1024, device=GPU), torch.arange(33) * 1024
    seeds = torch.arange(32, device=GPU)
    table.time("sample_pairs, 32 x 1,024 to 256", "forward", lambda: OPS.sample_pairs(score, 256, ptr, True, True, 1.0, None, seeds))
    large, one = torch.randn(1 << 20, device=GPU), torch.arange(1, device=GPU)
    table.time("sample_pairs, one item of 1,048,576 to 256", "forward",
               lambda: OPS.sample_pairs(large, 256, None, True, True, 1.0, None, one))
    table.time("torch.topk, 512 of the same", "forward", lambda: torch.topk(large, 512))
    x, u = normal(32 * 1024, 256), normal(256)
    table.time("softmax_pool, 32 x 1,024 x 256", "forward", lambda: OPS.softmax_pool(x, u, ptr))
    q, k, v = (normal(32 * 1024, 16, 16) for _ in range(3))
    table.time("polynomial_attention, 32 x 1,024, h=16 c=16, degree 4", "forward",
               lambda: OPS.polynomial_attention(q, k, v, 4, 0.25, False, ptr, ptr), 10)
    q, k, v = (normal(32 * 1024, 8, 8) for _ in range(3))
    for degree in (2, 4):
        for causal in (False, True):
            table.time(f"polynomial_attention, 32 x 1,024, h=8 c=8, degree {degree}{', causal' * causal}", "forward + backward",
                       backward_of(lambda: OPS.polynomial_attention(q, k, v, degree, 8**-0.5, causal, ptr, ptr), [q, k, v]), 10)


def polynomial(table):
    """Attention over all tokens, c = 8, beside the exact one of PyTorch."""
    heads, c = 4, 8
    for power in range(10, 17):
        n = 1 << power
        q, k, v = (torch.randn(n, heads, c, device=GPU).requires_grad_() for _ in range(3))
        first = [x.detach().transpose(0, 1).unsqueeze(0).contiguous().requires_grad_() for x in (q, k, v)]
        name, repeats = f"{n} tokens, h={heads} c={c}", 10 if n <= 16384 else 3
        exact = table.time(f"scaled_dot_product_attention, {name}", "forward + backward",
                           backward_of(lambda: torch.nn.functional.scaled_dot_product_attention(*first), first), repeats)
        for degree, target in ((2, "1 from 1,024 tokens, 150 at 65,536"), (4, "1 from 4,096 tokens, 20 at 65,536")):
            ours = table.time(f"polynomial_attention, degree {degree}, {name}", "forward + backward",
                              backward_of(lambda: OPS.polynomial_attention(q, k, v, degree, c**-0.5), [q, k, v]), repeats)
            table.ratio(f"polynomial_attention, degree {degree}, {name}", "forward + backward", ours,
                        {"scaled_dot_product_attention": exact}, target)
        del q, k, v, first
        torch.cuda.empty_cache()


def primal(table):
    """The primal-dual family beside PyTorch's softmax attention, which has half types for the matrix units: no figure to reach."""
    items, n, heads, c = 4, 1024, 8, 32
    ptr = torch.arange(items + 1) * n
    beta = torch.full((heads,), 0.6, device=GPU)
    members = {"softmax": {}, "BN": {"beta": beta}, "BN+SH": {"beta": beta, "pool": [1, 1, 2, 2, 4, 4, 8, 8]}, "linear": {"kernel": "linear"}}
    for dtype in (torch.float32, torch.bfloat16):
        q, k, v = (torch.randn(items * n, heads, c, device=GPU, dtype=dtype).requires_grad_() for _ in range(3))
        first = [x.detach().view(items, n, heads, c).transpose(1, 2).contiguous().requires_grad_() for x in (q, k, v)]
        size = f"{items} x {n} tokens, h={heads} c={c}, {str(dtype).split('.')[1]}"
        table.time(f"scaled_dot_product_attention, {size}", "forward + backward",
                   backward_of(lambda: torch.nn.functional.scaled_dot_product_attention(*first), first), 10)
        for name, options in members.items():
            there = {key: x.to(dtype) if torch.is_tensor(x) else x for key, x in options.items()}
            table.time(f"primal_attention, {name}, {size}", "forward + backward",
                       backward_of(lambda: OPS.primal_attention(q, k, v, q_ptr=ptr, k_ptr=ptr, **there), [q, k, v]), 10)


def run_benchmark():
    """The rates of the bounds, and all rows so far, after every part."""
    table = Table(max_add_rate(), memory_rate())
    yield "max_add_per_s", table.max_adds
    yield "bytes_per_s", table.bandwidth
    for part in (attention, layers, scaling, neighbours, polynomial, primal, others):
        try:
            part(table)
        except Exception as error:  # the other parts still count
            table.note(part.__name__, "", f"{type(error).__name__}: {error}".split("\n")[0][:200])
        torch.cuda.empty_cache()
        yield "rows", table.rows
