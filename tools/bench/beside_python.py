# SPDX-License-Identifier: Apache-2.0
"""Times operators of libgeosft_ops.so beside what Python offers for the same work, in one process and in turns.

usage: OMP_NUM_THREADS=1 taskset -c 0 python3 tools/bench/beside_python.py LIBRARY compile|sampling|neighbours|walks [ROUNDS]

  compile     maxout attention beside torch.compile, torch.cdist and softmax attention (needs a C++ compiler)
  sampling    farthest point sampling beside fpsample's bucketed k-d tree
  neighbours  k nearest neighbours beside Open3D and SciPy, their trees included
  walks       random_walk_pe, 20 steps, beside AddRandomWalkPE of torch-geometric, if it is installed, and SciPy's sparse
              products with dense blocks of 256 columns, half the steps

Prints the least wall time of each and our share of it, processor time in brackets. One core for all: some of the others
bring threads of their own, so the process must be bound to one (taskset).
"""

import importlib.util
import math
import os
import sys
import time

sys.setdlopenflags(os.RTLD_LAZY)  # libraries of CUDA may be absent
import torch
import torch.nn.functional as F

ITEMS, TOKENS, HEADS, CHANNELS = 4, 1024, 16, 16


def in_turns(title, contenders, rounds):
    """Calls every contender once unmeasured and then `rounds` times in turns; the first one is ours."""
    best = {}
    for turn in range(rounds + 1):
        for name, call in contenders.items():
            wall, cpu = time.perf_counter(), time.process_time()
            call()
            taken = time.perf_counter() - wall, time.process_time() - cpu
            if turn:
                best[name] = tuple(map(min, best.get(name, taken), taken))
    print(title)
    ours = next(iter(best.values()))
    for name, (wall, cpu) in best.items():
        print(f"  {name:24} {wall * 1e3:10.3f} ms ({cpu * 1e3:.3f})   ours/it {ours[0] / wall:.3f}", flush=True)


def finished(score, v, leak):
    p = (score / math.sqrt(CHANNELS)).relu()
    return p @ v / (p.sum(-1) + F.softplus(leak).sum(-1, keepdim=True) + 1e-6)[..., None]


def broadcast(q, k, v, leak):
    return finished(torch.maximum(q[:, :, :, None, :], k[:, :, None, :, :]).sum(-1), v, leak)


def channel_by_channel(q, k, v, leak):
    columns = k.transpose(-1, -2)
    return finished(sum(torch.maximum(q[..., t, None], columns[..., t, None, :]) for t in range(CHANNELS)), v, leak)


def channel_major(q, k, v, leak):
    """Sums over an outer channel, keys innermost: what a compiler vectorises best."""
    rows, columns = (x.transpose(-1, -2).contiguous() for x in (q, k))
    return finished(torch.maximum(rows[..., :, None], columns[..., None, :]).sum(2), v, leak)


def cdist(q, k, v, leak):
    return finished(0.5 * (q.sum(-1)[..., :, None] + k.sum(-1)[..., None, :] + torch.cdist(q, k, p=1)), v, leak)


def softmax(q, k, v, leak):
    return F.scaled_dot_product_attention(q, k, v)


def packed(x):
    """[B, h, n, ...] to [B n, h, ...]."""
    return x.transpose(1, 2).flatten(0, 1).contiguous()


def measure_compile(rounds):
    composites = {"torch.compile": torch.compile(broadcast), "torch.compile, channels": torch.compile(channel_by_channel),
                  "torch.compile, major": torch.compile(channel_major), "cdist": cdist, "softmax attention": softmax}
    for keys in (256, 32):
        generator = torch.Generator().manual_seed(keys)
        shapes = [(TOKENS, CHANNELS), (keys, CHANNELS), (keys, CHANNELS), (keys,)]
        inputs = [torch.randn(ITEMS, HEADS, *shape, generator=generator) for shape in shapes]
        rows = [packed(x) for x in inputs]
        q_ptr, k_ptr = torch.arange(ITEMS + 1) * TOKENS, torch.arange(ITEMS + 1) * keys

        def ours(*x):
            return torch.ops.geosft.maxout_attention(*x, None, None, q_ptr, k_ptr)

        for name in composites.keys() - {"softmax attention"}:
            torch.testing.assert_close(packed(composites[name](*inputs)), ours(*rows), rtol=1e-4, atol=1e-5)

        def forward(function, x):
            return lambda: function(*x)

        def both(function, x):
            x = [tensor.clone().requires_grad_() for tensor in x]
            used = x[:3] if function is softmax else x
            return lambda: torch.autograd.grad(function(*x).square().sum(), used)

        for make in (forward, both):
            contenders = {"geosft": make(ours, rows)} | {n: make(f, inputs) for n, f in composites.items()}
            in_turns(f"{keys} keys, {'forward' if make is forward else 'forward + backward'}", contenders, rounds)


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

        contenders = {"geosft": ours, "SciPy, blocks of 256": products}
        # The products of a graph become dense: 10,000 nodes take more than 23 GB.
        if importlib.util.find_spec("torch_geometric") and nodes // items < 10_000:
            contenders["torch-geometric"] = geometric_walks(source, target, nodes, items, steps)
        for name in contenders.keys() - {"geosft"}:
            torch.testing.assert_close(contenders[name](), ours(), rtol=1e-4, atol=1e-5)
        in_turns(f"{title}, {steps} steps", contenders, rounds)


def main(arguments):
    measures = {"compile": measure_compile, "sampling": measure_sampling, "neighbours": measure_neighbours,
                "walks": measure_walks}
    if len(arguments) not in (3, 4) or arguments[2] not in measures:
        print(__doc__, file=sys.stderr)
        return 2
    torch.set_num_threads(1)
    torch.ops.load_library(arguments[1])
    measures[arguments[2]](int(arguments[3]) if len(arguments) == 4 else 10)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
