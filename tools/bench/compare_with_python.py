# SPDX-License-Identifier: Apache-2.0
"""Times operators of libgeosft_ops.so and what Python offers for the same work, in one process and in turns.

usage: python3 tools/bench/compare_with_python.py LIBRARY compile|ragged|sampling|neighbours|walks [--rounds N] [--threads N]
                                            [--allocator tcmalloc|glibc]

  compile     maxout attention; baselines: five formulations under torch.compile, torch.cdist, and softmax attention
              (needs a C++ compiler)
  ragged      the same for items of different sizes; the baselines compute a padded batch, or one item after the other
  sampling    farthest point sampling; baseline: fpsample's bucketed k-d tree
  neighbours  k nearest neighbours; baselines: Open3D and SciPy, including their trees
  walks       random_walk_pe, 20 steps; baselines: AddRandomWalkPE of torch-geometric, if it is installed, and SciPy's
              sparse products with dense blocks of 256 columns, half the steps

Prints the minimum wall time of each with its processor time, the ratio of our time to it, and for attention the keys
per query. All of them run in one process, so they have the same allocator, the same processors and the same number of
threads: the process starts itself again with tcmalloc preloaded, as our programs are linked with it, and is bound to as
many processors as it has threads.
"""

import argparse
import ctypes
import ctypes.util
import importlib.util
import math
import os
import sys
import time


def parsed_arguments():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1])
    parser.add_argument("library")
    parser.add_argument("measure", choices=["compile", "ragged", "sampling", "neighbours", "walks"])
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--allocator", choices=["tcmalloc", "glibc"], default="tcmalloc")
    return parser.parse_args()


def has_tcmalloc():
    return hasattr(ctypes.CDLL(None), "tc_version")


def prepare_process(arguments):
    """Starts the program again where the allocator or the number of threads of its libraries must be set beforehand."""
    own = dict(os.environ, OMP_NUM_THREADS=str(arguments.threads), MKL_NUM_THREADS=str(arguments.threads))
    library = ctypes.util.find_library("tcmalloc_minimal") or ctypes.util.find_library("tcmalloc")
    if arguments.allocator == "tcmalloc" and library and not has_tcmalloc():
        own["LD_PRELOAD"] = " ".join(filter(None, [library, own.get("LD_PRELOAD")]))
    if own != dict(os.environ) and "GEOSFT_BENCH_PREPARED" not in own:
        own["GEOSFT_BENCH_PREPARED"] = "1"
        os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], own)
    allowed = sorted(os.sched_getaffinity(0))
    if arguments.threads > len(allowed):
        sys.exit(f"--threads {arguments.threads}: this process may use {len(allowed)} processors")
    os.sched_setaffinity(0, allowed[:arguments.threads])
    return f"tcmalloc ({library})" if has_tcmalloc() else "glibc" if arguments.allocator == "glibc" else \
        "glibc, as no tcmalloc was found (Debian: libgoogle-perftools4), while our programs have it where it is"


ARGUMENTS = parsed_arguments()
ALLOCATOR = prepare_process(ARGUMENTS)

import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402

ITEMS, TOKENS, HEADS, CHANNELS = 4, 1024, 16, 16


def in_turns(title, baselines, rounds, keys=None):
    """Calls each function once unmeasured and then `rounds` times in turns; the first one is ours. `keys`: keys per query
    of each, where it is an attention."""
    best = {}
    for turn in range(rounds + 1):
        for name, call in baselines.items():
            wall, cpu = time.perf_counter(), time.process_time()
            call()
            taken = time.perf_counter() - wall, time.process_time() - cpu
            if turn:
                best[name] = tuple(map(min, best.get(name, taken), taken))
    print(title)
    ours = next(iter(best.values()))
    for name, (wall, cpu) in best.items():
        seen = f"   {keys[name]:7.1f} keys" if keys else ""
        print(f"  {name:36} {wall * 1e3:10.3f} ms ({cpu * 1e3:.3f} CPU)   ours/it {ours[0] / wall:.3f}"
              f" ({ours[1] / cpu:.3f} CPU){seen}", flush=True)


def finished(score, v, leak, mask=None):
    """The attention that sums of maxima give. The mask is 0 for keys and leaks of padding, else 1."""
    p, leak = (score / math.sqrt(CHANNELS)).relu(), F.softplus(leak)
    if mask is not None:
        p, leak = p * mask[:, None, None, :], leak * mask[:, None, :]
    return p @ v / (p.sum(-1) + leak.sum(-1, keepdim=True) + 1e-6)[..., None]


def broadcast(q, k):
    return torch.maximum(q[:, :, :, None, :], k[:, :, None, :, :]).sum(-1)


def channel_by_channel(q, k):
    columns = k.transpose(-1, -2)
    return sum(torch.maximum(q[..., t, None], columns[..., t, None, :]) for t in range(CHANNELS))


def channel_major(q, k):
    """Sums over an outer channel, keys innermost."""
    rows, columns = (x.transpose(-1, -2).contiguous() for x in (q, k))
    return torch.maximum(rows[..., :, None], columns[..., None, :]).sum(2)


def absolute_difference(q, k):
    """max(a, b) = (a + b + |a - b|) / 2, with an outer channel."""
    rows, columns = (x.transpose(-1, -2).contiguous() for x in (q, k))
    return 0.5 * (q.sum(-1)[..., :, None] + k.sum(-1)[..., None, :]
                  + (rows[..., :, None] - columns[..., None, :]).abs().sum(2))


def cdist(q, k):
    return 0.5 * (q.sum(-1)[..., :, None] + k.sum(-1)[..., None, :] + torch.cdist(q, k, p=1))


def attention_by(score):
    def attention(q, k, v, leak, mask=None):
        return finished(score(q, k), v, leak, mask)

    return attention


def in_chunks(attention, size=128):
    """The queries in chunks whose scores stay in the cache."""
    def chunked(q, k, v, leak, mask=None):
        return torch.cat([attention(rows, k, v, leak, mask) for rows in q.split(size, 2)], 2)

    return chunked


def softmax(q, k, v, leak, mask=None):
    return F.scaled_dot_product_attention(q, k, v, None if mask is None else mask[:, None, None, :] > 0)


def compiled(attention, mode=None):
    """For the shapes that it is called with, and an error where it would go on without having compiled."""
    return torch.compile(attention, fullgraph=True, dynamic=False, mode=mode)


def formulations():
    """The baselines of maxout attention, and softmax attention: other mathematics of the same sizes."""
    major = attention_by(channel_major)
    return {"compile, broadcasting": compiled(attention_by(broadcast)),
            "compile, channel by channel": compiled(attention_by(channel_by_channel)),
            "compile, channel outermost": compiled(major),
            "compile, the same, max-autotune": compiled(major, "max-autotune-no-cudagraphs"),
            "compile, |q - k|": compiled(attention_by(absolute_difference)),
            "compile, chunks of 128 queries": compiled(in_chunks(major)),
            "cdist": attention_by(cdist),
            "softmax attention": softmax}


def packed(x):
    """[B, h, n, ...] to [B n, h, ...]."""
    return x.transpose(1, 2).flatten(0, 1).contiguous()


def forward(function, x):
    def call():
        with torch.no_grad():
            function(*x[:-1])

    return call


def both(function, x):
    """Forward and backward, for the gradients of q, k, v and, where it has one, leak. x ends with the result's gradient."""
    *x, grad_output = [tensor.clone() for tensor in x]
    used = [tensor.requires_grad_() for tensor in x[:3 if function is softmax else 4]]

    def call():
        out = function(*x)
        return [out.detach(), *torch.autograd.grad(out, used, grad_output)]

    return call


def measure_attention(title, baselines, inputs, rows, ours, own_inputs, keys, rounds):
    """`inputs`, those of the baselines, and `own_inputs` end with the gradient of the result; rows(x, what) brings a tensor
    of the baselines into our layout. Baselines must compute what ours computes, but for softmax attention."""
    own_results, baselines = both(ours, own_inputs)(), dict(baselines)
    for name, function in list(baselines.items()):
        if function is softmax:
            continue
        try:
            results = both(function, inputs)()
        except torch._inductor.exc.InductorError as error:
            print(f"left out: {name}: torch.compile cannot compile it: {str(error).splitlines()[0]}")
            del baselines[name]
            continue
        for what, theirs, own in zip(("result", "q", "k", "v", "leak"), results, own_results, strict=True):
            difference = (rows(theirs, what) - own).norm() / own.norm()
            # Some of the random numbers are equal: the maximum's gradient goes to the query in ours, to both in PyTorch.
            if not difference < 1e-3:
                sys.exit(f"{name} computes something else: {what} differs by {difference:.1e}")
    for what, make in (("forward", forward), ("forward + backward", both)):
        calls = {"geosft": make(ours, own_inputs)} | {name: make(f, inputs) for name, f in baselines.items()}
        in_turns(f"{title}, {what}", calls, rounds, keys)


def measure_compile(rounds):
    for keys in (256, 32):
        torch._dynamo.reset()
        generator = torch.Generator().manual_seed(keys)
        shapes = [(TOKENS, CHANNELS), (keys, CHANNELS), (keys, CHANNELS), (keys,), (TOKENS, CHANNELS)]
        inputs = [torch.randn(ITEMS, HEADS, *shape, generator=generator) for shape in shapes]
        q_ptr, k_ptr = torch.arange(ITEMS + 1) * TOKENS, torch.arange(ITEMS + 1) * keys

        def ours(*x):
            return torch.ops.geosft.maxout_attention(*x, None, None, q_ptr, k_ptr)

        baselines = formulations()
        measure_attention(f"{ITEMS} items of {TOKENS} queries and {keys} keys", baselines, inputs,
                          lambda x, what: packed(x), ours, [packed(x) for x in inputs],
                          dict.fromkeys(["geosft", *baselines], keys), rounds)


def measure_ragged(rounds):
    """16 items of random sizes up to 1,024 queries, with a quarter as many keys."""
    generator = torch.Generator().manual_seed(16)
    counts = torch.randint(16, 257, (16,), generator=generator) * 4
    counts[0], key_counts = 1024, counts // 4
    key_counts[0] = 256
    longest, max_keys = int(counts.max()), int(key_counts.max())
    q_ptr, k_ptr = (torch.cat([torch.zeros(1, dtype=torch.long), x.cumsum(0)]) for x in (counts, key_counts))
    shapes = ((q_ptr, (CHANNELS,)), (k_ptr, (CHANNELS,)), (k_ptr, (CHANNELS,)), (k_ptr, ()), (q_ptr, (CHANNELS,)))
    own_inputs = [torch.randn(int(ptr[-1]), HEADS, *shape, generator=generator) for ptr, shape in shapes]
    known_rows, known_keys = (torch.arange(size) < x[:, None] for size, x in ((longest, counts), (max_keys, key_counts)))

    def padded(x, known):
        out = x.new_zeros(*known.shape, *x.shape[1:])
        out[known] = x
        return out.transpose(1, 2).contiguous()

    # The padded batch is there already, as in a model that computes with padded batches throughout.
    q, *keyed, grad_output = own_inputs
    inputs = [padded(q, known_rows), *(padded(x, known_keys) for x in keyed), known_keys.float(), padded(grad_output, known_rows)]

    def rows(x, what):
        return x.transpose(1, 2)[known_rows if what in ("result", "q") else known_keys]

    def ours(*x):
        return torch.ops.geosft.maxout_attention(*x, None, None, q_ptr, k_ptr)

    def by_item(function):
        def attention(*x):
            parts = [part.split(size.tolist()) for part, size in zip(x, (counts, key_counts, key_counts, key_counts))]
            items = [function(*(part.transpose(0, 1)[None] for part in item)) for item in zip(*parts)]
            return torch.cat([item[0].transpose(0, 1) for item in items])

        return attention

    names = ("compile, channel outermost", "compile, |q - k|", "cdist", "softmax attention")
    baselines = {f"padded: {name}": function for name, function in formulations().items() if name in names}
    seen = float((counts * key_counts).sum() / counts.sum())
    title = f"{len(counts)} items of {int(counts.min())} to {longest} queries and {int(key_counts.min())} to {max_keys} keys"
    measure_attention(title, baselines, inputs, rows, ours, own_inputs,
                      {"geosft": seen} | dict.fromkeys(baselines, max_keys), rounds)
    looped = {"item by item: cdist": by_item(attention_by(cdist))}
    measure_attention(title, looped, own_inputs, lambda x, what: x, ours, own_inputs,
                      dict.fromkeys(["geosft", *looped], seen), rounds)


def measure_sampling(rounds):
    import fpsample
    for count, chosen, height in ((1024, 256, 5), (4096, 1024, 5), (100_000, 1024, 7)):
        generator = torch.Generator().manual_seed(count)
        clouds = {"cube": torch.rand(count, 3, generator=generator),
                  "sphere": F.normalize(torch.randn(count, 3, generator=generator))}
        for name, points in clouds.items():
            array = points.numpy()
            in_turns(f"{count} points of a {name}, {chosen} chosen",
                     {"geosft": lambda: torch.ops.geosft.farthest_point_sampling(points, chosen),
                      "fpsample, k-d line": lambda: fpsample.bucket_fps_kdline_sampling(array, chosen, h=height, start_idx=0)},
                     rounds)


def measure_neighbours(rounds):
    import open3d.core as o3c
    from scipy.spatial import cKDTree
    points = torch.rand(100_000, 3, generator=torch.Generator().manual_seed(1))
    array, tensor = points.numpy(), o3c.Tensor(points.numpy())

    def open3d():
        search = o3c.nns.NearestNeighborSearch(tensor)
        search.knn_index()
        return search.knn_search(tensor, 16)

    in_turns("16 neighbours of 100,000 points",
             {"geosft": lambda: torch.ops.geosft.knn(points, points, 16), "Open3D": open3d,
              "SciPy": lambda: cKDTree(array).query(array, 16)}, rounds)


def random_graph(nodes, items):
    """Edges of undirected graphs without loops and duplicates, four a node on average, both directions, and rowptr."""
    generator = torch.Generator().manual_seed(nodes)
    size = nodes // items
    ends = torch.randint(size, (2, 2 * nodes), generator=generator)
    ends += torch.arange(items).repeat_interleave(2 * size) * size
    ends = ends[:, ends[0] != ends[1]]
    both = torch.cat([ends, ends.flip(0)], 1)
    source, target = (key := torch.unique(both[0] * nodes + both[1])) // nodes, key % nodes
    rowptr = torch.cat([torch.zeros(1, dtype=torch.long), torch.bincount(source, minlength=nodes).cumsum(0)])
    return source, target, rowptr


def scipy_walks(adjacency, item, steps):
    """diag(S^t), S = D^-1/2 A D^-1/2: products of powers up to half the steps, dense columns of 256 sources at a time over
    the rows of their items, of `item` nodes each."""
    import numpy
    from scipy import sparse
    nodes = adjacency.shape[0]
    root = numpy.sqrt(1 / numpy.maximum(numpy.asarray(adjacency.sum(1)).ravel(), 1))
    walk = (sparse.diags(root) @ adjacency @ sparse.diags(root)).tocsr().astype(numpy.float32)
    out = numpy.empty((nodes, steps), dtype=numpy.float32)
    for begin in range(0, nodes, 256):
        end = min(begin + 256, nodes)
        low, high = begin // item * item, -(-end // item) * item
        part = walk if high - low == nodes else walk[low:high, low:high]
        before = numpy.eye(high - low, end - begin, low - begin, dtype=numpy.float32)
        for step in range(1, steps // 2 + 1):
            power = part @ before
            out[begin:end, 2 * step - 2] = numpy.einsum("ij,ij->j", power, before)
            out[begin:end, 2 * step - 1] = numpy.einsum("ij,ij->j", power, power)
            before = power
    return out


def geometric_walks(source, target, nodes, items, steps):
    """AddRandomWalkPE of each graph, as it is meant: small ones are dense matrices to it, large ones sparse products."""
    from torch_geometric.data import Data
    from torch_geometric.transforms import AddRandomWalkPE
    transform, size, graphs = AddRandomWalkPE(steps, attr_name="pe"), nodes // items, []
    ends = torch.searchsorted(source, torch.arange(items + 1) * size).tolist()
    for item, (begin, end) in enumerate(zip(ends, ends[1:])):
        edges = torch.stack([source[begin:end], target[begin:end]]) - item * size
        graphs.append(Data(edge_index=edges, num_nodes=size))
    return lambda: torch.cat([transform(graph).pe for graph in graphs])


def measure_walks(rounds):
    import numpy
    from scipy import sparse
    steps = 20
    for title, nodes, items in (("10,000 nodes of degree 4", 10_000, 1), ("5,000 nodes of degree 4", 5_000, 1),
                                ("1,000 graphs of 150 nodes", 150_000, 1000)):
        source, target, rowptr = random_graph(nodes, items)
        ones = numpy.ones(len(source), dtype=numpy.float32)
        adjacency = sparse.csr_matrix((ones, (source.numpy(), target.numpy())), shape=(nodes, nodes))

        def ours():
            return torch.ops.geosft.random_walk_pe(rowptr, target, steps)

        def products():
            return torch.from_numpy(scipy_walks(adjacency, nodes // items, steps))

        baselines = {"geosft": ours, "SciPy, blocks of 256": products}
        # The products of a graph become dense: 10,000 nodes take more than 23 GB.
        if importlib.util.find_spec("torch_geometric") and nodes // items < 10_000:
            baselines["torch-geometric"] = geometric_walks(source, target, nodes, items, steps)
        for name in baselines.keys() - {"geosft"}:
            torch.testing.assert_close(baselines[name](), ours(), rtol=1e-4, atol=1e-5)
        in_turns(f"{title}, {steps} steps", baselines, rounds)


def main():
    measures = {"compile": measure_compile, "ragged": measure_ragged, "sampling": measure_sampling,
                "neighbours": measure_neighbours, "walks": measure_walks}
    torch.set_num_threads(ARGUMENTS.threads)
    torch.ops.load_library(ARGUMENTS.library)
    torch._dynamo.config.recompile_limit = 64  # the formulations share code
    print(f"PyTorch {torch.__version__}, {ARGUMENTS.threads} threads, vectors of {torch.backends.cpu.get_cpu_capability()};"
          f" allocator of all: {ALLOCATOR}")
    measures[ARGUMENTS.measure](ARGUMENTS.rounds)


if __name__ == "__main__":
    main()
